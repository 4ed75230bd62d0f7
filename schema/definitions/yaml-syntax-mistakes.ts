import { type CST, type Document, type ErrorCode, isCollection, isScalar, visit } from 'yaml';

/** @limit Deepest nesting of collections in a definition file: deeper input overflows the stack of a YAML parser. */
export const definitionDepthMax = 64;

interface Survey {
  /** Offset of the first collection that nests too deep. */
  readonly tooDeepAt?: number;
  /** Anchors and tags, in the order of the text. */
  readonly properties: readonly CST.SourceToken[];
}

/** A syntax error with its offsets in the text. */
export interface SyntaxMistake {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint: string;
}

/** Converts the parser's errors. Each points at what the author got wrong, not at where the parser noticed it. */
export function findSyntaxMistakes(text: string, document: Document.Parsed): SyntaxMistake[] {
  const conflict = /^<{7}(?: .*)?$/m.exec(text);
  if (conflict) {
    const [start, end] = [conflict.index, conflict.index + conflict[0].length];
    return [{ start, end, message: 'unresolved merge conflict', hint: conflictHint }];
  }
  const colons = findContinuations(document);
  return document.errors.flatMap(error => {
    const colon = colons.get(error.pos[0]);
    if (colon !== undefined)
      return error.code === 'MULTILINE_IMPLICIT_KEY' ? toContinuation(text, colon) : [];
    const hint = openingHints[error.code];
    const opening = hint === undefined ? undefined : findOpening(document, error.pos[0]);
    const template = findTemplate(text, opening ?? error.pos[0]);
    if (template !== undefined) return { start: template, end: template + 2, ...templateMistake };
    if (hint === undefined || opening === undefined) return toMistake(error);
    const message = `the ${text.charAt(opening)} is not closed`;
    const isCommented = /^[[{](?:.*?[\s,[{])?#/.test(text.slice(opening));
    return { start: opening, end: opening + 1, message, hint: isCommented ? commentHint : hint };
  });
}

/**
 * Finds keys that are indented further than the key above, so that the parser takes their lines for the end of its
 * value. The parser reports two errors at the start of that value. Returns the offset of each such key's colon by that
 * start.
 */
function findContinuations({ errors }: Document.Parsed): ReadonlyMap<number, number> {
  const starts = new Set(errors.flatMap(({ code, pos }) => (code === 'BLOCK_AS_IMPLICIT_KEY' ? pos[0] : [])));
  const multiline = errors.filter(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && starts.has(pos[0]));
  return new Map(multiline.map(({ pos }) => pos));
}

function toContinuation(text: string, colon: number): SyntaxMistake {
  const line = text.lastIndexOf('\n', colon) + 1;
  const start = line + text.slice(line, colon).search(/\S|$/);
  return {
    start,
    end: colon,
    message: 'this line continues the value above, because it is indented further than its key',
    hint: 'give all keys of one mapping the same indentation; write a text of several lines after a |',
  };
}

function toMistake({ code, message, pos: [start, end] }: Document.Parsed['errors'][number]): SyntaxMistake {
  return { start, end, message: messages[code] ?? message, hint: hints[code] ?? otherHint };
}

const conflictHint = 'choose what to keep, and remove the lines with <<<<<<<, ======= and >>>>>>>';

const otherHint = 'check the quotes, brackets and indentation on this line and the one before';

const commentHint =
  'put text with a # in quotes, because the # starts a comment, which hides the rest of the line';

/** The mistake of an unquoted `{{ … }}`: YAML reads it as a mapping whose key is a mapping. */
export const templateMistake = {
  message: 'a value that starts with {{ is a mapping in YAML, not a text',
  hint: 'put the whole text in quotes',
} as const;

/** The offset of an unquoted `{{` that starts a value in the line of an error. */
function findTemplate(text: string, offset: number): number | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const [line = ''] = text.slice(start).split('\n', 1);
  const found = /^(?:[^#"']*?[:[,-] *)?\$?(?=\{\{)/.exec(line);
  return found ? start + found[0].length : undefined;
}

type ByCode = Readonly<Partial<Record<ErrorCode, string>>>;

/** Hints for an unclosed quote or bracket. */
const openingHints: ByCode = {
  MISSING_CHAR: 'close it, or put text that starts with this character in quotes',
  BAD_INDENT: 'close it, and indent each of its lines further than its key',
};

// Replace messages in which the parser uses terms of its grammar.
const messages: ByCode = {
  BLOCK_AS_IMPLICIT_KEY: 'a mapping cannot start in the middle of a line, after a colon and a space',
  MULTILINE_IMPLICIT_KEY: 'expected a line of the form key: value',
};

const hints: ByCode = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_INDENT: 'give all keys of one mapping the same indentation',
  BAD_SCALAR_START: 'put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'put a value that contains a colon in quotes, or indent the next key like this one',
  MULTILINE_IMPLICIT_KEY: 'write a colon and a space after the key, and check the indentation',
  BAD_DQ_ESCAPE: 'write the backslash twice, or put the value in single quotes',
};

/** Offset of the quote or bracket that opens the innermost unclosed node before an offset. */
function findOpening(document: Document.Parsed, offset: number): number | undefined {
  let opening: number | undefined;
  visit(document, {
    Node: (_, node) => {
      const isOpened = isCollection(node) ? node.flow : isScalar(node) && node.type?.startsWith('QUOTE');
      if (isOpened && node.range && node.range[0] < offset && node.range[1] >= offset)
        opening = node.range[0];
    },
  });
  return opening;
}

/** Checks tokens before they are composed. It loops with its own stack, because the nesting is still unbounded. */
export function surveyTokens(tokens: readonly CST.Token[]): Survey {
  const properties: CST.SourceToken[] = [];
  const collect = (between: readonly CST.SourceToken[] = []) => {
    for (const token of between) if (token.type === 'anchor' || token.type === 'tag') properties.push(token);
  };
  const stack: { token: CST.Token; depth: number }[] = tokens.map(token => ({ token, depth: 0 }));
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { token, depth } = entry;
    if (token.type === 'document') {
      collect(token.start);
      if (token.value) stack.push({ token: token.value, depth });
    }
    if (!('items' in token)) continue;
    if (depth >= definitionDepthMax) return { tooDeepAt: token.offset, properties };
    for (const { start, key, sep, value } of token.items) {
      collect(start);
      collect(sep);
      if (key) stack.push({ token: key, depth: depth + 1 });
      if (value) stack.push({ token: value, depth: depth + 1 });
    }
  }
  return { properties: properties.sort((a, b) => a.offset - b.offset) };
}

import { type Document, type ErrorCode, isCollection, isScalar, visit } from 'yaml';

/** A mistake of syntax by its offsets in the text. */
export interface SyntaxProblem {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint: string;
}

/** What the parser has against a text, placed where its author went wrong rather than where the parser noticed. */
export function syntaxProblems(text: string, document: Document.Parsed): SyntaxProblem[] {
  const conflict = /^<{7}(?: .*)?$/m.exec(text);
  if (conflict) {
    const [start, end] = [conflict.index, conflict.index + conflict[0].length];
    return [{ start, end, message: 'a merge conflict begins here', hint: conflictHint }];
  }
  return document.errors.map(error => {
    const hint = openingHints[error.code];
    const opening = hint === undefined ? undefined : openingOf(document, error.pos[0]);
    if (hint === undefined || opening === undefined) return plain(error);
    const message = `the ${text.charAt(opening)} is not closed`;
    return { start: opening, end: opening + 1, message, hint };
  });
}

function plain({ code, message, pos: [start, end] }: Document.Parsed['errors'][number]): SyntaxProblem {
  return { start, end, message: messages[code] ?? message, hint: hints[code] ?? otherHint };
}

const conflictHint = 'choose what stays, and remove the lines with <<<<<<<, ======= and >>>>>>>';

const otherHint = 'check the quotes, the brackets and the indentation here and on the line before';

type ByCode = Readonly<Partial<Record<ErrorCode, string>>>;

/** What ends too early, or not at all. */
const openingHints: ByCode = {
  MISSING_CHAR: 'close it, or put a text that is to begin with this character in quotes',
  BAD_INDENT: 'close it, and indent each of its lines further than its key',
};

// Where the parser's own words are about its grammar.
const messages: ByCode = {
  BLOCK_AS_IMPLICIT_KEY: 'a colon and a space begin a mapping in the middle of a line',
  MULTILINE_IMPLICIT_KEY: 'a line that is no key: value stands among keys',
};

const hints: ByCode = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_INDENT: 'indent the keys of one mapping alike',
  BAD_SCALAR_START: 'put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'put a value with a colon in quotes; a key on the next line is indented like this one',
  MULTILINE_IMPLICIT_KEY: 'write a colon and a space after the key, and check the indentation',
  BAD_DQ_ESCAPE: 'write the backslash twice, or put the value in single quotes',
};

/** Of what is not closed where it should be: where it was opened. */
function openingOf(document: Document.Parsed, offset: number): number | undefined {
  let opening: number | undefined;
  visit(document, {
    Node: (_, node) => {
      const isOpened = isCollection(node) ? node.flow : isScalar(node) && node.type?.startsWith('QUOTE');
      if (isOpened && node.range && node.range[0] < offset && node.range[2] >= offset)
        opening = node.range[0];
    },
  });
  return opening;
}

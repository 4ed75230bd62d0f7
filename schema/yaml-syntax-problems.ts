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
  return document.errors.map(({ code, message, pos }) => {
    const opening = isOpen.has(code) ? openingOf(document, pos[0]) : undefined;
    const [start, end] = opening === undefined ? pos : [opening, opening + 1];
    return { start, end, message: printed(message), hint: hints[code] ?? otherHint };
  });
}

const conflictHint = 'choose what stays, and remove the lines with <<<<<<<, ======= and >>>>>>>';

const otherHint = 'check the quotes, the brackets and the indentation here and on the line before';

const hints: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'indent with spaces',
  MISSING_CHAR: 'close it, or put a text that is to begin with this character in quotes',
  BAD_INDENT: 'close what is opened here, and indent what belongs to it',
  BAD_SCALAR_START: 'put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'put a value with a colon in quotes; if the next line has a key, indent it like this line',
  MULTILINE_IMPLICIT_KEY: 'write a colon and a space after the key, and check the indentation',
  BAD_DQ_ESCAPE: 'write the backslash twice, or put the value in single quotes',
};

const isOpen: ReadonlySet<ErrorCode> = new Set(['MISSING_CHAR', 'BAD_INDENT']);

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

/** The parser puts the character that is missing before the word, in its own quotes. */
function printed(message: string): string {
  return message.replace(/^Missing closing (["'])quote$/, 'the quote $1 is not closed');
}

import { isScalar, isSeq, parseDocument } from 'yaml';

/** The text of a file that covers the directory now, or whether it did already; `unknown`: it has no list that `init` knows. */
export type Covered = { readonly text: string } | 'already' | 'unknown';

export type CoverDirectory = typeof coverDirectory;

/**
 * Adds a definitions directory to the list, at this path of a YAML file, of those for which CI validates and plans. Only
 * one line is added; the rest of the file may have been changed by hand, and stays as it is.
 */
export function coverDirectory(text: string, path: readonly (string | number)[], directory: string): Covered {
  const document = parseDocument(text);
  const list = document.errors.length === 0 ? document.getIn(path) : undefined;
  if (!isSeq(list) || list.flow || !list.items.every(isScalar)) return 'unknown';
  if (list.items.some(({ value }) => String(value) === directory)) return 'already';
  const [start = 0, end = 0] = list.items.at(-1)?.range ?? [];
  const dash = text.slice(text.lastIndexOf('\n', start) + 1, start);
  if (!/^ *- +$/.test(dash)) return 'unknown';
  const lineEnd = text.indexOf('\n', end);
  const at = lineEnd < 0 ? text.length : lineEnd;
  return { text: `${text.slice(0, at)}\n${dash}${quoteYaml(directory)}${text.slice(at)}` };
}

/** Quotes a YAML scalar unless it certainly needs no quotes. It uses the quotes of JSON, which YAML also reads. */
export function quoteYaml(text: string): string {
  return /^[\w][\w ./@>|-]*$/.test(text) ? text : JSON.stringify(text);
}

import countColumns from 'fast-string-width';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { maskLine } from '../../schema/text/credentials.ts';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';
import { completeCommands } from './own-commands.ts';

/** Characters of a line that are shown. A mistake further to the right gets a window around it. */
const frameWidth = 120;

/** Each diagnostic with its place, its line of the file, carets and the hint. */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: ReadonlyMap<string, string>,
): string {
  const findLine = indexLines(texts);
  return diagnostics.map(diagnostic => renderDiagnostic(diagnostic, texts, findLine)).join('');
}

function renderDiagnostic(
  { code, severity, message, file, range, hint }: Diagnostic,
  texts: ReadonlyMap<string, string>,
  findLine: FindLine,
): string {
  const place = range ? `${file}:${range.start.line}:${range.start.column}` : file;
  const label = severity === 'error' ? colours.red('error') : colours.yellow('warning');
  const lines = [
    `${colours.bold(printable(place))}: ${label}: ${printable(message)} ${colours.dim(printable(`[${code}]`))}`,
  ];
  if (range && texts.has(file)) lines.push(...renderCodeFrame(range, findLine(file, range.start.line)));
  if (hint !== undefined) lines.push(`  ${colours.cyan('hint:')} ${printable(completeCommands(hint))}`);
  return `${lines.join('\n')}\n`;
}

function renderCodeFrame({ start, end }: NonNullable<Diagnostic['range']>, line: string): string[] {
  const lastColumn = end.line === start.line ? end.column : line.length + 1;
  const from = Math.max(0, start.column - 1 - frameWidth / 2);
  const shown = line.slice(from, from + frameWidth);
  const lead = countShown(line.slice(from, start.column - 1));
  const marked = Math.max(
    1,
    countShown(line.slice(start.column - 1, Math.min(lastColumn - 1, from + frameWidth))),
  );
  const number = String(start.line);
  return [
    `  ${colours.dim(`${number} |`)} ${printable(shown)}`,
    `  ${colours.dim(`${' '.repeat(number.length)} |`)} ${' '.repeat(lead)}${colours.red('^'.repeat(marked))}`,
  ];
}

/** Counts the terminal columns of a text as it is shown. */
function countShown(text: string): number {
  return countColumns(printable(text));
}

export type FindLine = (file: string, line: number) => string;

/** Finds lines of texts, counted from 1, without credentials. Each text is split once, because a file may have thousands of mistakes. */
export function indexLines(texts: ReadonlyMap<string, string>): FindLine {
  const split = new Map<string, readonly string[]>();
  return (file, line) => {
    const lines = split.get(file) ?? (texts.get(file) ?? '').split(/\r?\n/);
    split.set(file, lines);
    return maskLine(lines[line - 1] ?? '');
  };
}

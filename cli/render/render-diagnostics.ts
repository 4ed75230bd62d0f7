import type { Diagnostic } from '../../schema/diagnostics.ts';
import { colours } from './colours.ts';
import { type LineAt, linesOf } from './lines.ts';
import { printable } from './printable.ts';

// A line is shown as far as a terminal is wide; a mistake further right gets a window around it.
const frameWidth = 120;

/** Each diagnostic with its place, the line it stands in, carets and the hint. */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: ReadonlyMap<string, string>,
): string {
  const lineAt = linesOf(texts);
  return diagnostics.map(diagnostic => renderDiagnostic(diagnostic, texts, lineAt)).join('');
}

function renderDiagnostic(
  { code, severity, message, file, range, hint }: Diagnostic,
  texts: ReadonlyMap<string, string>,
  lineAt: LineAt,
): string {
  const place = range ? `${file}:${range.start.line}:${range.start.column}` : file;
  const label = severity === 'error' ? colours.red('error') : colours.yellow('warning');
  const lines = [
    `${colours.bold(printable(place))}: ${label}: ${printable(message)} ${colours.dim(`[${code}]`)}`,
  ];
  if (range && texts.has(file)) lines.push(...codeFrame(range, lineAt(file, range.start.line)));
  if (hint !== undefined) lines.push(`  ${colours.cyan('hint:')} ${printable(hint)}`);
  return `${lines.join('\n')}\n`;
}

function codeFrame({ start, end }: NonNullable<Diagnostic['range']>, line: string): string[] {
  const lastColumn = end.line === start.line ? end.column : line.length + 1;
  const from = Math.max(0, start.column - 1 - frameWidth / 2);
  const shown = line.slice(from, from + frameWidth);
  const lead = widthOf(line.slice(from, start.column - 1));
  const marked = Math.max(
    1,
    widthOf(line.slice(start.column - 1, Math.min(lastColumn - 1, from + frameWidth))),
  );
  const number = String(start.line);
  return [
    `  ${colours.dim(`${number} |`)} ${printable(shown)}`,
    `  ${colours.dim(`${' '.repeat(number.length)} |`)} ${' '.repeat(lead)}${colours.red('^'.repeat(marked))}`,
  ];
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const combining = /[\p{Mark}\u200b-\u200d]/u;

/** In columns of a terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of printable(text)) {
    if (!combining.test(character)) width += wide.test(character) ? 2 : 1;
  }
  return width;
}

import type { CopiedPart } from '../../operations/stores/copy-store.ts';
import { renderTable } from './render-table.ts';

/** Characters of a digest that people compare; JSON has all of them. */
const digestShown = 16;

/** Renders the parts of a copy, with the counts and digests of both sides. */
export function renderParts(parts: readonly CopiedPart[]): string {
  const rows = parts.map(({ part, from, to }) => [
    part,
    ...[String(from.count), from.digest.slice(0, digestShown)],
    ...[String(to.count), to.digest.slice(0, digestShown)],
  ]);
  return renderTable(['PART', 'FROM', 'SHA-256', 'TO', 'SHA-256'], rows);
}

export function renderDifference(parts: readonly CopiedPart[]): string {
  const other = parts.filter(({ from, to }) => from.count !== to.count || from.digest !== to.digest);
  return `These differ: ${other.map(({ part }) => part).join(', ')}.`;
}

/** Renders the note that unfinished runs are attempted again. It is empty if there are no such runs. */
export function renderRunning(runs: number): string {
  if (runs === 0) return '';
  return `${runs} runs were running when their daemon ended. The next daemon starts another attempt at them.\n`;
}

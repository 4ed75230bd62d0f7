import { diffArrays } from 'diff';
import { renderBlockLines, renderFlowValue, renderTextLines } from './block-lines.ts';
import type { FieldChange } from './plan-shapes.ts';

/** @limit Longest value that a change shows on the line of its path, in characters: two of them fit beside each other. */
const inlineCharsMax = 80;
/** @limit Most lines by which two texts differ before they are shown one after the other: the search takes the square of them. */
const editLinesMax = 300;
/** The unchanged lines that are shown around a changed one. */
const contextLines = 3;

export interface DiffLine {
  readonly mark: '+' | '-' | ' ';
  readonly text: string;
}

/** A change as people read it. Its lines contain text from definitions, which the caller escapes. */
export interface ShownChange {
  readonly mark: '+' | '-' | '~';
  readonly path: string;
  /** Whether each side is one short line. */
  readonly isInline: boolean;
  readonly lines: readonly DiffLine[];
}

/** Renders both sides of a change: short values on one line each, others as a line diff. Nothing is cut. */
export function showChange(change: FieldChange): ShownChange {
  const { path } = change;
  const removed = 'before' in change ? [change.before] : [];
  const added = 'after' in change ? [change.after] : [];
  const mark = removed.length === 0 ? '+' : added.length === 0 ? '-' : '~';
  const isInline = [...removed, ...added].every(isShort);
  if (isInline) {
    const lines = toLines(removed.map(renderFlowValue), added.map(renderFlowValue));
    return { mark, path, isInline, lines };
  }
  const render = [...removed, ...added].every(value => typeof value === 'string')
    ? renderTexts
    : renderBlocks;
  const [before, after] = render(removed, added);
  return { mark, path, isInline, lines: compareLines(before, after) };
}

/** Compares two texts line by line. Shows the differences, and some unchanged lines around them. */
export function compareLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  return shorten(diffLines(before, after));
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string' && value.includes('\n')) return false;
  return renderFlowValue(value).length <= inlineCharsMax;
}

type Sides = readonly [before: readonly string[], after: readonly string[]];

function renderBlocks(removed: readonly unknown[], added: readonly unknown[]): Sides {
  return [removed.flatMap(renderBlockLines), added.flatMap(renderBlockLines)];
}

/** Says which side has no line break at its end, if only one has. */
function renderTexts(removed: readonly unknown[], added: readonly unknown[]): Sides {
  const endsAlike = new Set([...removed, ...added].map(text => String(text).endsWith('\n'))).size === 1;
  const render = (text: unknown) => {
    const lines = renderTextLines(String(text));
    return endsAlike || String(text).endsWith('\n') ? lines : [...lines, '(no line break at the end)'];
  };
  return [removed.flatMap(render), added.flatMap(render)];
}

function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length === 0 || after.length === 0) return toLines(before, after);
  const parts = diffArrays([...before], [...after], { maxEditLength: editLinesMax });
  if (!parts) return toLines(before, after);
  const lines: DiffLine[] = [];
  let hunk: { removed: string[]; added: string[] } = { removed: [], added: [] };
  for (const part of parts) {
    if (part.removed) hunk.removed.push(...part.value);
    else if (part.added) hunk.added.push(...part.value);
    else {
      lines.push(...toLines(hunk.removed, hunk.added));
      hunk = { removed: [], added: [] };
      lines.push(...part.value.map(text => ({ mark: ' ' as const, text })));
    }
  }
  return [...lines, ...toLines(hunk.removed, hunk.added)];
}

/** Lists removed lines, then added ones. Reveals what differs where two of them would look the same. */
function toLines(removed: readonly string[], added: readonly string[]): readonly DiffLine[] {
  const [looksRemoved, looksAdded] = [removed.map(toLook), added.map(toLook)];
  const show = (mark: '-' | '+', texts: readonly string[], looks: readonly string[], others: Set<string>) =>
    texts.map((text, index) => ({ mark, text: others.has(looks[index] ?? '') ? reveal(text) : text }));
  return [
    ...show('-', removed, looksRemoved, new Set(looksAdded)),
    ...show('+', added, looksAdded, new Set(looksRemoved)),
  ];
}

/** Reduces a text to what a reader sees: without invisible characters and quotes, and with one form for each letter. */
function toLook(text: string): string {
  const isAscii = /^[\0-\x7f]*$/.test(text);
  const visible = isAscii
    ? text
    : text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.replaceAll('"', '').replaceAll(/\s+/g, ' ').trimEnd();
}

/** Writes everything but printable ASCII as escapes, and spaces at the end too. */
function reveal(text: string): string {
  return text
    .replaceAll(/[^\x20-\x7e]/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .replace(/ +$/, spaces => '\\u{20}'.repeat(spaces.length));
}

/** Leaves out unchanged lines that are far from a changed one, and says how many. */
function shorten(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isShown = new Set<number>();
  for (const [index, { mark }] of lines.entries()) {
    if (mark === ' ') continue;
    for (let near = index - contextLines; near <= index + contextLines; near++) isShown.add(near);
  }
  const shown: DiffLine[] = [];
  let omitted: DiffLine[] = [];
  const closeGap = () => {
    if (omitted.length > 1) shown.push({ mark: ' ', text: `… (${omitted.length} unchanged lines)` });
    else shown.push(...omitted);
    omitted = [];
  };
  for (const [index, line] of lines.entries()) {
    if (!isShown.has(index)) {
      omitted.push(line);
      continue;
    }
    closeGap();
    shown.push(line);
  }
  closeGap();
  return shown;
}

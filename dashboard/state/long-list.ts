import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ItemKind, ListItem } from './list-items.ts';

/** Lines that are rendered above and below what is in view: more than a turn of the wheel brings into view. */
const spareLines = 30;
/** The first and the last rendered line change in such steps, so that most scrolling renders nothing. */
const stepLines = 10;

/** Heights until they are measured, in CSS pixels. */
const guessedHeights: Readonly<Record<ItemKind, number>> = { row: 37, day: 31, fold: 31, gap: 41 };

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The lines of a list that are in the document, and how much room the others take. */
interface ListWindow<T> extends Range {
  /** The day of the first of them, if its line is not one of them. It is rendered above them, and sticks there. */
  readonly day: ListItem<T> | undefined;
  /** In CSS pixels. */
  readonly above: number;
  readonly below: number;
  /** Scrolls as far as it takes to see a line, and gives its link the focus. */
  readonly show: (key: string) => void;
}

/**
 * Chooses which lines of a long list are rendered: those in view of the browser's window, and some around them. It looks
 * only at where the list is on the screen, so any part of the page may scroll. All lines of a kind are equally high, as a
 * line of that kind is measured to be; lines have `data-kind` and `data-key`.
 */
export function useWindow<T>(
  items: readonly ListItem<T>[],
  list: RefObject<HTMLElement | null>,
): ListWindow<T> {
  const [heights, setHeights] = useState(guessedHeights);
  const [range, setRange] = useState<Range>({ from: 0, to: 2 * spareLines });
  const sought = useRef<string | undefined>(undefined);
  const tops = useMemo(() => addUp(items.map(({ kind }) => heights[kind])), [items, heights]);
  const look = () => {
    const box = list.current?.getBoundingClientRect();
    // A hidden list stays as it is.
    if (!box || box.width === 0) return;
    const seen = { from: findLine(tops, -box.top), to: findLine(tops, innerHeight - box.top) + 1 };
    setRange(known => keepIfEqual(known, widen(seen, items.length)));
  };
  const latestLook = useRef(look);
  latestLook.current = look;
  useEffect(() => {
    const onMove = () => latestLook.current();
    // Scrolling does not bubble; whatever scrolls is told here.
    document.addEventListener('scroll', onMove, { capture: true, passive: true });
    addEventListener('resize', onMove);
    return () => {
      document.removeEventListener('scroll', onMove, { capture: true });
      removeEventListener('resize', onMove);
    };
  }, []);
  useLayoutEffect(() => {
    setHeights(known => keepIfEqual(known, measure(list.current, known)));
    look();
  }, [items, heights, range]);
  useLayoutEffect(() => {
    if (sought.current === undefined) return;
    const line = findElement(list.current, sought.current);
    line?.scrollIntoView({ block: 'nearest' });
    line?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    sought.current = undefined;
  });
  const show = (key: string) => {
    const at = items.findIndex(item => item.key === key);
    if (at === -1) return;
    sought.current = key;
    setRange(widen({ from: at, to: at + 1 }, items.length));
  };
  const to = Math.min(range.to, items.length);
  const from = Math.min(range.from, to);
  const day = items.slice(0, from).findLast(({ kind }) => kind === 'day');
  const above = (tops[from] ?? 0) - (day ? heights.day : 0);
  const total = tops[items.length] ?? 0;
  return { from, to, day, above, below: total - (tops[to] ?? total), show };
}

/** Where each line begins, and the end of the last one. */
function addUp(heights: readonly number[]): readonly number[] {
  let top = 0;
  return [
    0,
    ...heights.map(height => {
      top += height;
      return top;
    }),
  ];
}

/** The line at a distance from the top of the list. */
function findLine(tops: readonly number[], distance: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= distance) low = middle;
    else high = middle - 1;
  }
  return low;
}

function widen({ from, to }: Range, count: number): Range {
  const down = Math.floor((from - spareLines) / stepLines) * stepLines;
  const up = Math.ceil((to + spareLines) / stepLines) * stepLines;
  return {
    from: Math.max(0, down),
    to: Math.min(Math.max(up, 2 * spareLines), Math.max(count, 2 * spareLines)),
  };
}

function measure(list: HTMLElement | null, known: typeof guessedHeights): typeof guessedHeights {
  const kinds = Object.keys(known) as ItemKind[];
  const measured = kinds.map(kind => {
    const height = list?.querySelector(`[data-kind=${kind}]`)?.getBoundingClientRect().height;
    return [kind, height ? height : known[kind]] as const;
  });
  return Object.fromEntries(measured) as typeof guessedHeights;
}

function keepIfEqual<R extends object>(known: R, newer: R): R {
  return Object.entries(newer).every(([name, value]) => known[name as keyof R] === value) ? known : newer;
}

function findElement(list: HTMLElement | null, key: string): Element | undefined {
  return [...(list?.children ?? [])].find(line => line.getAttribute('data-key') === key);
}

/**
 * Shows the lines of a list for one frame where they were before others arrived above them, and then where they are now. So
 * they move by a transform, which is no layout shift. Lines have `data-key`; the style sheet reads `--moved` of the parent.
 */
export function useStillRows(list: RefObject<HTMLElement | null>, items: readonly unknown[]): void {
  const known = useRef<ReadonlyMap<string, number>>(new Map());
  useLayoutEffect(() => {
    const lines = [...(list.current?.querySelectorAll<HTMLElement>('[data-kind=row]') ?? [])];
    const tops = new Map(lines.map(line => [line.dataset.key ?? '', line.offsetTop]));
    const stays = [...tops].find(([key]) => known.current.has(key));
    const moved = stays ? stays[1] - (known.current.get(stays[0]) ?? 0) : 0;
    known.current = tops;
    const parent = list.current?.parentElement;
    if (!parent || moved === 0) return;
    parent.classList.add('is-still');
    parent.style.setProperty('--moved', `${-moved}px`);
    const release = () => {
      parent.classList.remove('is-still');
      parent.style.removeProperty('--moved');
    };
    // The first frame is the one that is about to be painted.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(release);
    });
    return () => {
      cancelAnimationFrame(frame);
      release();
    };
  }, [items]);
}

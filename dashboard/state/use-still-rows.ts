import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

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

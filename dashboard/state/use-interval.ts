import { useEffect, useRef } from 'preact/hooks';

/** Calls `act` every `everyMs` while the page is visible; never if `everyMs` is undefined. */
export function useInterval(act: () => void, everyMs: number | undefined): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

import { useEffect, useRef } from 'preact/hooks';

/** Calls `act` repeatedly while somebody looks at the page; without a time, never. */
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

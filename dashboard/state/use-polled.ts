import { useInterval } from './use-interval.ts';
import { type Loading, useLoad } from './use-load.ts';

/** Reads like `useLoad`, and again every `everyMs` while the page is visible. */
export function usePolled<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  everyMs: number,
): Loading<T> {
  const loading = useLoad(read, keys);
  useInterval(loading.reload, everyMs);
  return loading;
}

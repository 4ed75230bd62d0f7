import { type ReadGiven, type ReadPath, type ReadResult, readApi } from '../api-client.ts';
import { type Loading, usePolled } from './loading.ts';

/** Reads one route of the API, and again every `everyMs` if given. */
export function useApi<P extends ReadPath>(
  path: P,
  given: ReadGiven<P>,
  everyMs?: number,
): Loading<ReadResult<P>> {
  const read = (signal: AbortSignal) => readApi(path, { ...given, signal }) as Promise<ReadResult<P>>;
  return usePolled(read, [path, JSON.stringify(given)], everyMs);
}

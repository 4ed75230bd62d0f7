import type { RunState } from '../../schema/delivery.ts';
import { useInterval } from './use-interval.ts';

const unfinishedMs = 2_000;

/** Reloads every two seconds while one of the runs is queued or running, otherwise every `otherwiseMs` if given. */
export function useRunRefresh(
  reload: () => void,
  runs: readonly { readonly state: RunState }[] | undefined,
  otherwiseMs?: number,
): void {
  const unfinished = runs?.some(({ state }) => state === 'queued' || state === 'running');
  useInterval(reload, unfinished ? unfinishedMs : otherwiseMs);
}

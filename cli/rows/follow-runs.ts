import type { LogFilter } from '../../operations/log/list-rows.ts';
import type { RunView } from '../../operations/views/delivery-views.ts';
import { hasEnded } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { Backend } from '../backend/backend.ts';
import { followRows } from './follow-rows.ts';
import { readRuns } from './read-rows.ts';

/** @limit Unfinished runs whose state `runs list --follow` reads each second; it takes turns with the others. */
const watchedRunsPerLook = 20;

/** Follows runs: prints each as it is recorded, and again once it has ended. A state filters what is printed. */
export async function followRuns(
  backend: Pick<Backend, 'call'>,
  { state, ...filter }: LogFilter,
  limit: number,
  print: (runs: readonly RunView[]) => void,
): Promise<void> {
  const unfinished = new Set<string>();
  const printInState = (runs: readonly RunView[]) => {
    const wanted = runs.filter(run => state === undefined || run.state === state);
    if (wanted.length > 0) print(wanted);
  };
  const look = async () => {
    for (const id of [...unfinished].slice(0, watchedRunsPerLook)) {
      const run = await backend.call('showRun', { params: { run: id } }).catch(ignoreRemoved);
      unfinished.delete(id);
      if (run && !hasEnded(run.state)) unfinished.add(id);
      if (!run || !hasEnded(run.state)) continue;
      const { prompt: _, ...row } = run;
      printInState([row]);
    }
  };
  await followRows(
    readRuns(backend, filter),
    limit,
    runs => {
      for (const run of runs) if (!hasEnded(run.state)) unfinished.add(run.id);
      printInState(runs);
    },
    look,
  );
}

/** Ignores that a run is gone: retention may remove it while it is followed. */
function ignoreRemoved(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'run-unknown') throw error;
}

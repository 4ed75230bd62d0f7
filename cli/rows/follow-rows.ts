import { setTimeout as wait } from 'node:timers/promises';
import type { LogFilter, Page } from '../../operations/log/list-rows.ts';
import type { RunView } from '../../operations/views/delivery-views.ts';
import { apiPageMax } from '../../schema/api/conventions.ts';
import { ApiProblem, apiProblems } from '../../schema/api/problems.ts';
import { hasEnded } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import { type BackOff, backOffMs } from '../../schema/retry-waits.ts';
import { DeliveryLogError, StoreError } from '../../store/ports/store-error.ts';
import type { Backend } from '../backend/backend.ts';
import { UnreachableError } from '../exit-status.ts';
import { isOutputOpen, printStatus } from '../output.ts';
import { type ReadPage, readRows, readRuns } from './read-rows.ts';

/** @limit Time between two searches of `--follow` for new rows, in ms: soon enough for a person, and little work for a server. */
export const followMs = 1_000;
/** @limit Waits of `--follow` while a server cannot be reached, in ms: it is back soon after a restart, and is not hurried. */
const followBackOff = { firstMs: 1_000, maxMs: 30_000 };

/** Finds the current end of a list: rows that are recorded from now on come after it. */
export async function findEnd(readPage: ReadPage<unknown>): Promise<string> {
  return (await readPage({ limit: 1, after: 'now' })).next ?? 'start';
}

/**
 * Yields the pages of a list after a row, oldest first, and then as rows are recorded: each row once, and none left
 * out. Ends with the reader of the output; a signal ends the process.
 */
export async function* followPages<Row>(readPage: ReadPage<Row>, after: string): AsyncGenerator<Page<Row>> {
  for (let from = after; isOutputOpen(); ) {
    const page: Page<Row> = await persist(() => readPage({ limit: apiPageMax, after: from }));
    yield page;
    from = page.next ?? from;
    if (!page.hasMore) await wait(followMs);
  }
}

/** Prints the newest rows of a list, oldest first, and then rows as they are recorded. Calls `look` between them. */
export async function followRows<Row extends { readonly id: string }>(
  readPage: ReadPage<Row>,
  limit: number,
  print: (rows: readonly Row[]) => void,
  look: () => Promise<void> = async () => undefined,
): Promise<void> {
  // The end is found first: rows that are recorded before the list is read are in both, and printed once.
  const end = await findEnd(readPage);
  const listed = await readRows(readPage, limit);
  const printed = new Set(listed.map(({ id }) => id));
  if (listed.length > 0) print(listed.toReversed());
  for await (const { rows } of followPages(readPage, end)) {
    const added = rows.filter(({ id }) => !printed.has(id));
    if (added.length > 0) print(added);
    await persist(look);
  }
}

/** Repeats a request while the server or the store cannot be reached. Says so, and says when it works again. */
export async function persist<T>(ask: () => Promise<T>, backOff: BackOff = followBackOff): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      const answer = await ask();
      if (failures > 0) printStatus('Connected again.');
      return answer;
    } catch (error) {
      if (!isTransient(error)) throw error;
      const waitMs = backOffMs(++failures, backOff, Math.random());
      const seconds = (waitMs / 1_000).toFixed(1);
      printStatus(`hookmill: ${error.message}; trying again in ${seconds} s`);
      await wait(waitMs);
    }
  }
}

function isTransient(error: unknown): error is Error {
  if (error instanceof ApiProblem) return [429, 500, 503].includes(apiProblems[error.code].status);
  if (error instanceof DeliveryLogError) return error.code === 'full' || error.code === 'failed';
  return error instanceof UnreachableError || (error instanceof StoreError && error.code === 'unreachable');
}

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

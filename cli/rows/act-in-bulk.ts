import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { actOnEach, type BulkResult, bulkRatePerSecond } from '../../schema/clients/act-on-each.ts';
import { Refusal, refusals } from '../../schema/refusal.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { askToConfirm } from '../input/read-input.ts';
import { printData, printStatus, showProgress } from '../output.ts';
import { type ReadPage, readOldestFirst } from './read-rows.ts';

/** The options of commands that act on many rows. */
export interface BulkOptions {
  readonly dryRun?: true;
  readonly yes?: true;
  /** Rows per second. */
  readonly rate: number;
  /** The row after which to continue an interrupted command. */
  readonly after?: string;
}

/** An action on each row of a list, and the words that describe it. */
interface BulkAction<Row> {
  readonly readPage: ReadPage<Row>;
  readonly render: (rows: readonly Row[]) => string;
  /** Acts on one row and returns the result. Fails with a Refusal if the row does not allow it. */
  readonly act: (id: string) => Promise<unknown>;
  /** Words such as `replay` and `replayed`, `delivery` and `deliveries`. */
  readonly words: {
    readonly verb: string;
    readonly done: string;
    readonly one: string;
    readonly many: string;
  };
}

/** Adds the options of a command that acts on many rows. */
export function addBulkOptions(command: Command): Command {
  return command
    .option('--dry-run', 'only list them')
    .option('--yes', 'do not ask')
    .option('--rate <n>', 'how many a second at most', parseRate, bulkRatePerSecond)
    .option('--after <id>', 'only those recorded after this one, to go on after an interruption');
}

function parseRate(text: string): number {
  const rate = /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : 0;
  if (rate > 0) return rate;
  throw new UsageError(`--rate must be a number greater than 0 and less than 10000, not "${text}"`);
}

/** Acts on all rows of a list, oldest first: counts them, asks, and reports the result, even if it is interrupted. */
export async function actInBulk<Row extends { readonly id: string }>(
  { readPage, render, act, words }: BulkAction<Row>,
  { dryRun, yes, rate, after = 'start' }: BulkOptions,
  output: 'text' | 'json',
): Promise<void> {
  const { verb, done, one, many } = words;
  const count = (rows: number) => `${rows} ${rows === 1 ? one : many}`;
  const rows: Row[] = [];
  for await (const page of readOldestFirst(readPage, after)) {
    rows.push(...page);
    showProgress(`Found ${count(rows.length)} …`);
  }
  showProgress('');
  if (dryRun || rows.length === 0) {
    printData(output, rows, () => (rows.length === 0 ? '' : render(rows)));
    printStatus(`${count(rows.length)} to ${verb}.`);
    return;
  }
  if (!yes && !(await askToConfirm(`Do you want to ${verb} ${count(rows.length)}?`, output))) {
    throw new CommandError(
      `${count(rows.length)} to ${verb}; nothing was ${done}: confirm at the prompt or use --yes`,
    );
  }
  const { refused, rest, failure, ...acted } = await actAtRate(rows, act, rate, at =>
    showProgress(`${at} of ${count(rows.length)} …`),
  );
  const results = acted.done;
  showProgress('');
  const counts = { matched: rows.length, [done]: results.length, refused, rest };
  printData(output, { ...counts, results }, () => '');
  for (const [code, ids] of Map.groupBy(refused, ({ code }) => code)) {
    printStatus(
      `${count(ids.length)} not ${done}: ${refusals[code]} (${ids[0]?.id}${ids.length > 1 ? ', …' : ''})`,
    );
  }
  printStatus(`${results.length} of ${count(rows.length)} ${done}.`);
  if (rest > 0) {
    const last = rows[rows.length - rest - 1]?.id;
    const others = last === undefined ? 'Repeat the command' : `Repeat the command with --after ${last}`;
    printStatus(`${others} to ${verb} the other ${rest}.`);
  }
  if (failure !== undefined) throw failure;
  if (rest > 0) throw new CommandError('interrupted');
}

/** Waits for the turn of each row at a rate. Ctrl-C ends it after the current one. */
async function actAtRate<Row extends { readonly id: string }>(
  rows: readonly Row[],
  act: (id: string) => Promise<unknown>,
  rate: number,
  onProgress: (tried: number) => void,
): Promise<BulkResult<unknown>> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt);
  const { signal } = interruption;
  const startMs = performance.now();
  const awaitTurn = async (position: number) => {
    const dueMs = startMs + (position * 1_000) / rate - performance.now();
    if (dueMs > 0) await wait(dueMs, undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  };
  const codeOf = (error: unknown) => (error instanceof Refusal ? error.code : undefined);
  const ids = rows.map(({ id }) => id);
  try {
    return await actOnEach(ids, { act, awaitTurn, codeOf, onProgress });
  } finally {
    process.off('SIGINT', interrupt);
  }
}

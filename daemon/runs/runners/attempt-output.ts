import type { RunSaid } from '../../../schema/run-report.ts';
import type { DeliveryLog, Run } from '../../../store/ports/delivery-log.ts';
import type { RunFiles, RunOutput } from '../../../store/ports/run-files.ts';
import { type Attempt, type AttemptResult, RunCancelled, toClaim } from './runner.ts';

/**
 * Keeps the output of an attempt, below a heading with its number and time, at most `bytesMax` bytes of it, and the result as
 * its last line. Opens it only for `work`, which begins the attempt, and closes it however `work` ends. `onLost` makes the
 * result of an attempt whose output could not be kept.
 */
export async function withOutput(
  runFiles: Pick<RunFiles, 'appendOutput'>,
  { run }: Pick<Attempt, 'run'>,
  { nowMs, bytesMax, onLost }: OutputOptions,
  work: (output: RunOutput) => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const heading = `${run.afterwards ? 'afterwards, ' : ''}attempt ${run.attempts} at ${new Date(nowMs).toISOString()}`;
  const output = runFiles.appendOutput(run.id, heading, bytesMax);
  const result = await work(output).catch(toUnattempted);
  const { kind, reason } = result;
  const lastLine = kind === 'succeeded' && reason ? `${kind}, but ${reason}` : (reason ?? kind);
  return output.close(lastLine).then(
    () => result,
    (error: unknown) => onLost(result, error),
  );
}

interface OutputOptions {
  readonly nowMs: number;
  readonly bytesMax: number;
  readonly onLost: (result: AttemptResult, error: unknown) => AttemptResult;
}

/**
 * The result of an attempt in which hookmill itself failed, for example with a full disk or an unreadable log, or that did
 * not begin because somebody cancelled the run.
 */
export function toUnattempted(error: unknown): AttemptResult {
  if (error instanceof RunCancelled) return { kind: 'cancelled' };
  const what = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return { kind: 'unattempted', reason: `the run could not be executed (${what})` };
}

/** Keeps what an attempt says of itself as the report of the run. Rejects if the log cannot. */
export async function keepReport(
  run: Run,
  said: RunSaid,
  {
    deliveryLog,
    nowMs,
  }: { readonly deliveryLog: Pick<DeliveryLog, 'recordReport'>; readonly nowMs: () => number },
): Promise<void> {
  if (Object.values(said).every(value => value === undefined)) return;
  const report = { atMs: nowMs(), ...said };
  await deliveryLog.recordReport({ ...toClaim(run), report, countMax: Infinity });
}

/** Adds to the reason of a result. */
export function addReason(result: AttemptResult, lost: string): AttemptResult {
  return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
}

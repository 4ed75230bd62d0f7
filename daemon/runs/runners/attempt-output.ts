import type { RunSaid } from '../../../schema/run-report.ts';
import type { DeliveryLog, Run } from '../../../store/ports/delivery-log.ts';
import {
  artifactBytesMax,
  artifactsMax,
  type KeptArtifacts,
  type RunFiles,
  type RunOutput,
} from '../../../store/ports/run-files.ts';
import { type Attempt, type AttemptResult, toClaim } from './runner.ts';

/**
 * Keeps the output of an attempt, below a heading with its number and time, at most `bytesMax` bytes of it. Opens it only
 * for `work`, which begins the attempt, and closes it however `work` ends.
 */
export async function withOutput(
  runFiles: Pick<RunFiles, 'appendOutput'>,
  { run }: Pick<Attempt, 'run'>,
  nowMs: number,
  bytesMax: number,
  work: (output: RunOutput) => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const heading = `${run.afterwards ? 'afterwards, ' : ''}attempt ${run.attempts} at ${new Date(nowMs).toISOString()}`;
  const output = runFiles.appendOutput(run.id, heading, bytesMax);
  return closeOutput(output, await work(output).catch(toUnattempted));
}

/** The result of an attempt in which hookmill itself failed, for example with a full disk or an unreadable log. */
export function toUnattempted(error: unknown): AttemptResult {
  const what = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return { kind: 'unattempted', reason: `the run could not be executed (${what})` };
}

/** Ends an attempt's output with a line that shows the result. Adds to the reason if output could not be kept. */
export async function closeOutput(output: RunOutput, result: AttemptResult): Promise<AttemptResult> {
  try {
    const { kind, reason } = result;
    await output.close(kind === 'succeeded' && reason ? `${kind}, but ${reason}` : (reason ?? kind));
    return result;
  } catch (error) {
    return addReason(result, `output could not be kept (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Keeps the artifacts that a command left, as `RunFiles.keepArtifacts` does. Adds to the reason if some could not be kept. */
export async function keepArtifacts(
  runFiles: Pick<RunFiles, 'keepArtifacts'>,
  { run }: Pick<Attempt, 'run'>,
  result: AttemptResult,
  given: KeptArtifacts = {},
): Promise<AttemptResult> {
  try {
    if (await runFiles.keepArtifacts(run.id, given)) return result;
    const bounds = `up to ${artifactsMax} and ${artifactBytesMax / 1024 ** 2} MiB`;
    return addReason(
      result,
      `not all artifacts were kept: only ordinary files with simple names are, ${bounds}`,
    );
  } catch (error) {
    return addReason(result, `artifacts could not be kept (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Keeps what an attempt says of itself as the report of the run. Returns what was wrong, if it could not be kept: the work
 * is done already, so the attempt must not be repeated for that.
 */
export async function keepReport(
  run: Run,
  said: RunSaid,
  {
    deliveryLog,
    nowMs,
  }: { readonly deliveryLog: Pick<DeliveryLog, 'recordReport'>; readonly nowMs: () => number },
): Promise<string | undefined> {
  if (Object.values(said).every(value => value === undefined)) return undefined;
  const report = { atMs: nowMs(), ...said };
  try {
    await deliveryLog.recordReport({ ...toClaim(run), report, countMax: Infinity });
    return undefined;
  } catch {
    return 'its link, message and cost could not be recorded';
  }
}

/** Adds to the reason of a result. */
export function addReason(result: AttemptResult, lost: string): AttemptResult {
  return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
}

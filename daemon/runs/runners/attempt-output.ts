import { artifactBytesMax, artifactsMax, type RunFiles, type RunOutput } from '../../../store/run-files.ts';
import type { Attempt, AttemptResult } from './runner.ts';

/** Starts an attempt's output, below a heading with its number and time. Keeps at most `bytesMax` bytes of it. */
export function openOutput(
  runFiles: Pick<RunFiles, 'appendOutput'>,
  { run }: Attempt,
  nowMs: number,
  bytesMax: number,
): RunOutput {
  const heading = `attempt ${run.attempts} at ${new Date(nowMs).toISOString()}`;
  return runFiles.appendOutput(run.id, heading, bytesMax);
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

/** Keeps the artifacts that a command left. Adds to the reason if some could not be kept. */
export async function keepArtifacts(
  runFiles: Pick<RunFiles, 'keepArtifacts'>,
  { run }: Attempt,
  result: AttemptResult,
): Promise<AttemptResult> {
  try {
    if (await runFiles.keepArtifacts(run.id)) return result;
    const bounds = `up to ${artifactsMax} and ${artifactBytesMax / 1024 ** 2} MiB`;
    return addReason(
      result,
      `not all artifacts were kept: only ordinary files with simple names are, ${bounds}`,
    );
  } catch (error) {
    return addReason(result, `artifacts could not be kept (${(error as NodeJS.ErrnoException).code})`);
  }
}

function addReason(result: AttemptResult, lost: string): AttemptResult {
  return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
}

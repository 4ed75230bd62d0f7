import type { RunFiles, RunOutput } from '../../../store/run-files.ts';
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
    await output.close(result.reason ?? result.kind);
    return result;
  } catch (error) {
    const lost = `output could not be kept (${(error as NodeJS.ErrnoException).code})`;
    return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
  }
}

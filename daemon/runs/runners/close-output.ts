import type { RunOutput } from '../../../store/run-files.ts';
import type { AttemptResult } from './runner.ts';

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

import type { RunOutput } from '../../../store/run-files.ts';
import type { AttemptResult } from './runner.ts';

/** Ends an attempt's output with its result and returns that; output that could not be kept adds to its reason. */
export async function closeOutput(output: RunOutput, result: AttemptResult): Promise<AttemptResult> {
  try {
    await output.close(result.reason ?? result.kind);
    return result;
  } catch (error) {
    const lost = `its output could not be kept (${(error as NodeJS.ErrnoException).code})`;
    return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
  }
}

import type { DeliveryLog, Run } from '../../store/delivery-log.ts';
import type { RunFiles } from '../../store/run-files.ts';
import { runMessage } from './run-message.ts';
import type { PromptOf } from './run-prompts.ts';
import type { AttemptResult, Runner } from './runners/runner.ts';

export interface AttemptDeps {
  readonly deliveryLog: Pick<DeliveryLog, 'readPayload'>;
  readonly promptOf: PromptOf;
  readonly runFiles: Pick<RunFiles, 'prepare'>;
  readonly runner: Runner;
}

/** One attempt at a claimed run: its directory is written, whatever the runner, then the runner does its work. */
export async function attemptRun(run: Run, deps: AttemptDeps, signal: AbortSignal): Promise<AttemptResult> {
  if (signal.aborted) return { kind: 'retry', reason: 'the daemon stopped before the attempt began' };
  const [payload, prompt] = await Promise.all([
    deps.deliveryLog.readPayload(run.deliveryId),
    deps.promptOf(run),
  ]);
  if (!payload) return { kind: 'failed', reason: 'the payload of the delivery is not in the log' };
  if (prompt === undefined) {
    return { kind: 'failed', reason: 'the log does not know the prompt that the automation had' };
  }
  const message = runMessage(run, prompt);
  const directory = await deps.runFiles.prepare(run.id, message, payload);
  return deps.runner({ run, directory, message, payload }, signal);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backOffMs } from '../../operations/back-off.ts';
import type { DeliveryLog, Run } from '../../store/delivery-log.ts';
import { DeliveryLogError } from '../../store/delivery-log-error.ts';
import type { RunSettings } from './run-settings.ts';
import type { AttemptResult } from './runners/runner.ts';

/** @limit Time between two tries to record the result of an attempt, in ms, while the delivery log cannot be written. */
const recordRetryMs = 2_000;

export interface RecordAttemptDeps {
  readonly deliveryLog: Pick<DeliveryLog, 'finishRun' | 'postponeRun'>;
  readonly settings: Pick<RunSettings, 'attempts' | 'backOff'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** How long a run waits that hookmill itself could not begin, in ms. */
  readonly troubleWaitMs: () => number;
}

/** Finishes the run or queues it again. Repeats until the log can be written, so that no run stays running forever. */
export async function recordAttempt(
  run: Run,
  result: AttemptResult,
  deps: RecordAttemptDeps,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await settleRun(run, result, deps, signal);
      return;
    } catch (error) {
      if (!(error instanceof DeliveryLogError) || error.code !== 'failed' || signal.aborted) throw error;
      deps.log.error({ run: run.id, err: error }, 'cannot record the result of a run attempt yet');
      await sleep(recordRetryMs, undefined, { signal });
    }
  }
}

function settleRun(
  { id, attempts, claimedBy }: Run,
  result: AttemptResult,
  { deliveryLog, settings, nowMs, random, troubleWaitMs }: RecordAttemptDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const { kind, reason: error } = result;
  const claim = { id, attempts, ...(claimedBy !== undefined && { claimedBy }) };
  const atMs = nowMs();
  if (kind === 'succeeded' || kind === 'failed')
    return deliveryLog.finishRun({ ...claim, state: kind, atMs, error });
  const attempted = kind === 'retry';
  if (signal.aborted) return deliveryLog.postponeRun({ ...claim, notBeforeMs: atMs, attempted, error });
  if (!attempted)
    return deliveryLog.postponeRun({ ...claim, notBeforeMs: atMs + troubleWaitMs(), attempted, error });
  if (attempts >= settings.attempts) return deliveryLog.finishRun({ ...claim, state: 'failed', atMs, error });
  const { firstSeconds, maxSeconds } = settings.backOff;
  const backOff = { firstMs: firstSeconds * 1_000, maxMs: maxSeconds * 1_000 };
  const waitMs = Math.max(backOffMs(attempts, backOff, random()), result.afterMs ?? 0);
  return deliveryLog.postponeRun({ ...claim, notBeforeMs: atMs + waitMs, attempted, error });
}

import type { AppliedState } from '../../schema/applied-state.ts';
import type { DeliveryLog, DeliveryLogReader } from '../../store/delivery-log.ts';
import type { JudgedHealth, StoredHealth } from '../../store/tallies.ts';
import { type Health, judgeHealth, weeksJudged } from './judge-health.ts';
import { hourMs, weekHours } from './usual-rates.ts';

/** @limit Steps of tallying in one pass: those of a log that is behind take turns with requests of managers. */
const stepsMax = 20;
/** @limit Webhooks that one pass judges: each takes a millisecond or two, and the others are due in the next pass. */
const judgedMax = 100;
/** @limit Time after which a webhook is looked at again that is disabled or not healthy, in ms, if no delivery comes before. */
const lookAgainMs = hourMs;
/** @limit Time after which any other webhook is looked at again, in ms. */
const lookAtLatestMs = 24 * hourMs;

export interface LookDeps {
  readonly deliveries: Pick<DeliveryLogReader, 'readNextTallies' | 'listDueHealth' | 'readHistory'>;
  readonly deliveryLog: Pick<DeliveryLog, 'recordTallies' | 'recordHealth'>;
  readonly readState: (factory: string) => Promise<AppliedState>;
  readonly nowMs: number;
  /** Gets what was found before it is recorded, so that it is found again if this fails. */
  readonly onFound: (found: readonly FoundHealth[]) => Promise<void>;
}

/** What was found of a webhook; without a health, it is disabled or no longer applied. */
export interface FoundHealth {
  readonly webhook: StoredHealth;
  readonly health: Health | undefined;
}

/** Tallies what was recorded since the last pass, and judges the webhooks that are due. One daemon at a time does this. */
export async function lookAtWebhooks(deps: LookDeps): Promise<void> {
  const { deliveries, deliveryLog, nowMs } = deps;
  // What is tallied only in part would look like silence.
  const isComplete = await tally(deps);
  const due = isComplete ? await deliveries.listDueHealth(nowMs, judgedMax) : [];
  const judged: JudgedHealth[] = [];
  const found: FoundHealth[] = [];
  for (const webhook of due) {
    const one = await look(deps, webhook);
    judged.push(one.judged);
    found.push({ webhook, health: one.health });
  }
  await deps.onFound(found);
  await deliveryLog.recordHealth({ nowMs, judged });
}

/** Returns whether all rows are tallied. */
async function tally({ deliveries, deliveryLog }: LookDeps): Promise<boolean> {
  for (let steps = 0; steps < stepsMax; steps++) {
    const step = await deliveries.readNextTallies();
    if (step.to.seq !== step.from.seq && !(await deliveryLog.recordTallies(step))) return false;
    if (step.isEnd) return true;
  }
  return false;
}

async function look(
  { deliveries, readState, nowMs }: LookDeps,
  known: StoredHealth,
): Promise<{ readonly judged: JudgedHealth; readonly health: Health | undefined }> {
  const { factory, uid, fromMs } = known;
  const applied = await readState(factory).then(
    ({ webhooks }) => webhooks.find(webhook => webhook.uid === uid),
    () => undefined,
  );
  if (!applied?.enabled) {
    const judged = {
      uid,
      state: 'healthy',
      sinceMs: null,
      fromMs: nowMs,
      dueMs: applied ? nowMs + lookAgainMs : null,
    };
    return { judged, health: undefined };
  }
  const sinceHour = Math.floor(nowMs / hourMs) - weeksJudged * weekHours;
  const { tallies, listeningSinceMs } = await deliveries.readHistory({ factory, uid, sinceHour });
  const fromLatestMs = Math.max(listeningSinceMs, fromMs);
  const health = judgeHealth({ tallies, nowMs, listeningSinceMs: fromLatestMs, known });
  const { state, sinceMs, dueMs } = health;
  const isCalm = state === 'healthy' || state === 'never seen';
  const latestMs = nowMs + (isCalm ? lookAtLatestMs : lookAgainMs);
  return { judged: { uid, state, sinceMs, fromMs, dueMs: Math.min(dueMs ?? latestMs, latestMs) }, health };
}

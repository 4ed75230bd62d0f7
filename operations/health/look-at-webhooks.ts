import type { AppliedState } from '../../schema/applied-state.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { DeliveryLog, DeliveryLogReader } from '../../store/ports/delivery-log.ts';
import type { JudgedHealth, StoredHealth } from '../../store/ports/tallies.ts';
import { findRepeatedBody, type RepeatedBody } from './find-repeated-body.ts';
import { findFirstJudgedHour, type Health, judgeWebhookHealth } from './judge-health.ts';
import { type Overlap, readOverlap } from './judge-overlap.ts';

/** @limit Steps of tallying in one pass: if the log is behind, they take turns with requests of managers. */
const stepsMax = 20;
/** @limit Webhooks that one pass judges: each takes a millisecond or two, and the others are due in the next pass. */
const judgedMax = 200;
/** @limit Time after which a disabled or unhealthy webhook is judged again, in ms, if no delivery comes before. */
const lookAgainMs = hourMs;
/** @limit Time after which any other webhook is judged again, in ms. */
const lookAtLatestMs = 24 * hourMs;

export interface LookDeps {
  readonly deliveries: Pick<
    DeliveryLogReader,
    'readNextTallies' | 'listDueHealth' | 'readHistory' | 'listDeliveries' | 'searchDeliveries'
  >;
  readonly deliveryLog: Pick<DeliveryLog, 'recordTallies' | 'recordHealth'>;
  readonly readState: (factory: string) => Promise<AppliedState>;
  readonly nowMs: number;
  /** Further webhooks to judge: those that an alert is open for. */
  readonly watched: readonly WebhookOfFactory[];
  /** Called before the health is recorded, so that a problem is found again if this fails. */
  readonly onFound: (found: readonly FoundHealth[]) => Promise<unknown>;
}

type WebhookOfFactory = Pick<StoredHealth, 'factory' | 'uid'>;

/** A webhook that was judged; without a health, it is disabled or no longer applied. */
export interface FoundHealth extends WebhookOfFactory {
  readonly name: string;
  readonly health: Health | undefined;
  /** Absent without an overlap. */
  readonly overlap?: Overlap | undefined;
  /** Absent if the sender repeats none. */
  readonly repeatedBody?: RepeatedBody | undefined;
}

interface Look {
  /** Absent if the applied state cannot be read now. */
  readonly found?: FoundHealth;
  readonly judged: JudgedHealth;
}

/**
 * Tallies the deliveries that were recorded since the last pass, and judges the webhooks that are due. One daemon at a
 * time does this. Returns whether there were any such deliveries.
 */
export async function lookAtWebhooks(deps: LookDeps): Promise<boolean> {
  const { deliveries, deliveryLog, nowMs, watched } = deps;
  // Rows that are not tallied yet would look like silence.
  const tallied = await tally(deps);
  if (tallied === 'in part') return true;
  const hasTallied = tallied === 'all';
  const due = [...(await deliveries.listDueHealth(nowMs, judgedMax)), ...watched];
  const looks = new Map<string, Look>();
  for (const webhook of due) {
    if (!looks.has(webhook.uid)) looks.set(webhook.uid, await look(deps, webhook));
  }
  if (looks.size === 0) return hasTallied;
  const all = [...looks.values()];
  await deps.onFound(all.flatMap(({ found }) => found ?? []));
  await deliveryLog.recordHealth({ nowMs, judged: all.map(({ judged }) => judged) });
  return hasTallied;
}

/** Tallies the rows that are not tallied yet, if there are any. */
async function tally({ deliveries, deliveryLog }: LookDeps): Promise<'none' | 'all' | 'in part'> {
  let tallied: 'none' | 'all' = 'none';
  for (let steps = 0; steps < stepsMax; steps++) {
    const step = await deliveries.readNextTallies();
    if (step.to.seq !== step.from.seq) {
      if (!(await deliveryLog.recordTallies(step))) return 'in part';
      tallied = 'all';
    }
    if (step.isEnd) return tallied;
  }
  return 'in part';
}

async function look(
  { deliveries, readState, nowMs }: LookDeps,
  { factory, uid }: WebhookOfFactory,
): Promise<Look> {
  const state = await readState(factory).catch(() => undefined);
  const applied = state?.webhooks.find(webhook => webhook.uid === uid);
  const history = await deliveries.readHistory({ factory, uid, sinceHour: findFirstJudgedHour(nowMs) });
  const [known] = history.webhooks;
  if (!state) {
    const { state = 'healthy', sinceMs = null, fromMs = 0 } = known ?? {};
    return { judged: { uid, state, sinceMs, fromMs, dueMs: nowMs + lookAgainMs } };
  }
  const name = applied?.name ?? known?.webhook ?? uid;
  if (!applied?.enabled) {
    const dueMs = applied ? nowMs + lookAgainMs : null;
    const judged = { uid, state: 'healthy', sinceMs: null, fromMs: nowMs, dueMs };
    return { judged, found: { factory, uid, name, health: undefined } };
  }
  const fromMs = known?.fromMs ?? 0;
  const { tallies, listeningSinceMs } = history;
  const past = { tallies, nowMs, listeningSinceMs, known };
  const health = await judgeWebhookHealth(deliveries, { factory, uid }, past);
  const { sinceMs } = health;
  const isCalm = health.state === 'healthy' || health.state === 'never seen';
  const latestMs = nowMs + (isCalm ? lookAtLatestMs : lookAgainMs);
  const overlap = await readOverlap(deliveries, factory, applied, nowMs);
  const endMs = overlap && !overlap.isOver ? Date.parse(overlap.until) : latestMs;
  const dueMs = Math.min(health.dueMs ?? latestMs, latestMs, endMs);
  const judged = { uid, state: health.state, sinceMs, fromMs, dueMs };
  const repeatedBody = await findRepeatedBody(deliveries, factory, applied, nowMs);
  return { judged, found: { factory, uid, name, health, overlap, repeatedBody } };
}

import { type AppliedWebhook, findPrevious } from '../../schema/applied-state.ts';
import { findOverlapEnd } from '../../schema/stored-times.ts';
import type { DeliveryLogReader, LoggedDelivery } from '../../store/ports/delivery-log.ts';

/** @limit Time after an apply, in ms, in which a daemon may still serve the state before: it has loaded the new one long before. */
const loadingMs = 5_000;

/** Which value of its secret the sender of a webhook uses, while there is a previous one, or since that has ended. */
export interface Overlap {
  readonly until: string;
  readonly isOver: boolean;
  /** By the newest delivery that was verified since the overlap began; undefined if there is none. */
  readonly sender: 'previous' | 'current' | undefined;
  /** Without a full stop at the end. */
  readonly message: string;
  /** What to do now; undefined if there is nothing to do. */
  readonly remedy: string | undefined;
}

/** Reads which value the sender uses. Undefined without an overlap, and once it is over and the sender uses the current value. */
export async function readOverlap(
  deliveries: Pick<DeliveryLogReader, 'listDeliveries'>,
  factory: string,
  webhook: AppliedWebhook,
  nowMs: number,
): Promise<Overlap | undefined> {
  if (!findPrevious(webhook)) return undefined;
  return judgeOverlap(webhook, await findLastVerified(deliveries, factory, webhook), nowMs);
}

/** Judges by the newest delivery that was verified. Pure. */
export function judgeOverlap(
  webhook: AppliedWebhook,
  last: Pick<LoggedDelivery, 'atMs' | 'verifiedWith'> | undefined,
  nowMs: number,
): Overlap | undefined {
  const previous = findPrevious(webhook);
  if (!previous) return undefined;
  const { since } = previous;
  const until = findOverlapEnd(previous, nowMs);
  const isOver = nowMs >= Date.parse(until);
  const isNew = last !== undefined && last.atMs >= Date.parse(since) + loadingMs;
  const sender =
    last && last.atMs >= Date.parse(since)
      ? (last.verifiedWith ?? (isNew ? 'current' : undefined))
      : undefined;
  if (isOver && sender !== 'previous') return undefined;
  return { until, isOver, sender, ...describeOverlap(webhook, { until, isOver, sender }) };
}

function describeOverlap(
  { authMode, secretName = '' }: AppliedWebhook,
  { until, isOver, sender }: Pick<Overlap, 'until' | 'isOver' | 'sender'>,
): Pick<Overlap, 'message' | 'remedy'> {
  const noun = authMode === 'token' ? 'token' : 'secret';
  const end = `hookmill secrets set ${secretName} --end`;
  if (sender === 'current')
    return { message: `the sender uses the new ${noun}; the overlap can end`, remedy: `Run \`${end}\`` };
  if (sender === undefined)
    return {
      message: `the previous ${noun} works until ${until}; no delivery shows which one the sender uses`,
      remedy: undefined,
    };
  const uses = `the sender still ${authMode === 'token' ? 'sends' : 'signs with'} the previous ${noun}`;
  const set = `Set the sender to use the current value of the team secret ${secretName}`;
  return isOver
    ? { message: `${uses}, whose overlap ended at ${until}`, remedy: set }
    : { message: `${uses} (until ${until})`, remedy: `${set} by then` };
}

const verifiedOutcomes = ['Accepted', 'Duplicate', 'Rejected (invalid JSON)'] as const;

async function findLastVerified(
  deliveries: Pick<DeliveryLogReader, 'listDeliveries'>,
  factory: string,
  { uid }: AppliedWebhook,
): Promise<LoggedDelivery | undefined> {
  const found = verifiedOutcomes.map(outcome =>
    deliveries.listDeliveries({ factory, uid, outcome, limit: 1 }),
  );
  const rows = (await Promise.all(found)).flat();
  return rows.toSorted((a, b) => b.atMs - a.atMs)[0];
}

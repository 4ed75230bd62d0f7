import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { isReplaySafe } from '../../schema/definitions/webhook-definition.ts';
import { dayMs } from '../../schema/time-units.ts';
import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';

/** @limit Duplicates by the hash of one body after which a sender is said to repeat it: one or two may be retries. */
const repeatsMin = 3;
/** @limit Shortest time between two of these duplicates, in ms (30 minutes): a sender that got no answer retries sooner. */
const repeatGapMs = 30 * 60_000;
/** @limit Newest duplicates of a webhook among which those are: a body that comes each minute repeats thrice in 2 hours. */
const duplicatesRead = 200;
/** @limit Time after the last of these duplicates until its alert is resolved, in ms (8 days): a weekly job has not run meanwhile. */
const repeatsForgottenMs = 8 * dayMs;

/** A body that came again and again, of which only the first started runs. */
export interface RepeatedBody {
  readonly sinceMs: number;
  readonly reason: string;
}

/**
 * Finds whether a sender repeats one body without an ID, farther apart than retries. Undefined if the webhook says what is a
 * duplicate then, or cannot say so.
 */
export async function findRepeatedBody(
  deliveries: Pick<DeliveryLogReader, 'listDeliveries'>,
  factory: string,
  { uid, identity, signatureScheme }: AppliedWebhook,
  nowMs: number,
): Promise<RepeatedBody | undefined> {
  if (identity !== undefined || !isReplaySafe(signatureScheme)) return undefined;
  const asked = { factory, uid };
  const rows = await deliveries.listDeliveries({ ...asked, outcome: 'Duplicate', limit: duplicatesRead });
  const [last] = rows;
  if (last?.identitySource !== 'body' || nowMs - last.atMs > repeatsForgottenMs) return undefined;
  const [accepted] = await deliveries.listDeliveries({ ...asked, outcome: 'Accepted', limit: 1 });
  if (accepted && accepted.atMs > last.atMs && accepted.identitySource !== 'body') return undefined;
  const apart: number[] = [];
  for (const { duplicateOf, atMs } of rows) {
    const isApart = (apart.at(-1) ?? Infinity) - atMs >= repeatGapMs;
    if (duplicateOf === last.duplicateOf && isApart) apart.push(atMs);
  }
  const sinceMs = apart[repeatsMin - 1];
  if (sinceMs === undefined) return undefined;
  const reason = `the same body, without an ID, came again ${apart.length} times at least 30 minutes apart, and starts nothing since ${last.duplicateOf}`;
  return { sinceMs: apart.at(-1) ?? sinceMs, reason };
}

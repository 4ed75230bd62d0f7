import { setTimeout as wait } from 'node:timers/promises';
import type { Backend } from '../backend/backend.ts';

/** @limit Time between two looks for a delivery that a command waits for, in ms: soon enough for a person, and little work for a server. */
const lookAgainMs = 500;
/** @limit Time in which a verified delivery may still follow a refused one, or one with the previous secret, in ms: anybody can send a request that is refused, and an older event may be on its way. */
const afterRefusedMs = 3_000;

/** The result of waiting for a delivery. */
export interface PingVerification {
  /** `refused` also if it came with a previous value of the secret, which an overlap keeps valid. */
  readonly result: 'verified' | 'refused' | 'missing';
  /** The ID of the delivery. */
  readonly delivery: string | null;
  /** Why it was refused. */
  readonly reason: string | null;
}

interface Awaited {
  readonly uid: string;
  /** Only deliveries that were recorded after this position of the list count. */
  readonly after: string;
  readonly waitMs: number;
}

/** Waits until a delivery of the webhook was verified, or else refused, or until the time is up. */
export async function awaitVerified(
  backend: Pick<Backend, 'call'>,
  { uid, after, waitMs }: Awaited,
): Promise<PingVerification> {
  let untilMs = performance.now() + waitMs;
  let refused: PingVerification | undefined;
  for (let from = after; ; ) {
    const query = { webhook: uid, after: from };
    const { deliveries, next, hasMore } = await backend.call('listDeliveries', { query });
    const passed = deliveries.filter(({ outcome }) => outcome === 'Accepted' || outcome === 'Duplicate');
    const verified = passed.find(({ verifiedWith }) => verifiedWith !== 'previous');
    if (verified) return { result: 'verified', delivery: verified.id, reason: null };
    const rejected = deliveries.find(({ outcome }) => outcome === 'Rejected (auth)') ?? passed[0];
    if (rejected && !refused) {
      const { id, verifiedWith, reason = 'it was not verified' } = rejected;
      const why = verifiedWith ? 'it came with the previous value of the secret' : reason;
      refused = { result: 'refused', delivery: id, reason: why };
      untilMs = Math.min(untilMs, performance.now() + afterRefusedMs);
    }
    from = next ?? from;
    if (hasMore) continue;
    if (performance.now() >= untilMs) return refused ?? { result: 'missing', delivery: null, reason: null };
    await wait(lookAgainMs);
  }
}

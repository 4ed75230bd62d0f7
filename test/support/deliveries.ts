import { randomBytes } from 'node:crypto';
import { createSortableId } from '../../schema/ids.ts';
import type {
  AcceptedDelivery,
  NewRun,
  UnidentifiedDelivery,
  UnloggedCount,
} from '../../store/ports/delivery-log.ts';

export const sampleAtMs = 1_750_000_000_000;

export function acceptedDelivery(given: Partial<AcceptedDelivery> = {}): AcceptedDelivery {
  const atMs = given.atMs ?? sampleAtMs;
  const id = createSortableId('dlv', atMs, randomBytes(16));
  const payload = given.payload ?? Buffer.from(`{"id":"${id}"}`);
  return {
    id,
    factory: 'default',
    webhook: 'pay',
    uid: 'wh_000000000000000000000pay',
    atMs,
    size: payload.length,
    authenticatedBy: 'token',
    identity: `identity of ${id}`,
    identitySource: 'body',
    payload,
    headers: {},
    appliedState: { digest: 'digest one', json: '{"automations":[]}' },
    runs: [],
    ...given,
  };
}

export function rejectedDelivery(given: Partial<UnidentifiedDelivery> = {}): UnidentifiedDelivery {
  const { id, factory, webhook, uid, atMs, size } = acceptedDelivery();
  return { id, factory, webhook, uid, atMs, size, outcome: 'Rejected (auth)', ...given };
}

export function unloggedCount(given: Partial<UnloggedCount> = {}): UnloggedCount {
  const { factory, uid, atMs } = acceptedDelivery();
  return { factory, uid, reason: 'rate limit', detail: '', count: 1, lastAtMs: atMs, ...given };
}

export function newRun(automation = 'triage'): NewRun {
  return { id: createSortableId('run', sampleAtMs, randomBytes(16)), automation };
}

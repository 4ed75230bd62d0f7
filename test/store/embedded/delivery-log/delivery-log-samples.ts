import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSortableId } from '../../../../schema/ids.ts';
import type {
  AcceptedDelivery,
  DeliveryLog,
  NewRun,
  UnidentifiedDelivery,
} from '../../../../store/delivery-log.ts';
import { openSqliteReader } from '../../../../store/embedded/delivery-log/read/reader.ts';
import { openDeliveryLog } from '../../../../store/embedded/delivery-log/write/open-delivery-log.ts';

export function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'deliveries.db');
}

/** A log that the test's end closes. */
export async function openLog(
  file = temporaryFile(),
  options: Parameters<typeof openDeliveryLog>[1] = {},
): Promise<DeliveryLog> {
  const log = await openDeliveryLog(file, options);
  onTestFinished(() => log.close());
  return log;
}

export function openReader(file: string) {
  const reader = openSqliteReader(file);
  onTestFinished(() => reader.close());
  return reader;
}

export function acceptedDelivery(given: Partial<AcceptedDelivery> = {}): AcceptedDelivery {
  const atMs = given.atMs ?? 1_750_000_000_000;
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
    appliedState: { digest: 'digest one', json: '{"automations":[]}' },
    runs: [],
    ...given,
  };
}

export function rejectedDelivery(given: Partial<UnidentifiedDelivery> = {}): UnidentifiedDelivery {
  const { id, factory, webhook, uid, atMs, size } = acceptedDelivery();
  return { id, factory, webhook, uid, atMs, size, outcome: 'Rejected (auth)', ...given };
}

export function newRun(automation = 'triage'): NewRun {
  return { id: createSortableId('run', 1_750_000_000_000, randomBytes(16)), automation };
}

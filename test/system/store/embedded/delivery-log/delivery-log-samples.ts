import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSqliteReader } from '../../../../../store/embedded/delivery-log/read/reader.ts';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import type { DeliveryLog } from '../../../../../store/ports/delivery-log.ts';

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

import { expect, test } from 'vitest';
import { useEmptyDatabases, usePostgres } from '../../../support/postgres.ts';
import { openAt } from '../conformance/place.ts';
import { postgresPlace } from './postgres-place.ts';

const nextUrl = useEmptyDatabases(usePostgres(), 1);

const entry = (factory: string) => ({
  at: '2026-01-02T03:04:05.678Z',
  who: { kind: 'token' as const, name: 'ci' },
  from: '192.0.2.1',
  operation: 'createWebhook',
  factory,
  subject: 'orders',
});

test('removes the old entries of a factory whatever the order in which factories take numbers', async () => {
  const { auditLog } = openAt(postgresPlace(nextUrl()));
  // Few enough that every second entry removes old ones, and every second one is of the other factory.
  const kept = 101;
  for (let round = 0; round < 2 * kept; round++) {
    await auditLog.record([entry('crm')], kept);
    await auditLog.record([entry('sales')], kept);
  }
  for (const factory of ['crm', 'sales']) {
    const { length } = await auditLog.list({ factory, limit: 1_000 });
    expect(length).toBeGreaterThanOrEqual(kept);
    // That none of so many removes old ones happens once in 2^60 times.
    expect(length).toBeLessThan(kept + 60);
  }
});

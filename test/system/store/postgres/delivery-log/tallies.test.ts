import { expect, test } from 'vitest';
import type { Store } from '../../../../../store/ports/store.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../../support/deliveries.ts';
import { usePostgres } from '../../../../support/postgres.ts';
import { openAt, openLog } from '../../conformance/place.ts';
import { postgresPlace } from '../postgres-place.ts';

const server = usePostgres();

test('runs of two replicas that end while both replicas tally are each counted once', async () => {
  const url = await server.createDatabaseWithTables();
  const stores = [openAt(postgresPlace(url)), openAt(postgresPlace(url))] as const;
  const logs = await Promise.all(stores.map(store => openLog(store)));
  const runs = Array.from({ length: 300 }, (_, index) => newRun(`automation-${index % 3}`));
  for (const run of runs) await logs[0]?.recordAccepted(acceptedDelivery({ runs: [run] }));
  const work = async (log: (typeof logs)[number], daemonId: string) => {
    const places = { default: 10 };
    for (;;) {
      const { runs } = await log.claimRuns({ daemonId, nowMs: sampleAtMs, places });
      if (runs.length === 0) return;
      const ends = runs.map(run => log.finishRun({ ...run, state: 'succeeded', atMs: sampleAtMs }));
      await Promise.all([...ends, log.recordHealth({ nowMs: sampleAtMs, judged: [] })]);
    }
  };
  await Promise.all(logs.map((log, index) => work(log, `daemon ${index}`)));
  expect(await count(stores[0])).toEqual([100, 100, 100]);
  await logs[0]?.recordHealth({ nowMs: sampleAtMs, judged: [] });
  expect(await count(stores[1])).toEqual([100, 100, 100]);
});

async function count({ deliveries }: Store): Promise<number[]> {
  const filter = { factory: 'default', automations: [], sinceHour: 0, durationsSinceHour: 0 };
  const { tallies, durations } = await deliveries.readRunTallies(filter);
  expect(durations).toMatchObject([{ runs: 300 }]);
  return tallies.map(({ succeeded }) => succeeded);
}

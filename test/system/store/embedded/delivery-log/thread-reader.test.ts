import { expect, onTestFinished, test } from 'vitest';
import { openThreadReader } from '../../../../../store/embedded/delivery-log/read/open-reader.ts';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { openLog, temporaryFile } from './delivery-log-samples.ts';

test('refuses queries past the number that may wait, and answers the others', async () => {
  const file = temporaryFile();
  await openLog(file);
  const queries = openThreadReader(file);
  onTestFinished(() => queries.close());
  const asked = Array.from({ length: 300 }, () =>
    queries.findDelivery('dlv_none').then(
      () => 'answered',
      error => error.code,
    ),
  );
  const results = await Promise.all(asked);
  expect(results.filter(result => result === 'answered')).toHaveLength(256);
  expect(results.filter(result => result === 'full')).toHaveLength(44);
});

test('reads no more of long payloads for a list than 16 MiB, those of the newest first', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const payload = Buffer.alloc(1024 * 1024, ' ');
  const ids: string[] = [];
  for (let i = 0; i < 18; i++) ids.push((await log.recordAccepted(acceptedDelivery({ payload }))).id);
  const queries = openThreadReader(file);
  onTestFinished(() => queries.close());
  const summaries = await queries.summarizeDeliveries(ids, 9);
  expect(summaries).toHaveLength(18);
  const read = summaries.filter(({ beginning }) => beginning?.length === 9).map(({ id }) => id);
  expect(read.toSorted()).toEqual(ids.slice(2).toSorted());
});

import { expect, onTestFinished, test } from 'vitest';
import { openThreadReader } from '../../../../store/embedded/delivery-log/read/thread-reader.ts';
import { acceptedDelivery, openLog, temporaryFile } from './delivery-log-samples.ts';

function openQueries(file: string) {
  const queries = openThreadReader(file);
  onTestFinished(() => queries.close());
  return queries;
}

test('answers what the reader answers, of what is written meanwhile too', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const queries = openQueries(file);
  expect(await queries.listDeliveries({ factory: 'default', limit: 9 })).toEqual([]);
  const payload = Buffer.from('{"a":1}');
  const { id } = await log.recordAccepted(acceptedDelivery({ payload }));
  expect(await queries.listDeliveries({ factory: 'default', limit: 9 })).toMatchObject([{ id }]);
  expect(Buffer.from((await queries.readPayload(id)) ?? [])).toEqual(payload);
  expect(await queries.findDelivery('dlv_none')).toBeUndefined();
});

test('lets no more wait than may, and answers the others', async () => {
  const file = temporaryFile();
  await openLog(file);
  const queries = openQueries(file);
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

test('tells of a question that fails, and answers the next', async () => {
  const file = temporaryFile();
  await openLog(file);
  const queries = openQueries(file);
  const wrong = queries.listDeliveries({ factory: 'default', limit: 'all' as never });
  await expect(wrong).rejects.toMatchObject({ code: 'failed' });
  expect(await queries.listRuns({ factory: 'default', limit: 9 })).toEqual([]);
});

test('refuses questions once it is closed', async () => {
  const file = temporaryFile();
  await openLog(file);
  const queries = openThreadReader(file);
  await queries.findRun('run_none');
  await queries.close();
  await expect(queries.findRun('run_none')).rejects.toMatchObject({ code: 'closed' });
});

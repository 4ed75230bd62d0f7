import { expect, onTestFinished, test } from 'vitest';
import { openThreadReader } from '../../../../store/embedded/delivery-log/read/open-reader.ts';
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

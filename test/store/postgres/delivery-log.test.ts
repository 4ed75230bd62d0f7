import { beforeEach, describe } from 'vitest';
import type { DeliveryLogOptions } from '../../../store/delivery-log.ts';
import type { Store } from '../../../store/ports.ts';
import { openPostgresLog } from '../../../store/postgres/delivery-log/open-postgres-log.ts';
import { openPostgresReader } from '../../../store/postgres/delivery-log/reader.ts';
import { usePostgres } from '../../support/postgres.ts';
import { testDeliveries } from '../conformance/deliveries.ts';
import { testDeliveryQueries } from '../conformance/delivery-queries.ts';
import { testPruning } from '../conformance/pruning.ts';
import { testRuns } from '../conformance/runs.ts';

const server = usePostgres();
const urls: string[] = [];
beforeEach(async () => {
  while (urls.length < 2) urls.push(await server.createDatabase());
});
const makePlace = () => {
  const url = urls.pop() as string;
  return {
    open: () => {
      const deliveries = openPostgresReader(url);
      return {
        deliveries,
        openDeliveryLog: (options?: DeliveryLogOptions) => openPostgresLog({ url, mayLose: false }, options),
        close: () => deliveries.close(),
      } as unknown as Store;
    },
  };
};
describe('deliveries', () => testDeliveries(makePlace));
describe('delivery queries', () => testDeliveryQueries(makePlace));
describe('runs', () => testRuns(makePlace));
describe('pruning', () => testPruning(makePlace));

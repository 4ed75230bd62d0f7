import { beforeEach } from 'vitest';
import { usePostgres } from '../../support/postgres.ts';
import { describeStore } from '../conformance/describe-store.ts';
import type { MakePlace } from '../conformance/place.ts';
import { postgresPlace } from './postgres-place.ts';

const server = usePostgres();
/** Databases without any rows. No test makes more than two places. */
const urls: string[] = [];
beforeEach(async () => {
  while (urls.length < 2) urls.push(await server.createDatabaseWithTables());
});

const makePlace: MakePlace = () => {
  const url = urls.pop();
  if (url === undefined) throw new Error('the test makes too many places');
  return postgresPlace(url);
};

describeStore('a database', makePlace, 'replicas');

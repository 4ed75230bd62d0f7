import pg from 'pg';
import { expect, test } from 'vitest';
import { openPartitions } from '../../../../../store/postgres/delivery-log/partitions.ts';
import { Retries } from '../../../../../store/postgres/delivery-log/retries.ts';

test.for([
  ['a defect of this program', new TypeError('x is not a function'), 1],
  ['a statement that PostgreSQL refuses', databaseError('22P02'), 1],
  ['a connection that was reset', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), 2],
  ['a connection that the driver closed', new Error('Connection terminated unexpectedly'), 2],
  ['a server that stops', databaseError('57P01'), 2],
  ['a deadlock', databaseError('40P01'), 2],
] as const)('after %s, work is sent again only if that can help', async ([_, error, attemptsExpected]) => {
  const pool = new pg.Pool();
  const retries = new Retries(pool, openPartitions(pool));
  let attempts = 0;
  const work = retries.run(async attempt => {
    attempts = attempt;
    if (attempt === 1) throw error;
  });
  await work.catch(thrown => expect(thrown).toBe(error));
  expect(attempts).toBe(attemptsExpected);
});

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('failed', 0, 'error'), { code });
}

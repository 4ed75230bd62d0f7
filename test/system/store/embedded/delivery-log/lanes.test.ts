import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createSortableId } from '../../../../../schema/ids.ts';
import { openDatabase } from '../../../../../store/embedded/delivery-log/sql/database.ts';
import { prepareLanes } from '../../../../../store/embedded/delivery-log/sql/lanes.ts';
import {
  prepareChangeRun,
  prepareSupersede,
} from '../../../../../store/embedded/delivery-log/sql/run-changes.ts';
import { prepareRunVerbs } from '../../../../../store/embedded/delivery-log/sql/runs.ts';
import { openSeries } from '../../../../../store/embedded/delivery-log/sql/series.ts';
import { openSnapshots } from '../../../../../store/embedded/delivery-log/sql/snapshots.ts';
import { SqliteDatabase, type Statement } from '../../../../../store/home/sqlite.ts';
import { temporaryFile } from './delivery-log-samples.ts';

const flow = JSON.stringify({
  limit: { lane: 'limit', runs: 1 },
  order: { lane: 'order', hold: true },
  runsPerHour: 10,
});

/** Says which statements are executed. */
class WatchedDatabase extends SqliteDatabase {
  readonly #onExecuted: (sql: string) => void;

  constructor(file: string, onExecuted: (sql: string) => void) {
    super(file);
    this.#onExecuted = onExecuted;
  }

  override prepare<P, R>(sql: string) {
    return this.#watch(sql, super.prepare<P, R>(sql));
  }

  override prepareArrays<P, R>(sql: string) {
    return this.#watch(sql, super.prepareArrays<P, R>(sql));
  }

  #watch<P extends readonly unknown[], R>(sql: string, statement: Statement<P, R>): Statement<P, R> {
    const watched =
      <A extends readonly unknown[], T>(execute: (...given: A) => T) =>
      (...given: A) => {
        this.#onExecuted(sql);
        return execute.apply(statement, given as never);
      };
    const { run, get, all, iterate } = statement;
    return { run: watched(run), get: watched(get), all: watched(all), iterate: watched(iterate) };
  }
}

/** Fills a log with two runs that are due, and others of their lanes that wait. Records the statements of verbs. */
function fillLog(parked: number) {
  const file = temporaryFile();
  openDatabase(file).close();
  const statements: string[] = [];
  const database = new WatchedDatabase(file, sql => statements.push(sql));
  onTestFinished(() => void database.close());
  database.exec(`
    INSERT INTO series (key, factory, webhook, uid, outcome) VALUES (1, 'default', 'pay', 'uid', 'Accepted');
    INSERT INTO deliveries (seq, id, series, at_ms, size) VALUES (1, 'dlv', 1, 0, 0);
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${parked + 2})
    INSERT INTO runs (id, delivery, factory, automation, replay, not_before_ms, created_at_ms, flow, parked)
      SELECT 'run_' || n, 1, 'default', 'triage', 0, 0, 0, 
        iif(n > 2 AND n % 2 = 0, json_set('${flow}', '$.order.lane', 'order ' || n), '${flow}'),
        CASE WHEN n <= 2 THEN NULL WHEN n % 2 = 0 THEN 'limit' ELSE 'order' END FROM numbers`);
  const lanes = prepareLanes(database);
  const change = prepareChangeRun(database, lanes);
  const verbs = prepareRunVerbs(database, {
    ...{ snapshots: openSnapshots(database), series: openSeries(database), lanes, change },
    supersede: prepareSupersede(database, change),
  });
  const watch = <T>(work: () => T) => {
    statements.length = 0;
    return { result: work(), statements: [...statements] };
  };
  return { database, verbs, watch };
}

test('a claim and an end take the same steps, each by an index, however many runs are parked', () => {
  const daemonId = createSortableId('run', 0, randomBytes(16));
  const [few = [], many] = [10, 100_000].map(parked => {
    const { database, verbs, watch } = fillLog(parked);
    const { result, statements } = watch(() => {
      const { runs } = verbs.claimRuns({ daemonId, nowMs: 1, places: { default: 4 } });
      const [run] = runs;
      if (run) verbs.finishRun({ ...run, state: 'succeeded', atMs: 1 });
      verbs.correctDueTimes({ nowMs: 1, backMs: 1_000 });
      return runs;
    });
    expect(result).toMatchObject([{ id: 'run_1' }]);
    return statements.map(statement => {
      const plan = database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement}`).all();
      return { statement, plan: plan.map(({ detail }) => detail) };
    });
  });
  expect(many).toEqual(few);
  const details = few.flatMap(({ plan }) => plan);
  expect(details).toContainEqual(expect.stringMatching(/^SEARCH runs USING/));
  // The first run in the order of an index is found without a scan of it, and so is the first one of each factory.
  const allowed = (detail: string) =>
    ['SCAN runs USING INDEX runs_due', 'SCAN CONSTANT ROW', 'SCAN heads', 'SCAN pauses'].includes(detail) ||
    !/SCAN|TEMP/.test(detail);
  expect(few.filter(({ plan }) => !plan.every(allowed))).toEqual([]);
  expect(details).toContain('SEARCH runs USING INDEX runs_due (runner=? AND factory>?)');
});

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type PostgresServer, query } from '../../test/support/postgres.ts';
import { type BenchFactory, type BenchWebhook, openFactory, type RunningDaemon } from '../support/factory.ts';

/** A database with one webhook, and the daemons that serve it. */
export interface Stage extends BenchWebhook {
  readonly store: string;
  readonly factory: BenchFactory;
  serve(replica: string, settings?: object): Promise<RunningDaemon>;
}

export async function makeStage(server: PostgresServer, directory: string): Promise<Stage> {
  const store = await server.createDatabase();
  const environment = { HOOKMILL_STORE: store, HOOKMILL_KEY: randomBytes(32).toString('base64') };
  const factory = openFactory(join(directory, 'factory'), environment);
  return {
    ...{ store, factory },
    ...(await factory.applyLoad()),
    serve: (replica, settings) =>
      openFactory(join(directory, replica), { ...environment, REPLICA: replica }).serve(settings),
  };
}

const rowsPerStatement = 1_000_000;
const days = 6;

/** Fills the log with accepted deliveries of the last days, each day in its partition, before a daemon serves it. */
export async function fillLog({ store, uid }: Stage, rows: number): Promise<void> {
  const run = (text: string, values?: unknown[]) => query(store, text, values);
  await run(
    'DROP INDEX hookmill.accepted_by_identity, hookmill.accepted_by_content, hookmill.accepted_by_day',
  );
  const today = Math.floor(Date.now() / 86_400_000);
  const perDay = Math.ceil(rows / days);
  for (let index = 0; index < days; index++) {
    const day = today - days + index;
    await run(`CREATE TABLE hookmill.deliveries_${day} (LIKE hookmill.deliveries INCLUDING DEFAULTS)`);
    for (let done = 0; done < perDay; done += rowsPerStatement) {
      const first = index * perDay + done;
      const last = first + Math.min(rowsPerStatement, perDay - done) - 1;
      await run(insertDeliveries(day), [first, last, uid]);
    }
    await run(`
      ALTER TABLE hookmill.deliveries ATTACH PARTITION hookmill.deliveries_${day} FOR VALUES IN (${day});
      CREATE TABLE hookmill.runs_${day} PARTITION OF hookmill.runs FOR VALUES IN (${day})`);
  }
  await run(`
    CREATE UNIQUE INDEX accepted_by_identity ON hookmill.accepted (identity);
    CREATE UNIQUE INDEX accepted_by_content ON hookmill.accepted (content) WHERE content IS NOT NULL;
    CREATE INDEX accepted_by_day ON hookmill.accepted (day)`);
  await run('VACUUM ANALYZE');
  await run('CHECKPOINT');
}

function insertDeliveries(day: number): string {
  return `
    WITH given AS (
      SELECT n, 'dlv_' || lpad(n::text, 26, '0') AS id, 'identity ' || n AS identity
      FROM generate_series($1::bigint, $2::bigint) AS n
    ), accepted AS (
      INSERT INTO hookmill.accepted (identity, delivery_id, day)
      SELECT hookmill.accepted_key($3, 'header', identity), id, ${day} FROM given
    )
    INSERT INTO hookmill.deliveries_${day}
      (day, id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source, authenticated_by, payload)
    SELECT ${day}, id, 'default', 'load', $3, ${day}::bigint * 86400000 + n % 86400000, 100, 'Accepted', identity, 'header',
      'token', convert_to(repeat('x', 100), 'UTF8')
    FROM given`;
}

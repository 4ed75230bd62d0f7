import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execaSync } from 'execa';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openBackup } from '../../../../store/backup/open-backup.ts';
import {
  deliveryLogMigrations,
  migrate,
  readSchemaVersion,
  schemaVersionCurrent,
} from '../../../../store/embedded/delivery-log/sql/migrations.ts';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { openStore } from '../../../../store/open-store.ts';
import { transferTables } from '../../../../store/ports/transfer.ts';
import {
  migrateTables,
  readTablesVersion,
  tablesMigrations,
  tablesVersionCurrent,
} from '../../../../store/postgres/migrations.ts';
import { startDaemonForTest } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { usePostgres } from '../../../support/postgres.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const server = usePostgres();
const folder = join(import.meta.dirname, '../../../fixtures/homes');
const versions = readdirSync(folder).filter(file => file.endsWith('.tar.gz'));

interface Row {
  readonly id?: string;
  readonly state?: string;
  readonly identity?: string;
  readonly outcome?: string;
  /** What starting a daemon may change. */
  readonly url?: string;
  readonly health?: object;
  /** Known to the daemon that last had the home. */
  readonly attemptsMax?: number;
}

/** Makes a copy of the home that a version made. Also returns what that version's own commands said of it. */
function unpackHome(file: string) {
  const workspace = makeWorkspace();
  execaSync('tar', ['-xzf', join(folder, file), '--no-same-owner', '-C', workspace.directory]);
  const answers: Record<string, readonly Row[]> = JSON.parse(workspace.read('answers.json'));
  return { workspace, answers };
}

/** Expects that commands say the same as those of the version that made the home. */
async function expectSame(
  workspace: Workspace,
  answers: Readonly<Record<string, readonly Row[]>>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [words, before] of Object.entries(answers)) {
    // A daemon executes what is queued.
    const kept = before.map(({ url, health, attemptsMax, ...row }) =>
      row.state === 'queued' ? { id: row.id } : row,
    );
    expect(await list(workspace, words, env), words).toMatchObject(kept);
  }
}

async function list(
  workspace: Workspace,
  words: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Row[]> {
  return JSON.parse((await workspace.hookmill(...words.split(' '), '-o', 'json', { env })).stdout);
}

test('there are homes to open', () => {
  expect(versions).toContain('0.1.0.tar.gz');
});

interface Report {
  readonly isSame: boolean;
}

describe.for(versions.map(file => file.replace('.tar.gz', '')))('the backup of %s', version => {
  const backup = join(folder, `${version}.backup`);
  const atHome = { HOOKMILL_HOME: 'restored' };
  const unpack = () => {
    const { workspace, answers } = unpackHome(`${version}.tar.gz`);
    return { workspace, answers, key: workspace.read('.hookmill/key').trim() };
  };

  test.for(['a home', 'a database'])(
    'is restored to %s, with everything that was in the home',
    async kind => {
      const { workspace, key, answers } = unpack();
      const url = await server.createDatabase();
      const env = { HOOKMILL_KEY: key, ...(kind === 'a home' ? atHome : { HOOKMILL_STORE: url }) };
      const restored = await workspace.hookmill('store', 'restore', backup, '-o', 'json', { env });
      const report: Report = JSON.parse(restored.stdout);
      expect({ exitCode: restored.exitCode, isSame: report.isSame }).toEqual({ exitCode: 0, isSame: true });
      await expectSame(workspace, answers, env);
      const planned = await workspace.hookmill('plan', '--detailed-exitcode', { env });
      expect(planned.exitCode, planned.stderr).toBe(0);
    },
  );

  test('has every column that a backup of now has: those added since have a default', async () => {
    const { workspace, key } = unpack();
    const env = { HOOKMILL_KEY: key, ...atHome };
    for (const words of [
      ['restore', backup],
      ['backup', 'new'],
    ]) {
      const { exitCode, stderr } = await workspace.hookmill('store', ...words, { env });
      expect(exitCode, stderr).toBe(0);
    }
    const [then, now] = [await readColumns(backup, key), await readColumns(workspace.path('new'), key)];
    expect(then).toEqual(now);
    expect(then.runs?.length).toBeGreaterThan(9);
  });
});

/** The columns of each kind of rows in a backup that has some. */
async function readColumns(file: string, key: string): Promise<Partial<Record<string, string[]>>> {
  const environment = { HOOKMILL_KEY: key };
  const given = { environment, lockTimeoutMs: 1_000, readsInThread: false, now: () => new Date() };
  const { seal } = await openStore({ home: makeWorkspace().home, ...given });
  const opened = await openBackup(file, seal);
  onTestFinished(() => opened.close());
  const columns = await Promise.all(
    transferTables.map(async table => {
      const factory = table === 'audit' ? '' : 'default';
      const [row] = await opened[table].read(factory, 0);
      return [table, row && Object.keys(row).sort()] as const;
    }),
  );
  return Object.fromEntries(columns.filter(([, names]) => names));
}

test.for(versions)('everything in the home of %s is there, and a daemon takes new deliveries', async file => {
  const { workspace, answers } = unpackHome(file);
  await startDaemonForTest({ workspace, settings: JSON.parse(workspace.read('daemon.json')) });
  await expectSame(workspace, answers);
  const planned = await workspace.hookmill('plan', '--detailed-exitcode');
  expect(planned.exitCode, planned.stderr).toBe(0);
  const succeeded = answers['runs list']?.find(({ state }) => state === 'succeeded')?.id ?? '';
  expect((await workspace.hookmill('runs', 'logs', succeeded)).stdout).toContain('looking into it');
  const send = async (webhook: string, id: string) =>
    (await workspace.hookmill('send', webhook, '--payload', 'payload.json', '--delivery-id', id)).stdout;
  const accepted = answers['deliveries list']?.filter(({ outcome }) => outcome === 'Accepted') ?? [];
  const webhooks = { 'deploy-1': 'deploys', 'form-1': 'forms', 'push-1': 'code' };
  for (const [identity, webhook] of Object.entries(webhooks)) {
    const first = accepted.find(delivery => delivery.identity === identity)?.id ?? 'none';
    expect(await send(webhook, identity)).toContain(`Duplicate of ${first}`);
    expect(await send(webhook, `${identity}-again`)).toMatch(/dlv_/);
  }
  expect((await list(workspace, 'deliveries list')).map(({ outcome }) => outcome).sort()).toEqual([
    ...Array(6).fill('Accepted'),
    ...Array(4).fill('Duplicate'),
  ]);
  // The one that was queued, and that of the new delivery.
  const runs = await eventually(async () => {
    const all = await list(workspace, 'runs list');
    return all.length === 3 && all.every(({ state }) => state === 'succeeded') && all;
  });
  const before = answers['runs list'] ?? [];
  expect(runs.map(({ id }) => id)).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
});

test.for(versions)('the delivery log of format 101 in the home of %s gets the index of claims', file => {
  const { workspace } = unpackHome(file);
  const database = new SqliteDatabase(join(workspace.home, 'deliveries.db'));
  onTestFinished(() => void database.close());
  expect(readSchemaVersion(database)).toBe(101);
  migrate(database);
  expect(readSchemaVersion(database)).toBe(schemaVersionCurrent);
  const columns = database.prepareColumn("SELECT name FROM pragma_index_info('runs_due') ORDER BY seqno");
  expect(columns.all()).toEqual(['runner', 'factory', 'not_before_ms']);
});

test('a database of version 101 gets the index of claims, in each partition too', async () => {
  const pool = new pg.Pool({ connectionString: await server.createDatabase() });
  onTestFinished(() => pool.end());
  await migrateTables(pool, tablesMigrations.slice(0, 1));
  expect(await readTablesVersion(pool)).toEqual({ version: 101, compatibleFrom: 101 });
  await migrateTables(pool);
  expect(await readTablesVersion(pool)).toEqual({ version: tablesVersionCurrent, compatibleFrom: 101 });
  const { rows } = await pool.query<{ table: string }>(`
    SELECT tablename AS table FROM pg_indexes
    WHERE schemaname = 'hookmill' AND indexdef LIKE '%''default''::text), factory, not_before_ms, seq)%' ORDER BY 1`);
  expect(rows.map(({ table }) => table)).toEqual(['runs', 'runs_0']);
});

/** Writes a migration that no version has, and returns its place. */
function writeMigration(workspace: Workspace, sql: string): URL {
  const file = `${hash('sha256', sql)}.sql`;
  workspace.write(file, sql);
  return pathToFileURL(workspace.path(file));
}

const failing = 'INSERT INTO missing VALUES (1)';

test.for(versions)(
  'the delivery log in the home of %s stays as it was if a next migration fails, keeps everything if not, and is then refused',
  async file => {
    const { workspace, answers } = unpackHome(file);
    const database = new SqliteDatabase(join(workspace.home, 'deliveries.db'));
    onTestFinished(() => void database.close());
    // As the product opens it.
    database.pragma('foreign_keys = ON');
    // Deliveries refer to series, so this is the hardest kind of change.
    const rebuild = writeMigration(
      workspace,
      `CREATE TABLE wider (
        key INTEGER PRIMARY KEY, factory TEXT NOT NULL, webhook TEXT NOT NULL, uid TEXT NOT NULL, outcome TEXT NOT NULL,
        authenticated_by TEXT, identity_source TEXT, verified_with TEXT, note TEXT NOT NULL
      ) STRICT;
      INSERT INTO wider SELECT *, 'kept' FROM series;
      DROP TABLE series;
      ALTER TABLE wider RENAME TO series;`,
    );
    migrate(database);
    const fails = [...deliveryLogMigrations, rebuild, writeMigration(workspace, failing)];
    expect(() => migrate(database, fails)).toThrow('no such table: missing');
    expect(readSchemaVersion(database)).toBe(schemaVersionCurrent);
    await expectSame(workspace, answers);

    migrate(database, [...deliveryLogMigrations, rebuild]);
    expect(readSchemaVersion(database)).toBe(schemaVersionCurrent + 1);
    expect(database.pragma('foreign_key_check')).toBeUndefined();
    expect(database.prepareColumn('SELECT DISTINCT note FROM series').all()).toEqual(['kept']);
    const { exitCode, stderr } = await workspace.hookmill('deliveries', 'list');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `the delivery log has format ${schemaVersionCurrent + 1}, but this hookmill reads`,
    );
    expect(stderr).toContain('use the newer hookmill that wrote it');
    database.pragma('user_version = 6');
    const unreleased = await workspace.hookmill('deliveries', 'list');
    expect(unreleased.stderr).toMatch(
      /has format 6, .*a development version wrote it: export its definitions with/,
    );
    expect(() => migrate(database)).toThrow('a development version wrote it');
    // This version can still read these tables: only their number is a newer one.
    database.pragma(`user_version = ${schemaVersionCurrent}`);
    await expectSame(workspace, answers);
  },
);

test.for(versions)(
  'a database with the backup of %s stays as it was if a next migration fails, keeps everything if not, and is refused if that needs a newer version',
  async file => {
    const { workspace, answers } = unpackHome(file);
    const url = await server.createDatabase();
    const env = { HOOKMILL_KEY: workspace.read('.hookmill/key').trim(), HOOKMILL_STORE: url };
    const backup = join(folder, file.replace('.tar.gz', '.backup'));
    expect(await workspace.hookmill('store', 'restore', backup, { env })).toMatchObject({ exitCode: 0 });
    const pool = new pg.Pool({ connectionString: url });
    onTestFinished(() => pool.end());
    const next = (sql: string, compatibleFrom = tablesVersionCurrent) => ({
      sql: writeMigration(workspace, sql),
      compatibleFrom,
    });
    const expand = next("ALTER TABLE hookmill.runs ADD COLUMN note text NOT NULL DEFAULT 'kept'");
    await expect(migrateTables(pool, [...tablesMigrations, expand, next(failing)])).rejects.toThrow(
      '"missing" does not exist',
    );
    expect(await readTablesVersion(pool)).toMatchObject({ version: tablesVersionCurrent });
    await expectSame(workspace, answers, env);

    await migrateTables(pool, [...tablesMigrations, expand]);
    expect((await pool.query('SELECT DISTINCT note FROM hookmill.runs')).rows).toEqual([{ note: 'kept' }]);
    await expectSame(workspace, answers, env);
    expect(await workspace.hookmill('store', 'migrate', { env })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`have version ${tablesVersionCurrent + 1} already`),
    });

    const contract = next('ALTER TABLE hookmill.runs DROP COLUMN note', tablesVersionCurrent + 2);
    await migrateTables(pool, [...tablesMigrations, expand, contract]);
    const { exitCode, stderr } = await workspace.hookmill('deliveries', 'list', { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`the database has format ${tablesVersionCurrent + 2}, but this hookmill writes`);
    expect(stderr).toContain('use the newer hookmill that migrated it');
    const checked = await workspace.hookmill('store', 'check', { env });
    expect(checked.exitCode).toBe(1);
    expect(checked.stdout).toContain('a newer hookmill has changed the tables: use that version');
    await pool.query('UPDATE hookmill.migrations SET version = version - 100');
    const unreleased = await workspace.hookmill('store', 'migrate', { env });
    expect(unreleased.stderr).toContain(
      'a development version made it: export its definitions with that version',
    );
  },
);

test.for([
  ['.hookmill/applied/default.json', 'webhooks list'],
  ['.hookmill/secrets.json', 'secrets list'],
  ['.hookmill/tokens.json', 'tokens list'],
] as const)('%s of a newer format is refused, and stays as it is', async ([file, words]) => {
  const { workspace } = unpackHome(versions.at(-1) ?? '');
  // A development version had the applied states in directories of their factories.
  await workspace.hookmill(...words.split(' '));
  const newer = workspace.read(file).replace('"formatVersion": 1', '"formatVersion": 2');
  workspace.write(file, newer);
  const { exitCode, stderr } = await workspace.hookmill(...words.split(' '));
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `${file.split('/').at(-1)} was written by another version of hookmill; use that version`,
  );
  expect(workspace.read(file)).toBe(newer);
});

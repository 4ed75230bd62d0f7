import { hash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { openPostgresStore } from '../../../../store/postgres/postgres-store.ts';
import { acceptedDelivery, newRun } from '../../../support/deliveries.ts';
import { query, usePostgres } from '../../../support/postgres.ts';
import { storeIn } from '../../../support/stored.ts';
import { makeWorkspace, type RunOptions } from '../../../support/workspace.ts';

const server = usePostgres();
const key = randomBytes(32).toString('base64');
const password = 'canary-pa55word';
let env: Readonly<Record<string, string>>;
const createDatabase = async () => {
  env = { HOOKMILL_STORE: await server.createDatabase(), HOOKMILL_KEY: key };
};

describe('with HOOKMILL_STORE', () => {
  beforeEach(createDatabase);

  test('what one machine applied is there for another, and no home has it', async () => {
    const [here, there] = [makeWorkspace(), makeWorkspace()];
    here.write('webhooks/deploys.yaml', 'secretName: DEPLOYS\n');
    const generated = await here.hookmill('secrets', 'generate', 'DEPLOYS', { env });
    expect(generated).toMatchObject({ exitCode: 0, stderr: expect.any(String) });
    expect(await here.hookmill('apply', { env })).toMatchObject({ exitCode: 0 });
    expect(existsSync(here.path('.hookmill/secrets.json'))).toBe(false);

    const read = async (...args: string[]) =>
      JSON.parse((await there.hookmill(...args, '-o', 'json', { env })).stdout);
    expect(await read('webhooks', 'list')).toMatchObject([{ name: 'deploys', secretName: 'DEPLOYS' }]);
    expect(await read('secrets', 'list')).toMatchObject([
      { name: 'DEPLOYS', usedBy: [{ webhook: 'deploys' }] },
    ]);
    expect(await read('status')).toMatchObject({ serial: 1 });
    const { HOOKMILL_STORE = '' } = env;
    const stored = await query(HOOKMILL_STORE, 'SELECT string_agg(json, $1) AS all FROM hookmill.documents', [
      '',
    ]);
    expect(stored.rows[0].all).not.toContain(generated.stdout.trim());
  });

  test('a factory that only hookmill.yaml names is not applied from another directory', async () => {
    const apply = async () => {
      const workspace = makeWorkspace();
      workspace.write('hookmill.yaml', 'factory: shop\n');
      workspace.write('webhooks/a.yaml', 'secretName: T\n');
      return workspace.hookmill('apply', { env });
    };
    const { hookmill } = makeWorkspace();
    await hookmill('secrets', 'generate', 'T', '--factory', 'shop', { env });
    expect(await apply()).toMatchObject({ exitCode: 0 });
    expect(await apply()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--factory shop') });
  });

  test('the key must be in HOOKMILL_KEY: the home of one machine is no place for it', async () => {
    const { HOOKMILL_STORE = '' } = env;
    const { hookmill } = makeWorkspace();
    const { stderr, exitCode } = await hookmill('secrets', 'generate', 'T', { env: { HOOKMILL_STORE } });
    expect(stderr).toMatch(/^hookmill: a store in PostgreSQL needs HOOKMILL_KEY/);
    expect(exitCode).toBe(1);
  });

  test('an unreachable database is named without its password', async () => {
    const unreachable = { HOOKMILL_STORE: `postgres://hookmill:${password}@127.0.0.1:1/db` };
    const { stderr, exitCode } = await makeWorkspace().hookmill('webhooks', 'list', { env: unreachable });
    expect(stderr).toMatch(/^hookmill: the database 127\.0\.0\.1:1\/db cannot be reached \(ECONNREFUSED\)/);
    expect(stderr).not.toContain(password);
    expect(exitCode).toBe(1);
  });
});

test.for<readonly [string, readonly string[], RunOptions['env'], string]>([
  ['a password in --store', ['--store', `postgres://u:${password}@h/db`], {}, 'must not contain a password'],
  [
    'a password in a parameter of --store',
    ['--store', `postgres://u@h/db?password=${password}`],
    {},
    'must not contain a password',
  ],
  ['another kind of URL', ['--store', `https://u:${password}@h/db`], {}, '--store must be a URL like'],
  ['no URL', [], { HOOKMILL_STORE: `u:${password}@h/db` }, 'HOOKMILL_STORE must be a URL like'],
  ['a password with /', [], { HOOKMILL_STORE: `postgres://u:1/${password}@h/db` }, 'percent-encode'],
  ['a password with ?', [], { HOOKMILL_STORE: `postgres://u:1?${password}@h/db` }, 'percent-encode'],
  ['a password with #', [], { HOOKMILL_STORE: `postgres://u:1#${password}@h/db` }, 'percent-encode'],
  [
    'a loss that is not written out',
    ['--store', 'postgres://u@h/db'],
    { HOOKMILL_STORE_MAY_LOSE: 'yes' },
    'HOOKMILL_STORE_MAY_LOSE must be accepted-deliveries',
  ],
  [
    'no URL for notifications',
    ['--store', 'postgres://u@h/db'],
    { HOOKMILL_STORE_DIRECT: `//${password}` },
    'HOOKMILL_STORE_DIRECT must be a URL like',
  ],
])('%s is refused, and not repeated', async ([_, args, env = {}, message]) => {
  const { stdout, stderr, exitCode } = await makeWorkspace().hookmill('status', ...args, { env });
  expect(stderr).toContain(message);
  expect(stdout + stderr).not.toContain(password);
  expect(exitCode).toBe(2);
});

describe('store', () => {
  beforeEach(createDatabase);

  test('migrate creates the tables once, and check then finds no problem', async () => {
    const { hookmill } = makeWorkspace();
    const { HOOKMILL_STORE = '' } = env;
    const before = await hookmill('store', 'check', '--store', HOOKMILL_STORE);
    expect(before.stdout).toContain('problem: there are no tables: run `hookmill store migrate`');
    expect(before.exitCode).toBe(1);
    const migrated = await hookmill('store', 'migrate', '--store', HOOKMILL_STORE);
    expect(migrated.stdout).toMatch(/^Migrated the tables from version 0 to \d+\.$/m);
    expect((await hookmill('store', 'migrate', { env })).stdout).toMatch(/have version \d+ already/);
    const entries: object[] = JSON.parse((await hookmill('audit', '-o', 'json', { env })).stdout);
    expect(entries).toMatchObject([{ operation: 'migrateStore', factory: null }]);
    const { stdout, exitCode } = await hookmill('store', 'check', { env });
    expect(stdout).toMatch(/^synchronous_commit +on$/m);
    expect(stdout).toMatch(/\nNo problems found\.\n$/);
    expect(exitCode).toBe(0);
  });

  test('check finds settings that lose deliveries and invalid indexes', async () => {
    const { hookmill } = makeWorkspace();
    const { HOOKMILL_STORE = '' } = env;
    await hookmill('store', 'migrate', { env });
    await query(
      HOOKMILL_STORE,
      `ALTER DATABASE ${new URL(HOOKMILL_STORE).pathname.slice(1)} SET synchronous_commit = off`,
    );
    await query(
      HOOKMILL_STORE,
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'hookmill.accepted_by_day'::regclass`,
    );
    const { stdout, exitCode } = await hookmill('store', 'check', '-o', 'json', { env });
    expect(JSON.parse(stdout).problems).toEqual([
      expect.stringContaining('synchronous_commit is off'),
      expect.stringContaining('the index hookmill.accepted_by_day is invalid'),
    ]);
    expect(exitCode).toBe(1);
  });

  test('a role that may not create tables works with those that the owner migrated', async () => {
    const { hookmill } = makeWorkspace();
    const { HOOKMILL_STORE = '' } = env;
    await query(HOOKMILL_STORE, 'CREATE ROLE clerk LOGIN');
    const asClerk = {
      ...env,
      HOOKMILL_STORE: Object.assign(new URL(HOOKMILL_STORE), { username: 'clerk' }).href,
    };
    const refused = await hookmill('secrets', 'generate', 'T', { env: asClerk });
    expect(refused.stderr).toContain('run `hookmill store migrate` as the owner of the database');
    expect(refused.exitCode).toBe(1);
    await hookmill('store', 'migrate', { env });
    await query(HOOKMILL_STORE, 'GRANT USAGE ON SCHEMA hookmill TO clerk');
    for (const kind of ['TABLES', 'SEQUENCES']) {
      await query(HOOKMILL_STORE, `GRANT ALL ON ALL ${kind} IN SCHEMA hookmill TO clerk`);
    }
    for (const command of [['secrets', 'generate', 'T'], ['status']]) {
      expect(await hookmill(...command, { env: asClerk })).toMatchObject({ exitCode: 0 });
    }
  });

  test('check looks at the delivery log of a home, which needs no migration', async () => {
    const { hookmill } = makeWorkspace();
    await hookmill('secrets', 'declare', 'TOKEN');
    expect((await hookmill('store', 'check')).stdout).toContain('No problems found.');
    expect((await hookmill('store', 'migrate')).stderr).toContain('a home is updated when it is opened');
  });

  test('check finds what is missing in a home', async () => {
    const workspace = makeWorkspace();
    const { hookmill, home, write } = workspace;
    write('webhooks/a.yaml', 'secretName: TOKEN\n');
    await hookmill('secrets', 'generate', 'TOKEN');
    await hookmill('apply');
    write('.hookmill/secrets.json', '{"formatVersion":1,"secrets":[]}');
    const store = storeIn(homeAt(home));
    const log = await store.openDeliveryLog();
    const json = '{"automations":[]}';
    const appliedState = { digest: hash('sha256', json), json };
    await log.recordAccepted(acceptedDelivery({ appliedState, runs: [newRun(), newRun()] }));
    await log.close();
    write(`.hookmill/runs/${newRun().id}/prompt.md`, '');
    write(`.hookmill/run-artifacts/${newRun().id}/report.md`, '');
    const intact = await hookmill('store', 'check', '-o', 'json');
    expect(JSON.parse(intact.stdout)).toMatchObject({
      facts: { 'run files without a run': '2' },
      problems: [
        'the webhook a of the factory default uses the team secret TOKEN, which does not exist: set it, and apply',
      ],
    });
    const database = new SqliteDatabase(homeAt(home).deliveryLogFile);
    database.pragma('foreign_keys = OFF');
    database.exec('DELETE FROM deliveries');
    database.close();
    const { stdout, exitCode } = await hookmill('store', 'check');
    expect(stdout).toContain('problem: 2 rows of runs refer to missing deliveries');
    expect(exitCode).toBe(1);
  });

  test('check finds runs without their delivery in PostgreSQL', async () => {
    const { hookmill, home } = makeWorkspace();
    const { HOOKMILL_STORE: url = '' } = env;
    const options = { home, environment: env, lockTimeoutMs: 5_000, readsInThread: false };
    const store = openPostgresStore({ ...options, postgres: { url, mayLose: false }, now: () => new Date() });
    const log = await store.openDeliveryLog();
    await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
    await log.close();
    await store.close();
    expect(await hookmill('store', 'check', { env })).toMatchObject({ exitCode: 0 });
    await query(url, 'DELETE FROM hookmill.deliveries');
    const { stdout, exitCode } = await hookmill('store', 'check', { env });
    expect(stdout).toContain('problem: 1 runs have no delivery: restore a backup');
    expect(exitCode).toBe(1);
  });
});

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { execaSync } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openBackup } from '../../store/backup/open-backup.ts';
import { readSchemaVersion, schemaVersionCurrent } from '../../store/embedded/delivery-log/sql/migrations.ts';
import { openStore } from '../../store/open-store.ts';
import { transferTables } from '../../store/transfer.ts';
import { startDaemonForTest } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { usePostgres } from '../support/postgres.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const server = usePostgres();
const folder = join(import.meta.dirname, '../fixtures/homes');
const versions = readdirSync(folder).filter(file => file.endsWith('.tar.gz'));

interface Row {
  readonly id?: string;
  readonly state?: string;
  readonly identity?: string;
  readonly outcome?: string;
  /** What starting a daemon may change. */
  readonly url?: string;
  readonly health?: object;
}

/** Starts a daemon on a copy of the home that a version made. Also returns what that version's own commands said of it. */
async function serveHome(file: string) {
  const workspace = makeWorkspace();
  execaSync('tar', ['-xzf', join(folder, file), '--no-same-owner', '-C', workspace.directory]);
  const answers: Record<string, readonly Row[]> = JSON.parse(workspace.read('answers.json'));
  await startDaemonForTest({ workspace, settings: JSON.parse(workspace.read('daemon.json')) });
  return { workspace, answers };
}

async function list(
  workspace: Workspace,
  words: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Row[]> {
  return JSON.parse((await workspace.hookmill(...words.split(' '), '-o', 'json', { env })).stdout);
}

// No version was released yet. The fixtures of 0.1.0 were made on the way to it, and have an older form of the delivery log.
test.for(versions)(
  'the home of %s has an older form than a home of now, until a daemon opens it',
  async file => {
    const directory = makeWorkspace().path('');
    execaSync('tar', ['-xzf', join(folder, file), '--no-same-owner', '-C', directory]);
    const readForm = (home: string) => {
      const database = new Database(join(home, 'deliveries.db'), { readonly: true });
      onTestFinished(() => void database.close());
      return readSchemaVersion(database);
    };
    const form = readForm(join(directory, '.hookmill'));
    expect(form).toBeGreaterThan(0);
    expect(form).toBeLessThan(schemaVersionCurrent);
    const { workspace } = await serveHome(file);
    expect(readForm(workspace.home)).toBe(schemaVersionCurrent);
  },
);

test('there are homes to open', () => {
  expect(versions).toContain('0.1.0.tar.gz');
});

test.for(versions)('everything in the home of %s is there, and nothing is left to apply', async file => {
  const { workspace, answers } = await serveHome(file);
  for (const [words, before] of Object.entries(answers)) {
    // The daemon executes what is queued.
    const kept = before.map(({ url, health, ...row }) => (row.state === 'queued' ? { id: row.id } : row));
    expect(await list(workspace, words), words).toMatchObject(kept);
  }
  const planned = await workspace.hookmill('plan', '--detailed-exitcode');
  expect(planned.exitCode, planned.stderr).toBe(0);
  const succeeded = answers['runs list']?.find(({ state }) => state === 'succeeded')?.id ?? '';
  expect((await workspace.hookmill('runs', 'logs', succeeded)).stdout).toContain('looking into it');
});

interface Report {
  readonly isSame: boolean;
}

describe.for(versions.map(file => file.replace('.tar.gz', '')))('the backup of %s', version => {
  const backup = join(folder, `${version}.backup`);
  const atHome = { HOOKMILL_HOME: 'restored' };
  const unpack = () => {
    const workspace = makeWorkspace();
    execaSync('tar', [
      '-xzf',
      join(folder, `${version}.tar.gz`),
      '--no-same-owner',
      '-C',
      workspace.directory,
    ]);
    const key = workspace.read('.hookmill/key').trim();
    const answers: Record<string, readonly Row[]> = JSON.parse(workspace.read('answers.json'));
    return { workspace, key, answers };
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
      for (const [words, before] of Object.entries(answers)) {
        const kept = before.map(({ url, health, ...row }) => (row.state === 'queued' ? { id: row.id } : row));
        expect(await list(workspace, words, env), words).toMatchObject(kept);
      }
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

test.for(versions)('a daemon knows the deliveries in the home of %s, and takes new ones', async file => {
  const { workspace, answers } = await serveHome(file);
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

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { query, usePostgres } from '../../../support/postgres.ts';
import { fillDisk, mountSmallDisk } from '../../../support/small-disk.ts';
import { hasStrace, signalAt } from '../../../support/strace.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const server = usePostgres();

interface Found {
  /** Whether the token is there. */
  readonly isMade: boolean;
  /** The entries of the change: nothing, a finished one or an unfinished one. */
  readonly entries: readonly (undefined | true)[];
}

/** Finds out whether a token exists, and the entries of its creation. */
async function find(workspace: Workspace, env: Record<string, string> = {}): Promise<Found> {
  const read = async (...args: string[]) =>
    JSON.parse((await workspace.hookmill(...args, '-o', 'json', { env })).stdout);
  const tokens: { name: string }[] = await read('tokens', 'list');
  const entries: { operation: string; unfinished?: true }[] = await read('audit');
  return {
    isMade: tokens.some(({ name }) => name === 'ci'),
    entries: entries
      .filter(({ operation }) => operation === 'createToken')
      .map(({ unfinished }) => unfinished),
  };
}

const create = ['tokens', 'create', 'ci'];
const unfinished = { entries: [true] };
const finished = { isMade: true, entries: [undefined] };

describe('a command that is killed at any step leaves no change without an entry', () => {
  test('in a home, at any fsync', async ({ skip }) => {
    skip(!hasStrace, 'needs strace');
    const workspace = makeWorkspace();
    await workspace.hookmill('secrets', 'declare', 'A');
    // One thread for all file operations, so that their order is their number.
    const env = { UV_THREADPOOL_SIZE: '1' };
    const found = await killAtEach('fsync', { first: 1, step: 1 }, async (n, through) => {
      const home = workspace.path(`home-${n}`);
      cpSync(workspace.home, home, { recursive: true });
      const { exitCode } = await workspace.hookmill(...create, '--home', home, { through, env });
      return { exitCode, ...(await find(workspace, { HOOKMILL_HOME: home })) };
    });
    expect(found).toContainEqual({ isMade: false, ...unfinished });
    expect(found).toContainEqual({ isMade: true, ...unfinished });
  });

  test('in PostgreSQL, at any message to the server', async ({ skip }) => {
    skip(!hasStrace, 'needs strace');
    const workspace = makeWorkspace();
    // The first messages only connect, and each step of the change has several.
    const points = inject('isLong') ? { first: 1, step: 1 } : { first: 4, step: 3 };
    const found = await killAtEach('write', points, async (_, through) => {
      const env = { HOOKMILL_STORE: await server.createDatabaseWithTables() };
      const { exitCode } = await workspace.hookmill(...create, { through, env });
      return { exitCode, ...(await find(workspace, env)) };
    });
    expect(found).toContainEqual({ isMade: false, ...unfinished });
    expect(found).toContainEqual({ isMade: false, entries: [] });
  });
});

/** Runs a command that is killed at a call, at a later one each time, until it ends by itself. Returns what it left. */
async function killAtEach(
  call: string,
  { first, step }: { readonly first: number; readonly step: number },
  run: (n: number, through: string[]) => Promise<Found & { readonly exitCode: number | undefined }>,
): Promise<Found[]> {
  const left: Found[] = [];
  for (let n = first; ; n += step) {
    const { exitCode, ...found } = await run(n, signalAt(call, 'SIGKILL', n));
    if (exitCode === 0) {
      expect(found).toEqual(finished);
      return left;
    }
    if (found.isMade) expect(found.entries).toHaveLength(1);
    left.push(found);
  }
}

describe('a fault of the audit log', () => {
  test('before a change prevents it, after it leaves an unfinished entry', async () => {
    const workspace = makeWorkspace();
    const url = await server.createDatabase();
    const env = { HOOKMILL_STORE: url };
    await workspace.hookmill('store', 'migrate', { env });
    await query(
      url,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space'; END $$`,
    );
    const refuse = (event: string) =>
      query(url, `CREATE TRIGGER refuse BEFORE ${event} ON hookmill.audit EXECUTE FUNCTION refuse()`);
    await refuse('INSERT');
    expect(await workspace.hookmill(...create, { env })).toMatchObject({ exitCode: 3 });
    expect(await find(workspace, env)).toEqual({ isMade: false, entries: [] });
    await query(url, 'DROP TRIGGER refuse ON hookmill.audit');
    await refuse('UPDATE');
    expect(await workspace.hookmill(...create, { env })).toMatchObject({ exitCode: 0 });
    expect(await find(workspace, env)).toEqual({ isMade: true, ...unfinished });
    const { stdout } = await workspace.hookmill('audit', { env });
    expect(stdout).toContain('create token (unfinished)');
  });

  test('such as a full disk prevents the change', async ({ skip }) => {
    const workspace = makeWorkspace();
    await workspace.hookmill('secrets', 'declare', 'A');
    const home = workspace.path('small');
    cpSync(workspace.home, home, { recursive: true });
    if (!mountSmallDisk(home, '256k')) return skip('needs the right to mount a tmpfs');
    cpSync(workspace.home, home, { recursive: true });
    fillDisk(join(home, 'ballast'));
    const env = { HOOKMILL_HOME: home };
    const { exitCode, stderr } = await workspace.hookmill(...create, { env });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('audit.jsonl'),
    });
    expect(await find(workspace, env)).toEqual({ isMade: false, entries: [] });
  });

  test('does not record what was refused', async () => {
    const workspace = makeWorkspace();
    await workspace.hookmill(...create);
    expect(await workspace.hookmill(...create)).toMatchObject({ exitCode: 1 });
    expect(await find(workspace)).toEqual(finished);
  });
});

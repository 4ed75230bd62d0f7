import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import { placeOf, startDaemonHereForTest } from '../../../support/daemon-here.ts';
import { send } from '../../../support/http.ts';
import { query, usePostgres } from '../../../support/postgres.ts';
import { hasStrace, signalAt } from '../../../support/strace.ts';
import { makeWorkspace, type RunResult, type Workspace } from '../../../support/workspace.ts';

const server = usePostgres();
const secret = randomBytes(24).toString('hex');
const newKey = () => randomBytes(32).toString('base64');
type Variables = Readonly<Record<string, string>>;

async function succeed(result: Promise<RunResult>): Promise<string> {
  const { exitCode, stdout, stderr } = await result;
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

/** Applies a webhook that verifies signatures, in a factory of its own. Returns its UID. */
async function applySigned(workspace: Workspace, env: Variables, factory = 'default'): Promise<string> {
  const run = (...args: string[]) =>
    succeed(
      workspace.hookmill('-C', factory, '--factory', factory, '--home', '.hookmill', ...args, {
        env,
        stdin: secret,
      }),
    );
  const definition = `authMode: signature\nsignatureScheme: github\nsecretName: SIGNED_${factory.toUpperCase()}\n`;
  workspace.write(`${factory}/webhooks/hook.yaml`, definition);
  await run('secrets', 'set', `SIGNED_${factory.toUpperCase()}`);
  const [uid = ''] = /wh_\w+/.exec(await run('apply')) ?? [];
  return uid;
}

let number = 0;
async function deliver(ingressUrl: string, uid: string): Promise<number> {
  const body = JSON.stringify({ number: ++number });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push' };
  return (await send(`${ingressUrl}/webhooks/w/${uid}`, { body, headers })).status;
}

/** Delivers all the time until `work` is done, in a short run with pauses, and returns the distinct statuses of the answers. */
async function whileDelivering(ingressUrl: string, uid: string, work: () => Promise<unknown>) {
  const statuses = new Set<number>();
  let isOver = false;
  const delivering = (async () => {
    while (!isOver) {
      statuses.add(await deliver(ingressUrl, uid));
      if (!inject('isLong')) await wait(10);
    }
  })();
  await work().finally(() => {
    isOver = true;
  });
  await delivering;
  return [...statuses];
}

const settings = { limits: { deliveriesPerMinute: 1_000_000 } };
const startDaemon = ({ home }: Workspace, env: Variables = {}) =>
  startDaemonHereForTest(settings, homeAt(home), placeOf(env));
const sealedIn = (text: string) => text.match(/(?<="jwe": ")[^"]+/g) ?? [];

describe('a home with a key file', () => {
  test('gets a new key while the daemon serves it, and senders notice nothing', async () => {
    const workspace = makeWorkspace();
    const uid = await applySigned(workspace, {});
    const daemon = await startDaemon(workspace);
    const [oldKey, files] = [workspace.read('.hookmill/key'), ['secrets.json', 'applied/default.json']];
    const readSealed = () => files.flatMap(file => sealedIn(workspace.read(`.hookmill/${file}`)));
    const before = readSealed();
    expect(before).toHaveLength(2);
    const statuses = await whileDelivering(daemon.ingressUrl, uid, async () => {
      const text = await succeed(workspace.hookmill('key', 'rotate'));
      expect(text).toBe(
        'Sealed 2 values with the new key. The home has a new key file: keep a copy of it elsewhere.\n',
      );
      await succeed(workspace.hookmill('status', '--factory', 'default'));
    });
    expect(statuses).toEqual([202]);
    expect(workspace.read('.hookmill/key')).not.toBe(oldKey);
    expect(existsSync(workspace.path('.hookmill/old-key'))).toBe(false);
    expect(readSealed().filter(jwe => before.includes(jwe))).toEqual([]);
    expect(await succeed(workspace.hookmill('store', 'check'))).toContain('No problems found.');
    await daemon.stop();
    const again = await startDaemon(workspace);
    expect(await deliver(again.ingressUrl, uid)).toBe(202);
    const withOldKey = await workspace.hookmill('store', 'check', { env: { HOOKMILL_KEY: oldKey.trim() } });
    expect(withOldKey.exitCode).toBe(1);
    for (const name of ['SIGNED_DEFAULT', uid]) {
      expect(withOldKey.stdout).toContain(`problem: the sealed value of ${name} does not open with this key`);
    }
  });

  test.skipIf(!hasStrace)(
    'can be used after each point at which the command was killed, and ends with one key',
    async () => {
      const workspace = makeWorkspace();
      const factories = inject('isLong') ? ['a', 'b', 'c'] : ['a'];
      for (const factory of factories) await applySigned(workspace, {}, factory);
      const oldKey = workspace.read('.hookmill/key');
      // One thread for files, which is killed before it replaces a second one: each attempt goes one step further.
      const through = signalAt('rename', 'SIGKILL', 2);
      const env = { UV_THREADPOOL_SIZE: '1', NODE_DISABLE_COMPILE_CACHE: '1' };
      const applied = factories.slice(0, -1).map(factory => `the applied state of ${factory}`);
      const steps = ['old-key', 'key', 'secrets.json', ...applied];
      for (const step of steps) {
        const { exitCode } = await workspace.hookmill('key', 'rotate', { through, env });
        expect(exitCode, step).not.toBe(0);
        expect(await succeed(workspace.hookmill('store', 'check')), step).toContain('No problems found.');
      }
      expect(existsSync(workspace.path('.hookmill/old-key'))).toBe(true);
      await succeed(workspace.hookmill('key', 'rotate', { through, env }));
      expect(await succeed(workspace.hookmill('store', 'check'))).toContain('No problems found.');
      expect(readdirSync(workspace.home).filter(name => /old-key|tmp/.test(name))).toEqual([]);
      expect(workspace.read('.hookmill/key')).not.toBe(oldKey);
    },
  );

  test('keeps the old key if a value opens with neither, until that value is set again', async () => {
    const workspace = makeWorkspace();
    await applySigned(workspace, {});
    await succeed(
      workspace.hookmill('secrets', 'set', 'LOST', { stdin: 'x', env: { HOOKMILL_KEY: newKey() } }),
    );
    const failed = await workspace.hookmill('key', 'rotate');
    expect(failed).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('the sealed value of LOST does not open with this key'),
    });
    expect(existsSync(workspace.path('.hookmill/old-key'))).toBe(true);
    await succeed(workspace.hookmill('secrets', 'set', 'LOST', { stdin: 'x' }));
    await succeed(workspace.hookmill('key', 'rotate'));
    expect(existsSync(workspace.path('.hookmill/old-key'))).toBe(false);
  });
});

test('a database gets a new key while a daemon with both keys serves it', async () => {
  const workspace = makeWorkspace();
  const HOOKMILL_STORE = await server.createDatabase();
  const [oldKey, HOOKMILL_KEY] = [newKey(), newKey()];
  const uid = await applySigned(workspace, { HOOKMILL_STORE, HOOKMILL_KEY: oldKey });
  const both = { HOOKMILL_STORE, HOOKMILL_KEY, HOOKMILL_OLD_KEY: oldKey };
  const daemon = await startDaemon(workspace, both);
  const statuses = await whileDelivering(daemon.ingressUrl, uid, async () => {
    const text = await succeed(workspace.hookmill('key', 'rotate', { env: both }));
    expect(text).toBe(
      'Sealed 2 values with the new key. Now restart the daemons without HOOKMILL_OLD_KEY.\n',
    );
  });
  expect(statuses).toEqual([202]);
  expect(await succeed(workspace.hookmill('key', 'rotate', '-o', 'json', { env: both }))).toContain(
    '"resealed": 0',
  );
  await daemon.stop();
  const env = { HOOKMILL_STORE, HOOKMILL_KEY };
  expect(await succeed(workspace.hookmill('store', 'check', { env }))).toContain('No problems found.');
  const documents = await query(HOOKMILL_STORE, 'SELECT json FROM hookmill.documents');
  expect(JSON.stringify(documents.rows)).not.toContain(secret);
});

test('with no old key, a malformed one or two of them, nothing is changed', async () => {
  const workspace = makeWorkspace();
  await applySigned(workspace, {});
  const before = workspace.read('.hookmill/secrets.json');
  const HOOKMILL_KEY = newKey();
  const refused: readonly (readonly [Variables, RegExp])[] = [
    [{}, /set HOOKMILL_KEY to a new key, and HOOKMILL_OLD_KEY to the one before/],
    [{ HOOKMILL_OLD_KEY: 'x' }, /HOOKMILL_OLD_KEY must be 32 bytes/],
    [
      { HOOKMILL_OLD_KEY: newKey(), HOOKMILL_OLD_KEY_FILE: 'x' },
      /HOOKMILL_OLD_KEY and HOOKMILL_OLD_KEY_FILE are both set/,
    ],
  ];
  for (const [variables, message] of refused) {
    const { exitCode, stderr } = await workspace.hookmill('key', 'rotate', {
      env: { HOOKMILL_KEY, ...variables },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
  }
  expect(workspace.read('.hookmill/secrets.json')).toBe(before);
});

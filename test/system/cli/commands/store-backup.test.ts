import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, statSync, truncateSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { RestoreReport } from '../../../../operations/stores/backup-store.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { openStore } from '../../../../store/open-store.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { bearerOf, startDaemonForTest } from '../../../support/daemon.ts';
import { placeOf, startDaemonHereForTest } from '../../../support/daemon-here.ts';
import { acceptedDelivery, newRun } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { send } from '../../../support/http.ts';
import { usePostgres } from '../../../support/postgres.ts';
import { makeWorkspace, type RunResult, type Workspace } from '../../../support/workspace.ts';

type Kind = 'a home' | 'a database';

const server = usePostgres();
const secret = randomBytes(24).toString('hex');
const HOOKMILL_KEY = randomBytes(32).toString('base64');
const inHome = { HOOKMILL_KEY, HOOKMILL_HOME: 'empty-home' };
/** Returns the variables of a command that works on an empty place of this kind, in the workspace. */
async function emptyPlace(kind: Kind): Promise<Readonly<Record<string, string>>> {
  if (kind === 'a home') return inHome;
  return { HOOKMILL_KEY, HOOKMILL_STORE: await server.createDatabaseWithTables() };
}

function openIn(workspace: Workspace, env: Readonly<Record<string, string>>): Promise<Store> {
  return openStore({
    ...{ home: homeIn(workspace, env), lockTimeoutMs: 5_000, readsInThread: false },
    ...placeOf(env),
    now: () => new Date(),
  });
}

function homeIn(workspace: Workspace, { HOOKMILL_HOME = 'other-home' }: Readonly<Record<string, string>>) {
  return workspace.path(HOOKMILL_HOME);
}

function startDaemon(workspace: Workspace, env: Readonly<Record<string, string>>) {
  return startDaemonHereForTest(settings, homeAt(homeIn(workspace, env)), placeOf(env));
}

async function succeed(result: Promise<RunResult>): Promise<string> {
  const { exitCode, stdout, stderr } = await result;
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

/** Applies a webhook and an automation for it, and returns the UID. */
async function applyWebhook(workspace: Workspace, env: Readonly<Record<string, string>>): Promise<string> {
  const run = (...args: string[]) => succeed(workspace.hookmill(...args, { env, stdin: secret }));
  workspace.write('webhooks/pay.yaml', 'secretName: PAY\n');
  await run('secrets', 'set', 'PAY');
  const [uid = ''] = /wh_\w+/.exec(await run('apply')) ?? [];
  const trigger = `{ provider: webhook, event: received, filter: { webhook_ids: [${uid}] } }`;
  workspace.write('automations/look.yaml', `prompt: Look.\ntriggers: [${trigger}]\n`);
  await run('apply');
  return uid;
}

/** Senders that deliver all the time, in a short run with pauses, whose work is then not most of it. `accepted` has each payload by the ID that was answered with 202. */
function sendAllTheTime(url: string) {
  const accepted = new Map<string, string>();
  let isOver = false;
  const sendOn = async (sender: number) => {
    for (let number = 0; !isOver; number++) {
      const body = JSON.stringify({ id: `${sender}-${number}`, text: 'x'.repeat(number % 500) });
      const { deliveryId } = await send(url, { headers: bearerOf(secret), body });
      if (deliveryId !== undefined) accepted.set(deliveryId, body);
      if (!inject('isLong')) await wait(10);
    }
  };
  const sending = (inject('isLong') ? [1, 2, 3, 4] : [1]).map(sendOn);
  return {
    accepted,
    end: async () => {
      isOver = true;
      await Promise.all(sending);
    },
  };
}

const settings = { limits: { deliveriesPerMinute: 1_000_000 } };

const directions: readonly (readonly [Kind, Kind])[] = [
  ['a home', 'a database'],
  ['a database', 'a home'],
];

describe.for(inject('isLong') ? directions : directions.slice(0, 1))(
  'a backup of %s under load',
  ([fromKind, toKind]) => {
    test(`has everything that was accepted before it, and is restored to ${toKind}`, async () => {
      const workspace = makeWorkspace();
      const [from, to] = [await emptyPlace(fromKind), await emptyPlace(toKind)];
      const uid = await applyWebhook(workspace, from);
      const daemon = await startDaemon(workspace, from);
      const path = `/webhooks/w/${uid}`;
      const load = sendAllTheTime(`${daemon.ingressUrl}${path}`);
      await eventually(() => load.accepted.size > (inject('isLong') ? 100 : 20));
      const before = [...load.accepted];
      const written = workspace.start(['store', 'backup', 'the-backup', '-o', 'json'], { env: from });
      expect(await written).toMatchObject({ exitCode: 0 });
      const answeredMeanwhile = load.accepted.size - before.length;
      await load.end();
      expect(answeredMeanwhile).toBeGreaterThan(0);
      expect(statSync(workspace.path('the-backup')).mode & 0o777).toBe(0o600);
      await daemon.stop();

      const restore = () => workspace.hookmill('store', 'restore', 'the-backup', '-o', 'json', { env: to });
      const report: RestoreReport = JSON.parse(await succeed(restore()));
      expect(report.isSame).toBe(true);
      const store = await openIn(workspace, to);
      const rows = await store.deliveries.listDeliveries({ factory: 'default', limit: 100_000 });
      for (const { id } of rows) {
        expect(String(await store.deliveries.readPayload(id))).toBe(load.accepted.get(id));
      }
      const ids = new Set(rows.map(({ id }) => id));
      expect(before.filter(([id]) => !ids.has(id))).toEqual([]);
      const runs = await store.deliveries.listRuns({ factory: 'default', limit: 100_000 });
      expect(new Set(runs.map(({ deliveryId }) => deliveryId))).toEqual(ids);
      expect((await store.teamSecrets.open(['PAY'])).get('PAY')?.value?.text).toBe(secret);
      const subject = `${workspace.path('the-backup')} of ${report.facts.createdAt}`;
      expect(await store.auditLog.list({ limit: 1 })).toMatchObject([{ operation: 'restoreStore', subject }]);
      await store.close();

      // Restoring the same again finds nothing to do.
      expect(JSON.parse(await succeed(restore()))).toMatchObject({ isSame: true });
      // A process, which claims the home.
      const restored = await startDaemonForTest({ workspace, settings, env: to });
      const deliver = (body: string) =>
        send(`${restored.ingressUrl}${path}`, { headers: bearerOf(secret), body });
      const [[id, body] = []] = before;
      expect((await deliver(body ?? '')).deliveryId).toBe(id);
      const fresh = (await deliver('{"id":"new"}')).deliveryId ?? '';
      expect(load.accepted.has(fresh)).toBe(false);
      const view = await openIn(workspace, to);
      await eventually(async () => {
        const [run] = await view.deliveries.listRunsOfDelivery(fresh);
        return run?.state === 'succeeded';
      });
      await view.close();
      const back = await workspace.hookmill('store', 'restore', 'the-backup', { env: to });
      expect(back).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/locked by|used by a daemon/),
      });
    });
  },
);

test('a backup without payloads keeps identities, and says what is missing', async () => {
  const workspace = makeWorkspace();
  const [from, to] = [inHome, await emptyPlace('a database')];
  await applyWebhook(workspace, from);
  const store = await openIn(workspace, from);
  const accepted = acceptedDelivery({ runs: [newRun('look')], payload: Buffer.from('{"id":"evt 1"}') });
  const log = await store.openDeliveryLog();
  await log.recordAccepted(accepted);
  const manual = ['automations', 'run', 'look', '--payload', 'event.json', '-o', 'json'];
  workspace.write('event.json', '{}');
  const { deliveryId } = JSON.parse(await succeed(workspace.hookmill(...manual, { env: from })));
  await log.close();
  await store.close();
  await succeed(workspace.hookmill('store', 'backup', 'b', '--without-payloads', { env: from }));
  const text = await succeed(workspace.hookmill('store', 'restore', 'b', { env: to }));
  expect(text).toContain('It has no payloads: deliveries cannot be replayed');
  for (const id of [accepted.id, deliveryId]) {
    const replay = await workspace.hookmill('deliveries', 'replay', id, { env: to });
    expect(replay.stderr).toContain('the store was restored from a backup without payloads');
  }
  const restored = await openIn(workspace, to);
  const again = await restored.openDeliveryLog();
  const { identity } = accepted;
  expect(await again.recordAccepted(acceptedDelivery({ identity }))).toMatchObject({
    duplicateOf: accepted.id,
  });
  await again.close();
  await restored.close();
});

describe('a backup', () => {
  test('replaces an existing file only if it is told to', async () => {
    const workspace = makeWorkspace();
    const env = inHome;
    await applyWebhook(workspace, env);
    workspace.write('there', 'something else');
    const refused = await workspace.hookmill('store', 'backup', 'there', { env });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('there exists; choose') });
    expect(workspace.read('there')).toBe('something else');
    await succeed(workspace.hookmill('store', 'backup', 'there', '--yes', { env }));
    expect(workspace.read('there')).toMatch(/^hookmill backup 6\n/);
  });

  test('of a home that is not there is refused, and creates nothing', async () => {
    const workspace = makeWorkspace();
    const env = inHome;
    const refused = await workspace.hookmill('store', 'backup', 'b', { env });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not a home') });
    for (const name of ['b', 'empty-home']) expect(existsSync(workspace.path(name))).toBe(false);
  });

  test('that cannot be written is an error, and leaves nothing', async () => {
    const workspace = makeWorkspace();
    const env = inHome;
    await applyWebhook(workspace, env);
    const refused = await workspace.hookmill('store', 'backup', 'nowhere/b', { env });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cannot be written (ENOENT)'),
    });
  });
});

let backup: string;
beforeAll(async () => {
  const workspace = makeWorkspace();
  const env = { HOOKMILL_KEY, HOOKMILL_HOME: 'source' };
  await applyWebhook(workspace, env);
  await succeed(workspace.hookmill('store', 'backup', 'b', { env }));
  backup = workspace.path('b');
});

// upgrade.test.ts restores to both kinds of stores.
describe('a restore', () => {
  test('is refused with another key, and before anything is written if the file is damaged', async () => {
    const workspace = makeWorkspace();
    copyFileSync(backup, workspace.path('b'));
    const place = inHome;
    const restore = (key: string) =>
      workspace.hookmill('store', 'restore', 'b', { env: { ...place, HOOKMILL_KEY: key } });
    expect((await restore(randomBytes(32).toString('base64'))).stderr).toContain(
      'does not open with this key',
    );
    truncateSync(workspace.path('b'), statSync(workspace.path('b')).size - 1);
    expect(await restore(HOOKMILL_KEY)).toMatchObject({ exitCode: 1 });
    const store = await openIn(workspace, place);
    expect(await store.appliedStates.listFactories()).toEqual([]);
    expect(await store.teamSecrets.listNames()).toEqual([]);
    await store.close();
  });

  test('of a backup that the old key opens seals everything with the new key', async () => {
    const workspace = makeWorkspace();
    const newKey = {
      ...(await emptyPlace('a database')),
      HOOKMILL_KEY: randomBytes(32).toString('base64'),
    };
    const env = { ...newKey, HOOKMILL_OLD_KEY: HOOKMILL_KEY };
    await succeed(workspace.hookmill('store', 'restore', backup, { env }));
    expect(await succeed(workspace.hookmill('store', 'check', { env: newKey }))).toContain(
      'No problems found.',
    );
  });

  test('is refused if something else is there, which stays', async () => {
    const workspace = makeWorkspace();
    const env = await emptyPlace('a database');
    const uid = await applyWebhook(workspace, env);
    const refused = await workspace.hookmill('store', 'restore', backup, { env });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('the target differs from'),
    });
    const shown = await succeed(workspace.hookmill('webhooks', 'list', { env }));
    expect(shown).toContain(uid);
  });
});

import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadState } from '../../../../daemon/served/loaded-state.ts';
import { serveAppliedStates } from '../../../../daemon/served/served-states.ts';
import { homeAt } from '../../../../store/home/home.ts';
import type { OnStateChange } from '../../../../store/ports/documents.ts';
import {
  bearerOf,
  makeWebhook,
  type Readiness,
  type TestDaemon,
  type TestWebhook,
  type WebhookGiven,
} from '../../../support/daemon.ts';
import { type DaemonHere, startDaemonHere } from '../../../support/daemon-here.ts';
import { makeFactory } from '../../../support/factory.ts';
import { read, send } from '../../../support/http.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

type Watching = Pick<TestDaemon, 'workspace' | 'webhook' | 'metrics'> & Pick<DaemonHere, 'logged' | 'stop'>;

/** Tests may look as often as they like. */
const settings = { limits: { deliveriesPerMinute: 1_000_000 } };

/** A daemon in this process. */
async function startHere(workspace = makeWorkspace(), home = workspace.home): Promise<Watching> {
  const daemon = await startDaemonHere(settings, homeAt(home));
  const { ingressUrl, managementUrl } = daemon;
  const readyz = async (): Promise<Readiness> => JSON.parse(await read(`${managementUrl}/readyz`));
  return {
    ...daemon,
    workspace,
    metrics: () => read(`${managementUrl}/metrics`),
    webhook: given => makeWebhook({ workspace, ingressUrl, readyz }, given),
  };
}

/** One without regular looks at its home: what it serves, it has seen change. */
async function startWatching(...given: Parameters<typeof startHere>): Promise<Watching> {
  // Timers that are set now do not fire, ever.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  return startHere(...given).finally(() => vi.useRealTimers());
}

/** One that also scans. */
let daemon: Watching;
let watching: Watching;
beforeAll(async () => {
  daemon = await startHere();
  watching = await startWatching();
});
afterAll(() => Promise.all([daemon.stop(), watching.stop()]));

let bodies = 0;
const status = async (webhook: TestWebhook) => (await webhook.post(String(++bodies))).status;
const serial = async (webhook: TestWebhook) => (await webhook.readiness())?.serial;
const problem = async (webhook: TestWebhook) => (await webhook.readiness())?.problem?.message;

/** The applied state with its webhook disabled or enabled, under another serial, as someone writes it deliberately. */
function edited(file: string, serial: number, enabled: boolean): string {
  const { digest: _, ...state } = JSON.parse(readFileSync(file, 'utf8'));
  for (const webhook of state.webhooks) webhook.enabled = enabled;
  return JSON.stringify({ ...state, serial });
}

describe('serves without a restart', () => {
  test('an apply that disables a webhook, and one that enables it again', async () => {
    const webhook = await watching.webhook();
    expect(await status(webhook)).toBe(202);
    await webhook.apply({ enabled: false });
    await expect.poll(() => status(webhook)).toBe(404);
    await webhook.apply({ enabled: true });
    await expect.poll(() => status(webhook)).toBe(202);
  });

  test('the last of fifty applies in a row', async () => {
    const webhook = await watching.webhook();
    for (let n = 1; n <= 50; n++)
      await webhook.apply({ enabled: n % 2 === 0, deliveryIdHeader: `X-Id-${n}` });
    await expect.poll(() => serial(webhook)).toBe(51);
    const { status, deliveryId } = await webhook.post('1', {
      headers: { authorization: `Bearer ${webhook.secret}`, 'x-id-49': 'no', 'x-id-50': 'yes' },
    });
    expect(status).toBe(202);
    expect(await webhook.rows()).toMatchObject([{ id: deliveryId, identity: 'yes' }]);
  });

  test('a file that is rewritten in place', async () => {
    const webhook = await watching.webhook();
    writeFileSync(webhook.appliedStateFile, edited(webhook.appliedStateFile, 7, false));
    await expect.poll(() => serial(webhook)).toBe(7);
    expect(await status(webhook)).toBe(404);
  });

  test('whatever the home is called', async () => {
    const workspace = makeWorkspace();
    const home = workspace.path('my.locker.tmp');
    mkdirSync(home);
    symlinkSync(home, workspace.home);
    const elsewhere = await startWatching(workspace, home);
    onTestFinished(() => elsewhere.stop());
    const webhook = await elsewhere.webhook();
    await webhook.apply({ enabled: false });
    await expect.poll(() => status(webhook)).toBe(404);
  });

  test('factories whose directory is replaced as a whole', async () => {
    const other = await startHere();
    onTestFinished(() => other.stop());
    const webhook = await other.webhook();
    const directory = dirname(webhook.appliedStateFile);
    cpSync(directory, `${directory}.new`, { recursive: true });
    renameSync(directory, `${directory}.old`);
    renameSync(`${directory}.new`, directory);
    writeFileSync(webhook.appliedStateFile, edited(webhook.appliedStateFile, 30, false));
    await expect.poll(() => serial(webhook)).toBe(30);
    const added = await other.webhook();
    expect(await status(added)).toBe(202);
  });
});

describe('goes on serving the last good state, reports the problem, and recovers', () => {
  test.each<[string, (text: string) => string, string]>([
    ['is cut off', text => text.slice(0, text.length / 2), 'is not valid JSON'],
    ['is empty', () => '', 'is not valid JSON'],
    [
      'was changed outside hookmill',
      text => text.replace('"enabled": true', '"enabled": false'),
      'was changed outside',
    ],
    ['has another shape', text => text.replace('"uid"', '"uuid"'), 'has an invalid value'],
    [
      'has a newer format',
      text => text.replace('"formatVersion": 1', '"formatVersion": 2'),
      'another version',
    ],
  ])('when the file %s', async (_, breakIt, message) => {
    const webhook = await watching.webhook();
    const good = readFileSync(webhook.appliedStateFile, 'utf8');
    writeFileSync(webhook.appliedStateFile, breakIt(good));
    await expect.poll(() => problem(webhook)).toContain(message);
    expect(await webhook.readiness()).toMatchObject({ serial: 1, webhooks: 1 });
    expect(await watching.metrics()).toContain(
      `hookmill_applied_state_broken{factory="${webhook.factory}"} 1`,
    );
    expect(watching.logged()).toMatch(new RegExp(`"level":50.*"factory":"${webhook.factory}".*${message}`));
    expect(await status(webhook)).toBe(202);

    writeFileSync(webhook.appliedStateFile, good);
    await expect.poll(() => problem(webhook)).toBeUndefined();
    expect(await watching.metrics()).toContain(
      `hookmill_applied_state_broken{factory="${webhook.factory}"} 0`,
    );
    await webhook.apply({ enabled: false });
    await expect.poll(() => status(webhook)).toBe(404);
  });

  test('when the file is gone', async () => {
    const webhook = await watching.webhook();
    const good = readFileSync(webhook.appliedStateFile);
    rmSync(webhook.appliedStateFile);
    await expect.poll(() => problem(webhook)).toContain('the applied state is missing');
    expect(await status(webhook)).toBe(202);
    writeFileSync(webhook.appliedStateFile, good);
    await expect.poll(() => problem(webhook)).toBeUndefined();
  });

  test('when the key of the home is gone and comes back, though the file stays the same', async () => {
    const other = await startHere();
    onTestFinished(() => other.stop());
    const webhook = await other.webhook({ authMode: 'signature', signatureScheme: 'github' });
    const key = join(other.workspace.home, 'key');
    renameSync(key, `${key}.away`);
    writeFileSync(webhook.appliedStateFile, edited(webhook.appliedStateFile, 2, true));
    await expect.poll(() => problem(webhook)).toContain('does not open with this key');
    expect(await status(webhook)).toBe(401);
    renameSync(`${key}.away`, key);
    await expect.poll(() => serial(webhook)).toBe(2);
    expect(await problem(webhook)).toBeUndefined();
  });

  test('when the directory of all states is replaced by a file', async () => {
    const other = await startHere();
    onTestFinished(() => other.stop());
    const webhook = await other.webhook();
    const factories = dirname(webhook.appliedStateFile);
    renameSync(factories, `${factories}.away`);
    writeFileSync(factories, '');
    await expect.poll(() => problem(webhook)).toBeDefined();
    expect(await status(webhook)).toBe(202);
    rmSync(factories);
    renameSync(`${factories}.away`, factories);
    await expect.poll(() => problem(webhook)).toBeUndefined();
  });

  test('reports a problem that stays once', async () => {
    const other = await startWatching();
    onTestFinished(() => other.stop());
    const [webhook, next] = [await other.webhook(), await other.webhook()];
    truncateSync(webhook.appliedStateFile, 100);
    await expect.poll(() => problem(webhook)).toBeDefined();
    const reported = await webhook.readiness();
    truncateSync(next.appliedStateFile, 100);
    await expect.poll(() => problem(next)).toBeDefined();
    expect(await webhook.readiness()).toEqual(reported);
    expect(other.logged().match(/"level":50/g)).toHaveLength(2);
  });
});

test('serves an applied state again that was damaged, once the same definitions are applied', async () => {
  const webhook = await watching.webhook();
  const good = readFileSync(webhook.appliedStateFile, 'utf8');
  writeFileSync(webhook.appliedStateFile, good.replace(/"appliedAt": "2/, '"appliedAt": "3'));
  await expect.poll(() => problem(webhook)).toContain('was changed outside hookmill');
  await webhook.apply({});
  await expect.poll(() => problem(webhook)).toBeUndefined();
  expect(await status(webhook)).toBe(202);
});

describe('started on what cannot be served', () => {
  const unknown = `wh_${'0'.repeat(24)}`;
  const notServed = {
    status: 503,
    headers: { 'retry-after': '30', 'content-type': 'application/problem+json' },
  };

  /** Two factories, of which the second is harmed before the daemon starts. */
  async function startHarmed(given: WebhookGiven, harm: (webhook: TestWebhook, home: string) => void) {
    const workspace = makeWorkspace();
    const first = await startHere(workspace);
    const [whole, harmed] = [await first.webhook(), await first.webhook(given)];
    await first.stop();
    harm(harmed, workspace.home);
    const next = await startWebhookDaemon({ workspace });
    const post = (uid: string, secret: string) =>
      send(`${next.ingressUrl}/webhooks/w/${uid}`, { headers: bearerOf(secret), body: String(++bodies) });
    return { next, whole, harmed, post };
  }

  test('answers 503 where an unreadable state may have the webhook, and is ready once it is repaired', async () => {
    let good = '';
    const { next, whole, harmed, post } = await startHarmed({}, ({ appliedStateFile }) => {
      good = readFileSync(appliedStateFile, 'utf8');
      truncateSync(appliedStateFile, 100);
    });
    expect(await post(harmed.uid, harmed.secret)).toMatchObject(notServed);
    expect(await send(`${next.ingressUrl}/webhooks/w/${harmed.uid}`, { method: 'GET' })).toMatchObject(
      notServed,
    );
    expect(await post('deploys', '')).toMatchObject({ status: 404 });
    expect(await post(whole.uid, whole.secret)).toMatchObject({ status: 202 });
    expect(await next.readyz()).toMatchObject({
      status: 'not ready',
      reason: expect.stringMatching(`the factory ${harmed.factory} cannot be served: .* is not valid JSON`),
    });

    writeFileSync(harmed.appliedStateFile, good);
    await expect.poll(next.readyz).toMatchObject({ status: 'ready' });
    expect(await post(harmed.uid, harmed.secret)).toMatchObject({ status: 202 });
    expect(await post(unknown, '')).toMatchObject({ status: 404 });
  });

  test('answers 503 for a webhook whose credential does not open, and 404 for an unknown one', async () => {
    const signature = { authMode: 'signature', signatureScheme: 'github' };
    const { next, whole, harmed, post } = await startHarmed(signature, (_, home) => {
      renameSync(join(home, 'key'), join(home, 'key.away'));
    });
    expect(await post(harmed.uid, '')).toMatchObject(notServed);
    expect(await post(whole.uid, whole.secret)).toMatchObject({ status: 202 });
    expect(await post(unknown, '')).toMatchObject({ status: 404 });
    expect(await next.readyz()).toMatchObject({
      status: 'not ready',
      reason: expect.stringMatching(`the factory ${harmed.factory} cannot be served: .* restore the key`),
    });
    renameSync(join(next.workspace.home, 'key.away'), join(next.workspace.home, 'key'));
    await expect.poll(next.readyz).toMatchObject({ status: 'ready' });
    expect(await post(harmed.uid, '')).toMatchObject({ status: 401 });
  });
});

test('reads the version of only that factory which the store names as changed', async () => {
  const { store } = makeFactory(homeAt(makeWorkspace().home));
  const { appliedStates, seal } = store;
  for (const factory of ['billing', 'sales']) {
    await appliedStates.change(factory, async state => ({ next: state, result: undefined }));
  }
  const looked: string[] = [];
  let onChange: OnStateChange = () => undefined;
  const served = await serveAppliedStates({
    store: {
      seal,
      appliedStates: {
        ...appliedStates,
        readVersion: async factory => {
          looked.push(factory);
          return appliedStates.readVersion(factory);
        },
        watch: async given => {
          onChange = given;
          return { close: async () => undefined };
        },
      },
    },
    loadState: () => Promise.reject(new Error('nothing has changed')),
    onLoaded: () => undefined,
    onProblem: () => undefined,
    onFailure: () => undefined,
  });
  expect(served.status().map(({ factory, problem }) => [factory, problem])).toEqual([
    ['billing', undefined],
    ['sales', undefined],
  ]);
  void onChange('sales');
  await expect.poll(() => looked.splice(0)).toEqual(['sales']);
  await served.refresh('billing');
  expect(looked.splice(0)).toEqual(['billing']);
  await served.refresh();
  expect(looked).toEqual(['billing', 'sales']);
});

test('looks at a factory once at a time, at whatever moments it changes', async () => {
  const { store } = makeFactory(homeAt(makeWorkspace().home));
  const { appliedStates, seal } = store;
  await appliedStates.change('sales', async state => ({ next: state, result: undefined }));
  let [turns, looks, looking, most] = [0, 0, 0, 0];
  const notify = async (turnsLater: number) => {
    for (let turn = 0; turn < turnsLater; turn++) await undefined;
    await served.refresh('sales');
  };
  const notified: Promise<void>[] = [];
  const readVersion = async (factory: string) => {
    looks += 1;
    most = Math.max(most, ++looking);
    const version = await appliedStates.readVersion(factory);
    // The last look for the first two notices.
    if (looks === 2) notified.push(notify(turns));
    if (looks === 3) {
      await setImmediate();
      notified.push(notify(0));
      await setImmediate();
    }
    looking -= 1;
    return version;
  };
  const served = await serveAppliedStates({
    store: { seal, appliedStates: { ...appliedStates, readVersion } },
    loadState: () => Promise.reject(new Error('nothing has changed')),
    onLoaded: () => undefined,
    onProblem: () => undefined,
    onFailure: () => undefined,
  });
  onTestFinished(() => served.close());
  // A look ends within fewer turns of the microtask queue.
  for (turns = 0; turns < 60; turns++) {
    looks = 0;
    await Promise.all([notify(0), notify(0)]);
    for (const one of notified) await one;
    expect([turns, most]).toEqual([turns, 1]);
  }
});

test('reports a look that fails, and serves the change with the next one', async () => {
  const { store } = makeFactory(homeAt(makeWorkspace().home));
  const { appliedStates, seal } = store;
  let isBroken = false;
  const readVersion: typeof appliedStates.readVersion = async factory => {
    if (isBroken) throw new Error('the disk does not answer');
    return appliedStates.readVersion(factory);
  };
  const failures: string[] = [];
  const served = await serveAppliedStates({
    store: { seal, appliedStates: { ...appliedStates, readVersion } },
    loadState: async factory => loadState(await appliedStates.read(factory), await seal.opener(), factory),
    onLoaded: () => undefined,
    onProblem: () => undefined,
    onFailure: error => failures.push((error as Error).message),
  });
  onTestFinished(() => served.close());
  isBroken = true;
  await appliedStates.change('crm', async state => ({
    next: { ...state, automations: [] },
    result: undefined,
  }));
  // The watcher looks by itself too, and no rejection of it is left unhandled.
  await expect.poll(() => failures).toContain('the disk does not answer');
  await served.refresh('crm');
  isBroken = false;
  await expect.poll(() => served.status().map(({ serial }) => serial)).toEqual([1]);
});

test('looks at no factory again while a look beside one that failed is still in progress', async () => {
  const { store } = makeFactory(homeAt(makeWorkspace().home));
  const { appliedStates, seal } = store;
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [begunAgain, failed] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let looks = 0;
  const readVersion: typeof appliedStates.readVersion = async factory => {
    if (factory === 'crm') throw new Error('the disk does not answer');
    if (++looks > 1) begunAgain.resolve('looked again');
    begun.resolve();
    await gate.promise;
    return appliedStates.readVersion(factory);
  };
  let onChange: OnStateChange = () => undefined;
  const watch: typeof appliedStates.watch = async given => {
    onChange = given;
    return { close: async () => undefined };
  };
  await appliedStates.change('sales', async state => ({ next: state, result: undefined }));
  const served = await serveAppliedStates({
    store: { seal, appliedStates: { ...appliedStates, readVersion, watch } },
    loadState: () => Promise.reject(new Error('nothing has changed')),
    onLoaded: () => undefined,
    onProblem: () => undefined,
    onFailure: () => failed.resolve('failed'),
  });
  onTestFinished(() => served.close());
  const first = [onChange('sales'), onChange('crm')];
  await begun.promise;
  const second = onChange('sales');
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  expect(looks).toBe(1);
  gate.resolve();
  await Promise.all([...first, second]);
  expect([await failed.promise, await begunAgain.promise]).toEqual(['failed', 'looked again']);
});

test('has a large state loaded elsewhere, and loads a small one itself', async () => {
  const { store } = makeFactory(homeAt(makeWorkspace().home));
  const { appliedStates, seal } = store;
  const elsewhere: string[] = [];
  const served = await serveAppliedStates({
    store,
    loadState: async factory => {
      elsewhere.push(factory);
      return loadState(await appliedStates.read(factory), await seal.opener(), factory);
    },
    onLoaded: () => undefined,
    onProblem: () => undefined,
    onFailure: () => undefined,
  });
  onTestFinished(() => served.close());
  const setLength = (prompt: number) =>
    appliedStates.change('crm', async state => {
      const filter = { webhook_ids: [`wh_${'0'.repeat(24)}`] as [string] };
      const triggers = [{ provider: 'webhook' as const, event: 'received' as const, filter }];
      const automations = ['one', 'other'].map(name => ({
        ...{ name, enabled: true, prompt: 'x'.repeat(prompt), triggers },
      }));
      return { next: { ...state, automations }, result: undefined };
    });
  for (const [prompt, expected] of [
    [1_000, []],
    [2_000, []],
    [30_000, ['crm']],
  ] as const) {
    const { state } = await setLength(prompt);
    await served.refresh('crm');
    expect(served.status()).toMatchObject([{ factory: 'crm', serial: state.serial, webhooks: 0 }]);
    expect(elsewhere).toEqual(expected);
  }
});

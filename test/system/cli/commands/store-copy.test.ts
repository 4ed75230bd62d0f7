import { createHmac, randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { CopyReport } from '../../../../operations/stores/copy-store.ts';
import { markCopy } from '../../../../store/documents/copied-documents.ts';
import { openEmbeddedStore } from '../../../../store/embedded/embedded-store.ts';
import { homeAt } from '../../../../store/home/home.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { openPostgresStore } from '../../../../store/postgres/postgres-store.ts';
import { bearerOf, startDaemonForTest } from '../../../support/daemon.ts';
import { placeOf, startDaemonHereForTest } from '../../../support/daemon-here.ts';
import { acceptedDelivery, newRun, rejectedDelivery } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Sent, send } from '../../../support/http.ts';
import { query, useEmptyDatabases, usePostgres } from '../../../support/postgres.ts';
import { startUnserved } from '../../../support/unserved-daemon.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const server = usePostgres();
const nextUrl = useEmptyDatabases(server, 1);
const password = 'canary-pa55word';
let url: string;
let env: Readonly<Record<string, string>>;
beforeEach(() => useDatabase(nextUrl()));

function useDatabase(given: string): void {
  url = given;
  env = { HOOKMILL_STORE: url, HOOKMILL_KEY: randomBytes(32).toString('base64') };
}

let source: Workspace;
beforeAll(async () => {
  source = await makeSource();
});

/** A copy of the source for one test. */
function copySource(): Workspace {
  const workspace = makeWorkspace();
  cpSync(source.directory, workspace.directory, { recursive: true });
  return workspace;
}

const secrets = { BEARER: randomBytes(24).toString('hex'), IN_URL: randomBytes(24).toString('hex') };
const signingSecret = randomBytes(24).toString('hex');

/** A home with two factories, a webhook of each auth mode, an automation, a team secret without a webhook, and a token. */
async function makeSource(): Promise<Workspace> {
  const workspace = makeWorkspace();
  const { write, hookmill } = workspace;
  write('pay/webhooks/bearer.yaml', 'secretName: BEARER\n');
  write('pay/webhooks/in-url.yaml', 'authMode: url_token\nsecretName: IN_URL\n');
  write('git/webhooks/signed.yaml', 'authMode: signature\nsignatureScheme: github\nsecretName: SIGNED\n');
  const values = { pay: { ...secrets, SPARE: 'spare' }, git: { SIGNED: signingSecret } };
  for (const [factory, ofFactory] of Object.entries(values)) {
    const place = ['-C', factory, '--factory', factory, '--home', '.hookmill'];
    for (const [name, stdin] of Object.entries(ofFactory)) {
      await run(hookmill(...place, 'secrets', 'set', name, { stdin }));
    }
    const applied = await run(hookmill(...place, 'apply'));
    if (factory === 'pay') continue;
    const [uid] = /wh_\w+/.exec(applied) ?? [];
    const trigger = `{ provider: webhook, event: received, filter: { webhook_ids: [${uid}] } }`;
    write('git/automations/look.yaml', `prompt: Look.\ntriggers: [${trigger}]\n`);
    await run(hookmill(...place, 'apply'));
  }
  await run(hookmill('tokens', 'create', 'ci', '--permission', 'manage'));
  return workspace;
}

async function run(result: ReturnType<Workspace['hookmill']>): Promise<string> {
  const { exitCode, stdout, stderr } = await result;
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

/** Requests that the senders of the webhooks make; the last one is rejected. */
async function requestsOf(store: Store): Promise<readonly (readonly [path: string, sent: Sent])[]> {
  const states = await Promise.all(['pay', 'git'].map(factory => store.appliedStates.read(factory)));
  const webhooks = states.flatMap(state => state.webhooks);
  const uidOf = (wanted: string) => webhooks.find(({ name }) => name === wanted)?.uid;
  const body = '{"action":"opened"}';
  const signature = createHmac('sha256', signingSecret).update(body).digest('hex');
  const signed = { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-delivery': 'guid-1' };
  const bearer = `/webhooks/w/${uidOf('bearer')}`;
  return [
    [bearer, { body, headers: { ...bearerOf(secrets.BEARER), 'x-service-delivery-id': 'evt 1' } }],
    [`/webhooks/w/${uidOf('in-url')}/${secrets.IN_URL}`, { body }],
    [`/webhooks/w/${uidOf('signed')}`, { body, headers: { ...signed, 'x-github-event': 'push' } }],
    [bearer, { body, headers: bearerOf('wrong') }],
  ];
}

/** Sends the requests, and returns the ids in the answers. */
async function sendAll(ingressUrl: string, store: Store): Promise<(string | undefined)[]> {
  const ids = [];
  for (const [path, sent] of await requestsOf(store)) {
    ids.push((await send(`${ingressUrl}${path}`, sent)).deliveryId);
  }
  return ids;
}

/** Records runs that are left in every state, as a killed daemon leaves them, in a factory without webhooks. */
async function leaveRuns(store: Store): Promise<void> {
  const log = await store.openDeliveryLog();
  const runs = ['good', 'bad', 'long', 'next'].map(newRun);
  await log.recordAccepted(acceptedDelivery({ factory: 'old', runs }));
  const nowMs = Date.now();
  const claimed = await log.claimRuns({ daemonId: 'killed', nowMs, places: { default: 3 } });
  for (const run of claimed.runs) {
    if (run.automation === 'good') await log.finishRun({ ...run, state: 'succeeded', atMs: nowMs });
    if (run.automation === 'bad') await log.finishRun({ ...run, state: 'failed', atMs: nowMs, error: 'no' });
  }
  await log.close();
}

const factories = ['pay', 'git', 'old'];

/** A store as people and senders see it. */
async function look(store: Store): Promise<unknown> {
  const deliveries = await Promise.all(
    factories.map(factory => store.deliveries.listDeliveries({ factory, limit: 99 })),
  );
  const payloads = await Promise.all(
    deliveries
      .flat()
      .map(async ({ id }) => Buffer.from((await store.deliveries.readPayload(id)) ?? 'none').toString()),
  );
  const runs = await Promise.all(factories.map(factory => store.deliveries.listRuns({ factory, limit: 99 })));
  const states = await Promise.all(factories.map(factory => store.appliedStates.read(factory)));
  // A credential that another key has sealed is another text.
  const shown = JSON.stringify(states).replaceAll(/"jwe":"[^"]*"/g, '');
  const opened = [...(await store.teamSecrets.open(await store.teamSecrets.listNames()))];
  const list = await store.teamSecrets.list();
  // Each store has places of its own for them, and says where it comes from.
  const audit = (await store.auditLog.list({ limit: 99 }))
    .filter(({ operation }) => operation !== 'copyStore')
    .map(({ seq, ...entry }) => entry);
  return { deliveries, payloads, runs, shown, opened, list, audit, tokens: await store.apiTokens.list() };
}

const storeOptions = { lockTimeoutMs: 5_000, now: () => new Date(), readsInThread: false };

function openDatabaseStore(): Store {
  const postgres = { url, mayLose: false };
  return openPostgresStore({ home: makeWorkspace().home, postgres, environment: env, ...storeOptions });
}

function openHome(home: string, environment: NodeJS.ProcessEnv = {}): Store {
  return openEmbeddedStore({ home, environment, ...storeOptions });
}

async function lookOnce(store: Store): Promise<unknown> {
  return look(store).finally(() => store.close());
}

const startDaemon = (home: string, given: Readonly<Record<string, string>> = {}) =>
  startDaemonHereForTest({}, homeAt(home), placeOf(given));

const copyTo = (workspace: Workspace, from: string, to: string, given = env) =>
  workspace.hookmill('store', 'copy', '--from', from, '--to', to, '-o', 'json', { env: given });

describe('a home', () => {
  test('moves to PostgreSQL and back: senders, people and runs notice nothing', async () => {
    const workspace = copySource();
    const atHome = await startDaemon(workspace.home);
    const home = openHome(workspace.home);
    const ids = await sendAll(atHome.ingressUrl, home);
    expect(ids.map(id => id !== undefined)).toEqual([true, true, true, false]);
    await eventually(
      async () => (await home.deliveries.listRuns({ factory: 'git', state: 'succeeded', limit: 9 }))[0],
    );
    await atHome.stop();
    await leaveRuns(home);
    const before = await lookOnce(home);

    const there = await copyTo(workspace, '.hookmill', 'postgres');
    expect(there).toMatchObject({ exitCode: 0, stderr: '' });
    for (const secret of [...Object.values(secrets), signingSecret])
      expect(there.stdout).not.toContain(secret);
    const report: CopyReport = JSON.parse(there.stdout);
    expect(report).toMatchObject({ isSame: true, runsRunning: 1 });
    const counts = Object.fromEntries(report.parts.map(({ part, to }) => [part, to.count]));
    expect(counts).toMatchObject({
      'applied states': 2,
      'team secrets': 4,
      'API tokens': 1,
      audit: 8,
      deliveries: 5,
      runs: 5,
      identities: 4,
    });
    expect(await lookOnce(openDatabaseStore())).toEqual(before);
    const [copied] = JSON.parse((await workspace.hookmill('audit', '-o', 'json', { env })).stdout);
    const from = `from ${workspace.home}`;
    expect(copied).toMatchObject({ operation: 'copyStore', factory: null, subject: from });

    const atDatabase = await startDaemon(workspace.home, env);
    expect(await sendAll(atDatabase.ingressUrl, openHome(workspace.home))).toEqual(ids);
    const database = openDatabaseStore();
    const rows = await database.deliveries.listDeliveries({ factory: 'git', limit: 9 });
    expect(rows.map(({ outcome, duplicateOf }) => [outcome, duplicateOf])).toEqual([
      ['Duplicate', ids[2]],
      ['Accepted', undefined],
    ]);
    await atDatabase.stop();
    const later = await lookOnce(database);

    const back = await copyTo(workspace, 'postgres', 'back');
    expect(back).toMatchObject({ exitCode: 0, stderr: '' });
    expect(existsSync(workspace.path('back/key'))).toBe(false);
    const { HOOKMILL_KEY = '' } = env;
    expect(await lookOnce(openHome(workspace.path('back'), { HOOKMILL_KEY }))).toEqual(later);
    const atBack = await startDaemon(workspace.path('back'), { HOOKMILL_KEY });
    expect(await sendAll(atBack.ingressUrl, openHome(workspace.home))).toEqual(ids);
  });

  test('moves with a refused request that claimed more bytes than PostgreSQL can count', async () => {
    const workspace = copySource();
    const log = await openHome(workspace.home).openDeliveryLog();
    log.recordUnidentified(rejectedDelivery({ size: 2 ** 40 }));
    await log.recordAccepted(acceptedDelivery());
    await log.close();
    expect(await copyTo(workspace, '.hookmill', 'postgres')).toMatchObject({ exitCode: 0 });
  });

  test('moves to another home with a key of its own', async () => {
    const workspace = copySource();
    const source = openHome(workspace.home);
    await leaveRuns(source);
    const before = await lookOnce(source);
    const text = await run(workspace.hookmill('store', 'copy', '--from', '.hookmill', '--to', 'other'));
    expect(text).toContain('\nNothing differs.\n1 runs were running when their daemon ended.');
    expect(text).toContain(`Now start the daemon with --home ${workspace.path('other')}`);
    expect(await lookOnce(openHome(workspace.path('other')))).toEqual(before);
    expect(workspace.read('other/key')).not.toBe(workspace.read('.hookmill/key'));
    expect(readFileSync(workspace.path('other/secrets.json'), 'utf8')).not.toContain(signingSecret);
    const atOther = await startDaemon(workspace.path('other'));
    const ids = await sendAll(atOther.ingressUrl, openHome(workspace.home));
    expect(ids.map(id => id !== undefined)).toEqual([true, true, true, false]);
  });
});

test.each(inject('isLong') ? ['a home', 'PostgreSQL'] : ['PostgreSQL'])(
  'a daemon at half a copy in %s answers 503, and serves as soon as the copy is complete',
  async kind => {
    const workspace = copySource();
    const inHome = kind === 'a home';
    const target = inHome ? openHome(workspace.path('target')) : openDatabaseStore();
    // As a copy that was killed leaves it before its first row.
    const transfer = await target.openTransfer();
    await markCopy(transfer.documents, false);
    await transfer.close();
    await target.close();
    const daemon = await startUnserved(workspace, inHome ? { HOOKMILL_HOME: workspace.path('target') } : env);
    const copied = await copyTo(workspace, '.hookmill', inHome ? 'target' : 'postgres', inHome ? {} : env);
    expect(copied).toMatchObject({ exitCode: 0, stderr: '' });
    const ids = await sendAll(await daemon.served(), openHome(workspace.home));
    expect(ids.map(id => id !== undefined)).toEqual([true, true, true, false]);
    await daemon.stop();
  },
);

test('a copy that is not the same as its source is a failure, and names what differs', async () => {
  const workspace = copySource();
  await leaveRuns(openHome(workspace.home));
  useDatabase(await server.createDatabaseWithTables());
  await query(
    url,
    "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.attempts := 9; RETURN NEW; END'",
  );
  await query(
    url,
    'CREATE TRIGGER spoil BEFORE INSERT ON hookmill.runs FOR EACH ROW EXECUTE FUNCTION spoil()',
  );
  const { exitCode, stdout } = await copyTo(workspace, '.hookmill', 'postgres');
  const { isSame, parts }: CopyReport = JSON.parse(stdout);
  expect({ exitCode, isSame }).toEqual({ exitCode: 1, isSame: false });
  const different = parts.filter(({ from, to }) => from.digest !== to.digest).map(({ part }) => part);
  expect(different).toEqual(['runs']);
  const text = await workspace.hookmill('store', 'copy', '--from', '.hookmill', '--to', 'postgres', { env });
  expect(text).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/differs from the source in run_\w+ of the factory old/),
  });
});

describe('a copy is refused', () => {
  test.for<readonly [string, (url: string) => Promise<unknown>, RegExp]>([
    [
      'a factory that the source does not have',
      async () => {
        const store = openDatabaseStore();
        await store.appliedStates.change('else', async state => ({ next: state, result: undefined }));
        await store.close();
      },
      /the target differs from the source in applied states of the factory else; empty it/,
    ],
    [
      'a delivery that the source does not have',
      async () => {
        const store = openDatabaseStore();
        const log = await store.openDeliveryLog();
        await log.recordAccepted(acceptedDelivery({ factory: 'old' }));
        await log.close();
        await store.close();
      },
      /the target differs from the source in dlv_\w+ of the factory old; empty it/,
    ],
  ])('to a target with %s', async ([_, prepare, message]) => {
    const workspace = copySource();
    const home = openHome(workspace.home);
    await leaveRuns(home);
    await prepare(url);
    const { exitCode, stderr } = await copyTo(workspace, '.hookmill', 'postgres');
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(1);
    const stored = await query(url, "SELECT count(*) FROM hookmill.documents WHERE factory <> 'else'");
    expect(stored.rows[0].count).toBe('0');
    const runs = await query(url, 'SELECT count(*) FROM hookmill.runs');
    expect(runs.rows[0].count).toBe('0');
  });

  test('while a daemon serves one of the places', async () => {
    const workspace = copySource();
    const atHome = await startDaemonForTest({ workspace });
    const locked = await copyTo(workspace, '.hookmill', 'postgres');
    expect(locked.stderr).toMatch(/deliveries\.db is locked by hookmill serve/);
    expect(locked.exitCode).toBe(1);
    await atHome.stop();
    await startDaemon(workspace.home, env);
    const used = await copyTo(workspace, '.hookmill', 'postgres');
    expect(used.stderr).toMatch(/^hookmill: the database 127\.0\.0\.1:\d+\/\w+ is used by a daemon; stop it/);
    expect(used.exitCode).toBe(1);
  });

  test('without the key of PostgreSQL, and before anything is copied', async () => {
    const workspace = copySource();
    await leaveRuns(openHome(workspace.home));
    const { exitCode, stderr } = await copyTo(workspace, '.hookmill', 'postgres', { HOOKMILL_STORE: url });
    expect(stderr).toMatch(/^hookmill: a store in PostgreSQL needs HOOKMILL_KEY/);
    expect(exitCode).toBe(1);
    const stored = await query(url, 'SELECT count(*) FROM hookmill.deliveries');
    expect(stored.rows[0].count).toBe('0');
  });

  test('from an applied state that somebody edited', async () => {
    const workspace = copySource();
    const file = '.hookmill/applied/pay.json';
    workspace.write(file, workspace.read(file).replace('"enabled": true', '"enabled": false'));
    const { exitCode, stderr } = await copyTo(workspace, '.hookmill', 'postgres');
    expect(stderr).toMatch(/the applied state of the factory pay was changed outside hookmill/);
    expect(exitCode).toBe(1);
  });

  test('with --home, which says nothing about the two places', async () => {
    const args = ['--from', '.hookmill', '--to', 'home', '--home', 'home'];
    const { exitCode, stderr } = await makeWorkspace().hookmill('store', 'copy', ...args);
    expect(stderr).toMatch(/does not work with --home; name homes with --from and --to/);
    expect(exitCode).toBe(2);
  });

  test.for<readonly [string, readonly [string, string], Readonly<Record<string, string>>, number, RegExp]>([
    ['a password', ['.hookmill', `postgres://u:${password}@h/db`], {}, 2, /--to must not contain a password/],
    ['no HOOKMILL_STORE', ['postgres', 'home'], {}, 2, /--from postgres needs HOOKMILL_STORE/],
    ['the same place twice', ['.hookmill', './.hookmill'], {}, 2, /--from and --to are the same place/],
    ['no home', ['nowhere', 'home'], {}, 1, /nowhere is not a home, or an empty one; name the directory/],
    ['a server', ['.hookmill', 'home'], { HOOKMILL_SERVER: 'http://h' }, 2, /does not work with --server/],
  ])('with %s', async ([_, [from, to], env, status, message]) => {
    const workspace = makeWorkspace();
    const { exitCode, stderr, stdout } = await copyTo(workspace, from, to, env);
    expect(stderr).toMatch(message);
    expect(`${stderr}${stdout}`).not.toContain(password);
    expect(exitCode).toBe(status);
    for (const name of ['nowhere', 'home']) expect(existsSync(workspace.path(name))).toBe(false);
  });
});

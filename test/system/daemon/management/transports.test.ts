import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCallHere } from '../../../../cli/backend/call-here.ts';
import { callServer } from '../../../../cli/backend/server-client.ts';
import { followEpisodes } from '../../../../operations/attention/follow-episodes.ts';
import type { CallOperation, CallParts } from '../../../../schema/api/call.ts';
import type { ApiRoute } from '../../../../schema/api/route.ts';
import { apiRoutes, type CallableId } from '../../../../schema/api/routes.ts';
import { toOwnBaseUrl } from '../../../../schema/ingress-url.ts';
import { Refusal } from '../../../../schema/refusal.ts';
import { send } from '../../../support/http.ts';
import { useManagedDaemon, withNewFactory } from '../../../support/management.ts';
import { startGithubApi } from '../../../support/senders/github-api.ts';
import { factoryIn } from '../../../support/stored.ts';

// Each operation is called in this process, and over HTTP, where a thread of the daemon answers most: on the home in
// `npm test`, and on a database in `npm run test:postgres`.

const script = 'echo done; mkdir -p artifacts; echo found > artifacts/report.md';
const propose = {
  ...{ kind: 'command', argv: ['sh', '-c', script], factories: ['*'] },
  afterwards: { argv: ['sleep', '600'], approval: 'required' },
};
const github = await startGithubApi({ basePath: '/api/v3' });
const { origin: provider } = new URL(github.url);
const shared = useManagedDaemon({
  senders: { urls: [provider] },
  runs: {
    runner: { kind: 'command', argv: ['sh', '-c', `${script}; exit 1`] },
    attempts: 1,
    runners: { propose },
  },
  limits: { deliveriesPerMinute: 1_000 },
});

/**
 * What the cases know of their factory: the webhook deploys, a delivery, its failed run of the automation triage, its run that
 * waits because the automation notify is paused, its run that waits for approval, and an open alert, which nothing ends.
 */
interface Known {
  readonly uid: string;
  /** The UID of the webhook shop, whose provider nobody may ask: the operator has not listed its address. */
  readonly sent: string;
  /** The UID of the webhook hooked, whose provider has no hook yet, and what registering that was planned by. */
  readonly hooked: string;
  readonly fingerprint: string;
  /** The UID of the webhook cart, whose provider has an attempt to deliver. */
  readonly tried: string;
  readonly attempt: { readonly eventId: string; readonly attemptId: string };
  readonly delivery: string;
  readonly run: string;
  readonly waiting: string;
  readonly held: string;
  readonly alert: string;
  /** The name of an API token. */
  readonly token: string;
  readonly call: CallOperation;
  suspend(): Promise<unknown>;
}

const repository = {
  ...{ repository: 'https://git.example.com/acme/hooks.git', branch: 'main', path: '' },
  credential: null,
};

/**
 * What a factory has only for the operations that need it: a run that waits for approval, because alerts tell of that some
 * time later, and a branch that it follows, because that has other plans.
 */
interface Special {
  readonly isHeld?: boolean;
  readonly followed?: typeof repository;
}

async function openKnown(
  transport: 'here' | 'http',
  { isHeld = false, followed }: Special = {},
): Promise<Known> {
  const daemon = withNewFactory(shared());
  const { factory, home, managementUrl } = daemon;
  const manager = await daemon.client();
  const { json: created } = await manager.call('createWebhook', { body: { name: 'deploys' } });
  const { uid, url } = created.webhook;
  const sender = {
    provider: 'github',
    repository: 'acme/shop',
    credentialSecret: 'GITHUB_HOOKS_TOKEN',
  } as const;
  const signed = { authMode: 'signature', signatureScheme: 'github' } as const;
  const shop = { name: 'shop', ...signed, sender: { ...sender, url: 'http://127.0.0.1:9' } };
  const sent = (await manager.call('createWebhook', { body: shop })).json.webhook.uid;
  const credentialSecret = `HOOKED_TOKEN_${factory.replace('factory-', '')}`;
  await daemon.store.teamSecrets.set(credentialSecret, 'github-token', factory);
  const secret = { kind: 'supplied', value: 'a-secret-of-the-hook-1234567890' } as const;
  const known = { name: 'hooked', ...signed, secret, sender: { ...sender, url: provider, credentialSecret } };
  const hooked = (await manager.call('createWebhook', { body: known })).json.webhook.uid;
  const cart = { ...shop, name: 'cart', sender: { ...sender, url: provider, credentialSecret } };
  const tried = (await manager.call('createWebhook', { body: cart })).json.webhook;
  const automation = { name: 'triage', ...automationOf(uid) };
  await manager.call('createAutomation', { body: automation });
  await manager.call('createAutomation', { body: { ...automation, name: 'notify' } });
  if (isHeld)
    await manager.call('createAutomation', { body: { ...automation, name: 'propose', runner: 'propose' } });
  await manager.call('pauseAutomation', { params: { automation: 'notify' }, body: {} });
  const headers = { Authorization: `Bearer ${created.revealed.secret}` };
  const { deliveryId: delivery = '' } = await send(url, { headers, body: '{"state":"failed"}' });
  const runOf = async (automation: string) =>
    (await manager.call('listRuns', { query: { automation } })).json.runs[0];
  await expect.poll(async () => (await runOf('triage'))?.state, { timeout: 60_000 }).toBe('failed');
  await expect.poll(async () => (await runOf('notify'))?.waitsFor, { timeout: 60_000 }).toBe('paused');
  if (isHeld)
    await expect.poll(async () => (await runOf('propose'))?.waitsFor, { timeout: 60_000 }).toBe('approval');
  const problem = { reason: 'the branch cannot be followed: it is gone', sinceMs: daemon.clock.nowMs };
  const finding = { type: 'reconcile.failing', factory, subject: '', name: '', problem } as const;
  const context = { nowMs: daemon.clock.nowMs, randomBytes, receivers: [], dashboardUrl: '' };
  const { episodes } = await daemon.store.alerts.change(state => followEpisodes(state, [finding], context));
  const alert = episodes.find(episode => episode.factory === factory)?.id ?? '';
  const follow = (suspendedAt: string | null) =>
    daemon.store.reconcileStatuses.change(factory, status => ({
      ...status,
      followed: followed ?? null,
      suspendedAt,
    }));
  await follow(null);
  await manager.call('beginSecretRotation', { params: { uid: hooked }, body: {} });
  const plan = await manager.call('planSender', { params: { uid: hooked }, body: { events: ['push'] } });
  const { fingerprint } = plan.json;
  const server = { url: managementUrl, getToken: async () => manager.token };
  const overHttp: CallOperation = (id, parts) =>
    callServer(server, id, { ...parts, params: { factory, ...parts?.params } });
  const here = createCallHere(
    { ...factoryIn(home, factory, 0), now: () => new Date(daemon.clock.nowMs) },
    {
      ...{ baseUrl: daemon.ingressUrl, ownBaseUrl: toOwnBaseUrl(daemon.ingressUrl) },
      findDaemonProblem: async () => null,
      findIngress: async () => daemon.ingressUrl,
    },
  );
  const [{ id: run }, { id: waiting }] = [await runOf('triage'), await runOf('notify')];
  const { id: held = '' } = isHeld ? await runOf('propose') : {};
  return {
    ...{ uid, sent, hooked, fingerprint, tried: tried.uid, attempt: tryToDeliver(tried.url) },
    delivery,
    run,
    waiting,
    held,
    alert,
    token: (await daemon.client()).tokenName,
    call: transport === 'here' ? here : overHttp,
    suspend: () => follow(new Date(daemon.clock.nowMs).toISOString()),
  };
}

/** Lets the provider try to deliver an event to no hook but the one with this URL, which it makes. */
function tryToDeliver(url: string): Known['attempt'] {
  for (const hook of github.hooks) hook.active = false;
  github.addHook('acme/shop', { config: { url, content_type: 'json' }, events: ['push'] });
  const [delivery] = github.deliverMany(1, 'push', null);
  return { eventId: delivery?.guid ?? '', attemptId: String(delivery?.id) };
}

function automationOf(uid: string) {
  const filter = { webhook_ids: [uid], payload: { state: ['failed'] } };
  return { prompt: 'Look.', triggers: [{ provider: 'webhook', event: 'received', filter } as const] };
}

type Case<Id extends CallableId> = (known: Known) => CallParts<Id>;

const unknownUid = 'wh_000000000000000000000000';
const since = '2026-01-31T14:05:00Z';
const files = [{ path: 'webhooks/pay.yaml', content: 'secretName: MISSING\n' }];

/** What is asked of each operation: something that it does, and something that it refuses if there is such a thing. */
const cases: { readonly [Id in CallableId]: readonly Case<Id>[] } = {
  describeApi: [() => ({})],
  listSchemes: [() => ({ query: { id: 'github' } }), () => ({ query: { ids: 'github' } })],
  showStatus: [() => ({})],
  requestReconcile: [() => ({ body: {} }), () => ({ body: {} }), () => ({ body: { at: since } as object })],
  suspendReconcile: [() => ({ body: {} }), () => ({ body: {} }), () => ({ body: { at: since } as object })],
  resumeReconcile: [() => ({ body: {} }), () => ({ body: {} }), () => ({ body: { at: since } as object })],
  showHealthOverview: [],
  showHealth: [({ uid }) => ({ query: { webhook: uid } }), () => ({ query: { hook: 'x' } })],
  listWebhooks: [() => ({})],
  showWebhook: [({ uid }) => ({ params: { uid } }), () => ({ params: { uid: unknownUid } })],
  listSenders: [() => ({})],
  checkSender: [
    ({ sent }) => ({ params: { uid: sent }, body: {} }),
    ({ uid }) => ({ params: { uid }, body: {} }),
    () => ({ params: { uid: unknownUid }, body: {} }),
  ],
  sendTest: [
    ({ uid }) => ({ params: { uid }, body: {} }),
    ({ uid }) => ({ params: { uid }, body: { headers: { Authorization: 'x' } } }),
    ({ sent }) => ({ params: { uid: sent }, body: {} }),
    () => ({ params: { uid: unknownUid }, body: {} }),
    ({ uid }) => ({ params: { uid }, body: { payload: '{' } }),
  ],
  planSender: [
    ({ hooked }) => ({ params: { uid: hooked }, body: { events: ['push'] } }),
    ({ hooked }) => ({ params: { uid: hooked }, body: {} }),
    ({ sent }) => ({ params: { uid: sent }, body: {} }),
    ({ uid }) => ({ params: { uid }, body: {} }),
    () => ({ params: { uid: unknownUid }, body: {} }),
  ],
  registerSender: [
    ({ hooked, fingerprint }) => ({ params: { uid: hooked }, body: { events: ['push'], fingerprint } }),
    ({ hooked, fingerprint }) => ({ params: { uid: hooked }, body: { events: ['issues'], fingerprint } }),
    ({ uid, fingerprint }) => ({ params: { uid }, body: { fingerprint } }),
    ({ hooked }) => ({ params: { uid: hooked }, body: {} as { fingerprint: string } }),
  ],
  listMissed: [
    ({ tried }) => ({ params: { uid: tried }, body: { since: '2020-01-01T00:00:00Z', all: true } }),
    ({ tried }) => ({ params: { uid: tried }, body: { since, cursor: 'x' } }),
    ({ sent }) => ({ params: { uid: sent }, body: { since } }),
    ({ uid }) => ({ params: { uid }, body: { since } }),
    ({ tried }) => ({ params: { uid: tried }, body: { since: 'yesterday' } }),
  ],
  redeliverMissed: [
    ({ tried, attempt }) => ({ params: { uid: tried }, body: { listedAt: since, events: [attempt] } }),
    ({ sent, attempt }) => ({ params: { uid: sent }, body: { listedAt: since, events: [attempt] } }),
    ({ uid }) => ({ params: { uid }, body: { listedAt: since, events: [] } }),
    ({ tried }) => ({
      params: { uid: tried },
      body: { listedAt: since, events: [{ eventId: '' }] } as never,
    }),
  ],
  describePayloads: [({ uid }) => ({ params: { uid } }), () => ({ params: { uid: unknownUid } })],
  listAutomations: [() => ({})],
  showAutomation: [
    () => ({ params: { automation: 'triage' } }),
    () => ({ params: { automation: 'unknown' } }),
  ],
  planAutomation: [
    ({ uid }) => ({ body: { name: 'triage', ...automationOf(uid), enabled: false } }),
    () => ({ body: { name: 'Not A Name', prompt: '', triggers: [] } }),
  ],
  exportDefinitions: [
    () => ({}),
    () => ({ query: { fixtures: 'true' } }),
    () => ({ query: { fixtures: 'no' as 'true' } }),
  ],
  plan: [() => ({ body: { files: [] } }), () => ({ body: { files } })],
  listDeliveries: [
    () => ({ query: { webhook: 'deploys', summary: 'true' } }),
    () => ({ query: { since: '2020-01-01T00:00:00Z', limit: '1' } }),
    () => ({ query: { webhook: 'unknown' } }),
    () => ({ query: { limit: '0' } }),
    () => ({ query: { cursor: 'dlv_unknown' } }),
  ],
  listUnlogged: [() => ({ query: { webhook: 'deploys' } })],
  explainWhy: [
    () => ({ params: { subject: 'deploys' } }),
    ({ run }) => ({ params: { subject: run } }),
    () => ({ params: { subject: 'unknown' } }),
  ],
  showDelivery: [
    ({ delivery }) => ({ params: { delivery } }),
    () => ({ params: { delivery: 'dlv_unknown' } }),
  ],
  downloadPayload: [
    ({ delivery }) => ({ params: { delivery } }),
    () => ({ params: { delivery: 'dlv_unknown' } }),
  ],
  testFilter: [
    ({ delivery }) => ({ body: { automation: 'triage', delivery } }),
    ({ uid }) => ({ body: { triggers: [...automationOf(uid).triggers], payload: { state: 'passed' } } }),
    () => ({ body: { automation: 'unknown', payload: {} } }),
    () => ({ body: {} }),
  ],
  testOnStored: [
    ({ uid }) => ({ body: { automation: 'triage', webhook: uid } }),
    ({ uid }) => ({ body: { triggers: [...automationOf(uid).triggers], last: 2 } }),
    ({ uid }) => ({ body: { draft: { name: 'triage', ...automationOf(uid) } } }),
    () => ({ body: { automation: 'unknown' } }),
    () => ({ body: { automation: 'triage', webhook: unknownUid } }),
    () => ({ body: { last: 0 } }),
    () => ({ body: {} }),
  ],
  listRuns: [
    ({ delivery }) => ({ query: { delivery } }),
    () => ({ query: { state: 'failed' } }),
    () => ({ query: { automation: 'unknown' } }),
  ],
  showRunTallies: [() => ({})],
  showRun: [({ run }) => ({ params: { run } }), () => ({ params: { run: 'run_unknown' } })],
  showRunOutput: [
    ({ run }) => ({ params: { run }, query: { from: '2' } }),
    () => ({ params: { run: 'run_unknown' } }),
    ({ run }) => ({ params: { run }, query: { from: '-1' } }),
  ],
  downloadArtifact: [
    ({ run }) => ({ params: { run, artifact: 'report.md' } }),
    ({ run }) => ({ params: { run, artifact: 'unknown.md' } }),
  ],
  listSecrets: [() => ({})],
  listTokens: [],
  createToken: [
    () => ({ body: { name: `t-${randomBytes(8).toString('hex')}`, permission: 'read' } }),
    () => ({ body: { name: 'not a name', permission: 'read' } }),
    () => ({ body: { name: 't', permission: 'all' as 'read' } }),
  ],
  revokeToken: [({ token }) => ({ params: { token } }), () => ({ params: { token: 'unknown' } })],
  listAudit: [() => ({}), () => ({ query: { cursor: 'x' } })],

  createWebhook: [
    () => ({ body: { name: 'pay', authMode: 'url_token' } }),
    () => ({ body: { name: 'deploys' } }),
    () => ({ body: { name: 'pay' }, ifSerial: 1 }),
    () => ({ body: { name: 'pay', authMode: 'signature' } }),
  ],
  changeWebhook: [
    ({ uid }) => ({ params: { uid }, body: { enabled: false } }),
    () => ({ params: { uid: unknownUid }, body: { enabled: false } }),
  ],
  changeWebhookSecret: [
    ({ uid }) => ({ params: { uid }, body: {} }),
    () => ({ params: { uid: unknownUid }, body: {} }),
  ],
  beginSecretRotation: [
    ({ uid }) => ({ params: { uid }, body: {} }),
    ({ sent }) => ({ params: { uid: sent }, body: {} }),
    () => ({ params: { uid: unknownUid }, body: {} }),
  ],
  endSecretRotation: [
    ({ hooked }) => ({ params: { uid: hooked }, body: {} }),
    ({ uid }) => ({ params: { uid }, body: {} }),
    () => ({ params: { uid: unknownUid }, body: {} }),
  ],
  deleteWebhook: [({ uid }) => ({ params: { uid } }), () => ({ params: { uid: unknownUid } })],
  createAutomation: [
    ({ uid }) => ({ body: { name: 'other', ...automationOf(uid) } }),
    ({ uid }) => ({ body: { name: 'triage', ...automationOf(uid) } }),
  ],
  replaceAutomation: [
    ({ uid }) => ({ params: { automation: 'triage' }, body: { ...automationOf(uid), enabled: false } }),
    ({ uid }) => ({ params: { automation: 'unknown' }, body: automationOf(uid) }),
  ],
  deleteAutomation: [
    () => ({ params: { automation: 'triage' } }),
    () => ({ params: { automation: 'unknown' } }),
  ],
  runByHand: [
    () => ({ body: { automation: 'triage', payload: '{}' } }),
    () => ({ body: { automation: 'unknown', payload: '{}' } }),
    () => ({ body: { automation: 'triage', payload: '{' } }),
  ],
  replayDelivery: [
    ({ delivery }) => ({ params: { delivery }, body: {} }),
    ({ delivery }) => ({ params: { delivery }, body: { automation: 'unknown' } }),
    () => ({ params: { delivery: 'dlv_unknown' }, body: {} }),
  ],
  retryRun: [
    ({ run }) => ({ params: { run }, body: {} }),
    () => ({ params: { run: 'run_unknown' }, body: {} }),
  ],
  dismissRun: [
    ({ run }) => ({ params: { run }, body: {} }),
    () => ({ params: { run: 'run_unknown' }, body: {} }),
  ],
  cancelRun: [
    ({ waiting }) => ({ params: { run: waiting }, body: {} }),
    ({ run }) => ({ params: { run }, body: {} }),
    () => ({ params: { run: 'run_unknown' }, body: {} }),
  ],
  approveRun: [
    ({ held }) => ({ params: { run: held }, body: {} }),
    ({ run }) => ({ params: { run }, body: {} }),
    () => ({ params: { run: 'run_unknown' }, body: {} }),
  ],
  runAgain: [
    ({ run }) => ({ params: { run }, body: { prompt: 'Look again.' } }),
    ({ run }) => ({ params: { run }, body: { runner: 'unknown' } }),
    ({ waiting }) => ({ params: { run: waiting }, body: {} }),
    () => ({ params: { run: 'run_unknown' }, body: {} }),
  ],
  pauseAutomation: [
    () => ({ params: { automation: 'triage' }, body: { seconds: 3_600 } }),
    () => ({ params: { automation: 'unknown' }, body: {} }),
    () => ({ params: { automation: 'triage' }, body: { seconds: 0 } }),
  ],
  listPauses: [() => ({})],
  listRunners: [() => ({})],
  resumeAutomation: [
    () => ({ params: { automation: 'notify' }, body: {} }),
    () => ({ params: { automation: 'triage' }, body: {} }),
  ],
  listAlerts: [() => ({})],
  acknowledgeAlert: [
    ({ alert }) => ({ params: { alert }, body: {} }),
    () => ({ params: { alert: 'alr_unknown' }, body: {} }),
  ],
  muteAlert: [
    ({ alert }) => ({ params: { alert }, body: { seconds: 3_600 } }),
    () => ({ params: { alert: 'alr_unknown' }, body: { seconds: 0 } }),
    ({ alert }) => ({ params: { alert }, body: { seconds: -1 } }),
  ],
  apply: [
    () => ({ body: { files: [], origin: '/definitions', adopt: true, confirm: ['destroy'] } }),
    () => ({ body: { files, origin: '/definitions', adopt: true } }),
    () => ({ body: { files: [], origin: '/definitions' } }),
  ],
};

const ids = Object.keys(cases) as CallableId[];
const isChange = (id: CallableId) => {
  const { method, permission }: ApiRoute = apiRoutes[id];
  return method !== 'get' && permission === 'manage';
};

const openOnce = (special?: Special) => {
  let pair: Promise<[Known, Known]> | undefined;
  return () => {
    pair ??= Promise.all([openKnown('here', special), openKnown('http', special)]);
    return pair;
  };
};
/** Opened by the first test, and shared by all that only read or are refused. */
const openReaders = openOnce();
/** Each is shared by these changes, which leave what the others are about, in this order; the last one by all others. */
const sharing: readonly (readonly [readonly CallableId[], ReturnType<typeof openOnce>])[] = [
  [['requestReconcile', 'suspendReconcile', 'resumeReconcile'], openOnce({ followed: repository })],
  [['dismissRun', 'cancelRun', 'approveRun', 'runAgain'], openOnce({ isHeld: true })],
  [['beginSecretRotation', 'deleteWebhook', 'replaceAutomation', 'deleteAutomation'], openOnce()],
  [['apply'], openOnce()],
];
const openAdded = openOnce();
const openFor = (id: CallableId) => sharing.find(([ids]) => ids.includes(id))?.[1] ?? openAdded;

/** The daemon may have begun the run that these queue. */
const queuing: readonly string[] = ['retryRun', 'approveRun', 'runAgain'];
const ofAttempts = /"(state|attempts|nextAttemptAt|startedAt|finishedAt|history)":(\w+|"\w+"|\[.*?\])/g;

/** They ask a provider, and change nothing. */
const asking: readonly CallableId[] = ['checkSender', 'planSender', 'listMissed'];

/** The outcome of a call, without what differs between two factories: their name, IDs, times and secrets. */
async function outcomeOf(id: CallableId, ask: Case<CallableId>, { call, ...known }: Known): Promise<unknown> {
  const outcome = await call(id, ask({ call, ...known })).then(
    answer => ({ answer: answer instanceof Uint8Array ? toData(Buffer.from(answer).toString()) : answer }),
    (error: unknown) => {
      if (error instanceof Refusal)
        return { code: error.code, message: error.message, ...error.parts, detail: 0 };
      const { code, message } = error as Error & { code?: string };
      return { code, message };
    },
  );
  const text = JSON.stringify(outcome)
    .replaceAll(/(wh|dlv|run|alr)_[0-9a-z]{24,26}/g, '$1_…')
    .replaceAll(/factory-\d+/g, 'factory')
    .replaceAll(/"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"|"\d{19}"/g, '"of the provider"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/("secret":"|\/wh_…\/)[\w-]{20,}/g, '$1…')
    .replaceAll(/(_TOKEN|_WEBHOOK)_\d+/g, '$1')
    .replaceAll(/"name":"(token|t)-\w+"/g, '"name":"$1"')
    .replaceAll(/hmk_[\w-]+/g, 'hmk_…')
    .replaceAll(/"by":"[^"]+"/g, '"by":"…"')
    .replaceAll(/"(fingerprint)":"[^"]+"/g, '"$1":"…"')
    .replaceAll(/"tookMs":[\d.]+/g, '"tookMs":0')
    .replaceAll(/"id":"\d+"/g, '"id":"…"')
    .replaceAll(queuing.includes(id) ? ofAttempts : /$^/g, '"$1":0');
  return JSON.parse(text);
}

/** JSON is compared by its content, because the order of its keys has no meaning. */
function toData(text: string): unknown {
  return text.startsWith('{') ? JSON.parse(text) : text;
}

async function changesOf({ call }: Known) {
  const { entries } = await call('listAudit');
  return entries
    .filter(({ factory }) => factory !== null)
    .map(({ operation, subject, unfinished }) => {
      return {
        operation,
        subject: subject
          .replaceAll(/(wh|dlv|run|alr)_[0-9a-z]{24,26}/g, '$1_…')
          .replace(/(token|t)-\w+/, '$1')
          .replace(/hook \d+/, 'hook …')
          .replace(/until \S+Z/, 'until …'),
        unfinished,
      };
    });
}

// The first case of each operation is what it does; the others are refused.
test.for(ids.filter(id => !isChange(id)))('%s answers the same in this process and over HTTP', async id => {
  for (const [index, ask] of (cases[id] as readonly Case<CallableId>[]).entries()) {
    const [here, overHttp] = await Promise.all((await openReaders()).map(known => outcomeOf(id, ask, known)));
    expect(here).toEqual(overHttp);
    if (index === 0) expect(here).not.toHaveProperty('message');
  }
});

test.for(ids.filter(isChange))(
  '%s answers and is recorded the same in this process and over HTTP',
  async id => {
    const [does, ...refused] = cases[id] as readonly [Case<CallableId>, ...Case<CallableId>[]];
    /** Calls the operation in both ways; returns the answer, and how many changes that recorded. */
    const callBoth = async (ask: Case<CallableId>, [here, overHttp]: readonly [Known, Known]) => {
      const before = [(await changesOf(here)).length, (await changesOf(overHttp)).length] as const;
      const answer = await outcomeOf(id, ask, here);
      expect(answer).toEqual(await outcomeOf(id, ask, overHttp));
      const changes = (await changesOf(here)).slice(0, -before[0]);
      expect(changes).toEqual((await changesOf(overHttp)).slice(0, -before[1]));
      return { answer, recorded: changes.length };
    };
    const pair = await openFor(id)();
    if (id === 'resumeReconcile') for (const known of pair) await known.suspend();
    const { answer, recorded } = await callBoth(does, pair);
    expect(answer).not.toHaveProperty('message');
    expect(recorded).toBe(asking.includes(id) ? 0 : 1);
    for (const ask of refused) expect((await callBoth(ask, await openReaders())).recorded).toBe(0);
  },
);

import { type IncomingMessage, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { acceptedDelivery, sampleAtMs } from '../../../../support/deliveries.ts';
import { areHomesInPostgres } from '../../../../support/home-place.ts';
import { type Answer, send } from '../../../../support/http.ts';
import {
  type ApiClient,
  call,
  type FactoryDaemon,
  signIn,
  startManagedDaemon,
  useManagedDaemon,
  withNewFactory,
} from '../../../../support/management.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const shared = useManagedDaemon();

interface Ready {
  readonly daemon: FactoryDaemon;
  readonly manager: ApiClient;
  readonly uid: string;
  deliver(payload: unknown): Promise<string>;
  sendText(body: string): Promise<Answer>;
  /** A request that nobody vouched for. */
  intrude(): Promise<void>;
}

/** A new factory with the webhook `deploys`, and an automation on it that matches only failures. */
async function ready(running = shared()): Promise<Ready> {
  const daemon = withNewFactory(running);
  const manager = await daemon.client();
  const { json } = await manager.call('createWebhook', { body: { name: 'deploys' } });
  const { uid, url } = json.webhook;
  const filter = { webhook_ids: [uid], payload: { state: ['failed'] } };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  await manager.call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
  const sendText = (body: string) => send(url, { headers: bearer(json.revealed.secret), body });
  return {
    ...{ daemon, manager, uid },
    deliver: async payload => (await sendText(JSON.stringify(payload))).deliveryId ?? '',
    sendText,
    intrude: async () => {
      expect(await send(url, { headers: bearer('wrong'), body: '{}' })).toMatchObject({ status: 401 });
    },
  };
}

test('lists deliveries newest first, and explains one with its payload, verdicts and runs', async () => {
  const { manager, deliver, uid } = await ready();
  const passed = await deliver({ state: 'passed' });
  const failed = await deliver({ state: 'failed' });
  const { json } = await manager.call('listDeliveries');
  expect(json.deliveries.map(({ id }: { id: string }) => id)).toEqual([failed, passed]);
  expect(json.deliveries[0]).toMatchObject({ webhook: 'deploys', uid, size: 18, outcome: 'Accepted' });
  const shown = await manager.call('showDelivery', { params: { delivery: failed } });
  expect(shown.json).toMatchObject({
    payload: '{"state":"failed"}',
    evaluation: { automations: [{ automation: 'triage', wouldTrigger: true }], others: 0 },
    runs: [{ automation: 'triage', deliveryId: failed }],
  });
  const other = await manager.call('showDelivery', { params: { delivery: passed } });
  expect(other.json.evaluation.automations[0].triggers[0].clauses).toEqual([
    { path: '$.state', operator: 'in', allowed: '["failed"]', found: '"passed"', holds: false },
  ]);
});

test('gives a payload byte for byte, as something to download and not to show', async () => {
  const { daemon, manager, uid } = await ready();
  const payload = Buffer.from(' {"a":"<script>alert(1)</script>","é":1e400}\r\n');
  const log = await daemon.store.openDeliveryLog();
  await log.recordAccepted(acceptedDelivery({ factory: daemon.factory, id: 'dlv_raw', uid, payload }));
  await log.close();
  const answer = await manager.call('downloadPayload', { params: { delivery: 'dlv_raw' } });
  expect(answer.text).toBe(payload.toString());
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="dlv_raw.json"',
    'x-content-type-options': 'nosniff',
  });
});

test('summarizes listed deliveries on request: runs by state, and a payload on one line, cut at a character', async () => {
  const { daemon, manager, uid, deliver } = await ready();
  const failed = await deliver({ state: 'failed' });
  const log = await daemon.store.openDeliveryLog();
  const payload = Buffer.from(`{\n  "status": "${'é'.repeat(200)}"\n}`);
  await log.recordAccepted(acceptedDelivery({ factory: daemon.factory, id: 'dlv_long', uid, payload }));
  await log.close();
  const list = async (query: Record<string, string>) =>
    (await manager.call('listDeliveries', { query })).json.deliveries;
  expect((await list({})).map((delivery: object) => 'summary' in delivery)).toEqual([false, false]);
  await expect
    .poll(() => list({ summary: 'true', limit: '2' }))
    .toMatchObject([
      { id: 'dlv_long', summary: { runs: {}, preview: `{ "status": "${'é'.repeat(112)}` } },
      { id: failed, summary: { runs: { succeeded: 1 }, preview: '{"state":"failed"}' } },
    ]);
});

const pullRequest = JSON.stringify({
  ...{ action: 'opened', number: 482, pull_request: { number: 482, title: 'Charge VAT by country' } },
  ...{ repository: { full_name: 'acme/shop' }, sender: { login: 'jlin' } },
});

test('titles deliveries, runs and the last delivery by their event, duplicates by their original', async () => {
  const { daemon, manager, uid } = await ready();
  const log = await daemon.store.openDeliveryLog();
  const event = {
    ...{ factory: daemon.factory, uid, webhook: 'deploys', authenticatedBy: 'github', identity: 'same' },
    ...{ payload: Buffer.from(pullRequest), headers: { 'x-github-event': 'pull_request' } },
  };
  const run = { id: 'run_titled', automation: 'triage' };
  const { appliedState: _, ...original } = acceptedDelivery({ ...event, id: 'dlv_first', runs: [run] });
  await log.recordAccepted(original);
  await log.recordAccepted(acceptedDelivery({ ...event, id: 'dlv_second' }));
  await log.close();
  const title = { title: 'pull_request opened', text: 'acme/shop#482 · Charge VAT by country' };
  const query = { summary: 'true', limit: '1' };
  const scheme = 'github';
  // The original is not on the page of the duplicate.
  expect((await manager.call('listDeliveries', { query })).json.deliveries).toMatchObject([
    { id: 'dlv_second', summary: { ...title, scheme, preview: null } },
  ]);
  const page = await manager.call('listDeliveries', { query: { ...query, cursor: 'dlv_second' } });
  expect(page.json.deliveries).toMatchObject([{ id: 'dlv_first', summary: { ...title, scheme } }]);
  for (const more of [{}, { delivery: 'dlv_first' }] as Record<string, string>[]) {
    const { json } = await manager.call('listRuns', { query: { ...query, ...more } });
    expect(json.runs).toMatchObject([{ id: 'run_titled', summary: { ...title, scheme } }]);
    const plain = await manager.call('listRuns', { query: more });
    expect(plain.json.runs[0]).not.toHaveProperty('summary');
  }
  for (const delivery of ['dlv_first', 'dlv_second']) {
    expect((await manager.call('showDelivery', { params: { delivery } })).json).toMatchObject(title);
  }
  const { json } = await manager.call('showHealth');
  expect(json.webhooks[0].lastDelivery).toMatchObject({ id: 'dlv_second', ...title });
});

test('titles a duplicate whose original is gone, and a payload that is longer than what is read of it', async () => {
  const { daemon, manager, uid } = await ready();
  const log = await daemon.store.openDeliveryLog();
  const long = Buffer.from(`{"state":"failed","more":${JSON.stringify('é'.repeat(100_000))},"late":"x"}`);
  const event = { factory: daemon.factory, uid, payload: long };
  // A database removes whole days.
  const old = acceptedDelivery({ ...event, identity: 'same', atMs: sampleAtMs - 2 * 86_400_000 });
  const kept = acceptedDelivery({ ...event, identity: 'same' });
  const cut = acceptedDelivery(event);
  for (const delivery of [old, kept, cut]) await log.recordAccepted(delivery);
  expect(await log.prune({ keepNewest: 0, keepSinceMs: sampleAtMs })).toMatchObject({ deliveries: 1 });
  await log.close();
  const { json } = await manager.call('listDeliveries', { query: { summary: 'true' } });
  expect(json.deliveries).toMatchObject([
    { id: cut.id, summary: { title: 'Delivery', text: 'failed', scheme: null } },
    { id: kept.id, summary: { title: 'Duplicate', text: null, preview: null } },
  ]);
});

test('titles rejected requests by the reason, which only managers see of a credential', async () => {
  const { daemon, manager, intrude, sendText } = await ready();
  const reader = await daemon.client({ permission: 'read' });
  const query = { summary: 'true', outcome: 'Rejected (auth),Rejected (invalid JSON)' };
  const titlesFor = async (client: ApiClient) => {
    const { deliveries } = (await client.call('listDeliveries', { query })).json;
    return deliveries.map(({ summary: { title, text } }: { summary: Record<string, unknown> }) => [
      title,
      text,
    ]);
  };
  await intrude();
  // A database may commit two rejections that follow each other in any order.
  await expect.poll(() => titlesFor(manager)).toEqual([['Wrong token', null]]);
  await sendText('{"n":');
  const broken = ['Invalid JSON', 'a value is expected at line 1, column 6'];
  await expect.poll(() => titlesFor(manager)).toEqual([broken, ['Wrong token', null]]);
  expect(await titlesFor(reader)).toEqual([broken, ['Credential refused', null]]);
  const [, { id }] = (await reader.call('listDeliveries', { query })).json.deliveries;
  const params = { delivery: id };
  expect((await reader.call('showDelivery', { params })).json.title).toBe('Credential refused');
  expect((await manager.call('showDelivery', { params })).json.title).toBe('Wrong token');
});

test('lists deliveries with one of several outcomes, and refuses an unknown one', async () => {
  const { manager, intrude, deliver } = await ready();
  await deliver({ state: 'failed' });
  await deliver({ state: 'failed' });
  await intrude();
  const list = (outcome: string) => manager.call('listDeliveries', { query: { outcome } });
  const outcomes = async (outcome: string) =>
    (await list(outcome)).json.deliveries.map((delivery: { outcome: string }) => delivery.outcome);
  await expect.poll(() => outcomes('Duplicate, Rejected (auth)')).toEqual(['Rejected (auth)', 'Duplicate']);
  expect(await outcomes('Duplicate')).toEqual(['Duplicate']);
  expect(await outcomes('duplicate,REJECTED (auth)')).toEqual(['Rejected (auth)', 'Duplicate']);
  for (const unknown of ['Lost', 'Duplicate,', '', 'Duplicate,Lost']) {
    expect((await list(unknown)).json).toMatchObject({ code: 'request-invalid' });
  }
});

test('shows only to managers what was wrong with a credential, and to readers where a body is not JSON', async () => {
  const { daemon, manager, intrude, sendText } = await ready();
  const reader = await daemon.client({ permission: 'read' });
  await intrude();
  const latest = async (client: ApiClient) => (await client.call('listDeliveries')).json.deliveries[0];
  await expect
    .poll(() => latest(manager))
    .toMatchObject({
      outcome: 'Rejected (auth)',
      reason: 'wrong token',
    });
  expect(await latest(reader)).not.toHaveProperty('reason');
  const params = { delivery: (await latest(reader)).id };
  expect((await reader.call('showDelivery', { params })).json).not.toHaveProperty('reason');
  expect((await manager.call('downloadPayload', { params })).json.code).toBe('payload-not-stored');
  await sendText('{"n":');
  await expect
    .poll(() => latest(reader))
    .toMatchObject({
      outcome: 'Rejected (invalid JSON)',
      reason: 'the body is not JSON: a value is expected at line 1, column 6',
    });
});

test('pages through deliveries and runs without skipping or repeating one, while others arrive', async () => {
  const { manager, deliver } = await ready();
  const ids: string[] = [];
  for (let count = 0; count < 7; count++) ids.push(await deliver({ state: 'failed', count }));
  const pages = async (id: 'listDeliveries' | 'listRuns', idsOf: (json: never) => string[]) => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: Record<string, string> = { limit: '3', ...(cursor && { cursor }) };
      const { json } = await manager.call(id, { query });
      seen.push(...idsOf(json as never));
      cursor = json.next;
      await deliver({ state: 'failed', later: Math.random() });
    }
    return seen;
  };
  const listed = await pages('listDeliveries', ({ deliveries }: { deliveries: { id: string }[] }) =>
    deliveries.map(({ id }) => id),
  );
  expect(listed).toEqual(ids.toReversed());
  const ran = await pages('listRuns', ({ runs }: { runs: { deliveryId: string }[] }) =>
    runs.map(({ deliveryId }) => deliveryId),
  );
  expect(ran.slice(-7)).toEqual(ids.toReversed());
  expect(new Set(ran).size).toBe(ran.length);
});

test('lets a client follow deliveries and runs from now on, from the start, and from where it was', async () => {
  const { manager, deliver } = await ready();
  const follow = async (id: 'listDeliveries' | 'listRuns', query: Record<string, string>) =>
    (await manager.call(id, { query })).json;
  const empty = await follow('listDeliveries', { after: 'now' });
  expect(empty).toEqual({ deliveries: [], next: 'start', hasMore: false, searched: 0 });
  const ids = [await deliver({ state: 'failed' }), await deliver({ state: 'passed' })];
  const all = await follow('listDeliveries', { after: empty.next });
  expect(all).toMatchObject({ deliveries: ids.map(id => ({ id })), next: ids[1], searched: 2 });
  expect((await follow('listDeliveries', { after: 'now' })).next).toBe(ids[1]);
  ids.push(await deliver({ state: 'failed', n: 2 }));
  const query = { after: all.next, event: 'none', since: '2026-01-01T00:00:00+01:00' };
  expect(await follow('listDeliveries', query)).toMatchObject({ deliveries: [], next: ids[2], searched: 1 });
  // Whoever waits for what is rare does not stay at a row that retention removes.
  const rare = { after: 'start', outcome: 'Duplicate' };
  expect(await follow('listDeliveries', rare)).toMatchObject({
    deliveries: [],
    next: ids[2],
    hasMore: false,
  });
  const first = await follow('listDeliveries', { after: 'start', limit: '1' });
  expect(first).toMatchObject({ next: ids[0], hasMore: true });
  expect(await follow('listDeliveries', { after: ids[2] ?? '' })).toMatchObject({
    deliveries: [],
    next: ids[2],
  });
  const runs = await follow('listRuns', { after: 'start', limit: '1' });
  expect(runs.runs).toMatchObject([{ deliveryId: ids[0] }]);
  expect((await follow('listRuns', { after: runs.next })).runs).toMatchObject([{ deliveryId: ids[2] }]);
  expect(await follow('listRuns', { after: 'run_gone' })).toMatchObject({ code: 'cursor-unknown' });
});

test.for<Record<string, string>>([
  { since: 'yesterday' },
  { until: '2026-01-01' },
  { search: '' },
  { event: 'x'.repeat(257) },
])('refuses to list by %j', async (query, { expect }) => {
  const { manager } = await ready();
  const answer = await manager.call('listDeliveries', { query });
  expect(answer.json).toMatchObject({
    code: 'request-invalid',
    mistakes: [{ pointer: Object.keys(query)[0] }],
  });
});

test('knows no deliveries and runs of another factory', async () => {
  const { daemon, deliver, manager } = await ready();
  const delivery = await deliver({ state: 'failed' });
  const run = (await manager.call('listRuns')).json.runs[0].id;
  const stranger = await daemon.client({ factory: 'other' });
  const params = { delivery, run };
  const codes = async (...ids: Parameters<ApiClient['call']>[0][]) => {
    const answers = ids.map(async id => (await stranger.call(id, { params })).json.code);
    return Promise.all(answers);
  };
  expect(await codes('showDelivery', 'downloadPayload', 'replayDelivery')).toEqual(
    Array(3).fill('delivery-unknown'),
  );
  expect(await codes('showRun', 'showRunOutput', 'retryRun', 'dismissRun')).toEqual(
    Array(4).fill('run-unknown'),
  );
  const query = { cursor: delivery };
  const page = await stranger.call('listDeliveries', { query });
  expect(page.json.code).toBe('cursor-unknown');
  const tested = await stranger.call('testFilter', { params, body: { triggers: [anyOf('x')], delivery } });
  expect(tested.json.code).toBe('delivery-unknown');
});

const anyOf = (state: string) => ({
  provider: 'webhook',
  event: 'received',
  filter: { webhook_ids: [`wh_${'0'.repeat(24)}`], payload: { state: [state] } },
});

test('answers 404 to a filter by a name or UID that nothing ever had, and suggests what was meant', async () => {
  const { daemon, manager, uid } = await ready();
  const ask = async (
    id: 'listDeliveries' | 'listRuns' | 'watchDeliveries',
    query: Record<string, string>,
  ) => {
    const { status, json } = await manager.call(id, { query });
    return { status, code: json.code, detail: json.detail };
  };
  const none = `the factory ${daemon.factory} has no webhook`;
  const unknown = { status: 404, code: 'webhook-unknown' };
  const meant = { ...unknown, detail: `${none} deploy; did you mean deploys?` };
  expect(await ask('listDeliveries', { webhook: 'deploy' })).toEqual(meant);
  const other = uid.replace(/.$/, last => (last === 'a' ? 'b' : 'a'));
  expect(await ask('listDeliveries', { webhook: other })).toMatchObject(unknown);
  expect(await ask('watchDeliveries', { webhook: other })).toMatchObject(unknown);
  expect(await ask('listRuns', { automation: 'triag' })).toEqual({
    status: 404,
    code: 'automation-unknown',
    detail: `the factory ${daemon.factory} has no automation triag; did you mean triage?`,
  });
  expect(await ask('listRuns', { delivery: 'dlv_none' })).toMatchObject({ code: 'delivery-unknown' });
});

test('tests a filter, applied or a draft, on a stored delivery or a payload', async () => {
  const { manager, deliver, uid } = await ready();
  const delivery = await deliver({ state: 'passed' });
  const verdict = async (body: object) => (await manager.call('testFilter', { body })).json;
  expect(await verdict({ automation: 'triage', delivery })).toMatchObject({
    automation: 'triage',
    wouldTrigger: false,
    triggers: [{ webhookHolds: true, payloadHolds: false }],
  });
  expect(await verdict({ automation: 'triage', payload: { state: 'failed' } })).toMatchObject({
    wouldTrigger: true,
  });
  const draft = anyOf('passed');
  expect(await verdict({ triggers: [draft], delivery })).toMatchObject({
    wouldTrigger: false,
    triggers: [{ webhookHolds: false, payloadHolds: true }],
  });
  const filter = { ...draft.filter, webhook_ids: [uid] };
  expect(await verdict({ triggers: [{ ...draft, filter }], delivery })).toMatchObject({ wouldTrigger: true });
  expect(await verdict({ automation: 'triage', payload: null })).toMatchObject({ wouldTrigger: false });
  for (const body of [{}, { automation: 'triage' }, { automation: 'triage', delivery, payload: 1 }]) {
    expect((await manager.call('testFilter', { body })).json.code).toBe('request-invalid');
  }
  const bare = { ...draft, filter: { ...draft.filter, payload: { state: 'passed' } } };
  expect(
    (await manager.call('testFilter', { body: { triggers: [bare], payload: 1 } })).json.mistakes,
  ).toEqual([
    {
      pointer: '/triggers/0/filter/payload/state',
      code: 'filter/invalid',
      message: 'state must be a list of allowed values',
      hint: 'write state: [passed]',
    },
  ]);
});

test('replays a stored payload under the current automations, and refuses an unknown one', async () => {
  const { manager, deliver } = await ready();
  const delivery = await deliver({ state: 'failed' });
  const params = { delivery };
  const replayed = await manager.call('replayDelivery', { params });
  expect(replayed).toMatchObject({ status: 201, json: { runs: [{ automation: 'triage' }] } });
  const runs = (await manager.call('listRuns', { query: { delivery } })).json.runs;
  expect(runs.map(({ replay }: { replay: boolean }) => replay)).toEqual([false, true]);
  const other = await manager.call('replayDelivery', { params, body: { automation: 'nobody' } });
  expect(other.json.code).toBe('automation-unknown');
  const unmatched = { delivery: await deliver({ state: 'passed' }) };
  const nothing = await manager.call('replayDelivery', { params: unmatched });
  expect(nothing).toMatchObject({ status: 409, json: { code: 'nothing-to-replay' } });
  const {
    serial: _,
    file: __,
    yaml: ___,
    ...shown
  } = (await manager.call('showAutomation', { params: { automation: 'triage' } })).json;
  const body = { ...shown, enabled: false };
  await manager.call('replaceAutomation', { params: { automation: 'triage' }, body });
  for (const body of [{}, { automation: 'triage' }]) {
    const disabled = await manager.call('replayDelivery', { params, body });
    expect(disabled).toMatchObject({ status: 409, json: { code: 'automation-disabled' } });
    expect(disabled.json.detail).toContain('the automation triage is disabled');
  }
  const passed = await manager.call('replayDelivery', { params: unmatched });
  expect(passed.json.code).toBe('nothing-to-replay');
});

test('names only the ID and the automation of a replayed run that has a limit', async () => {
  const { manager, deliver, uid } = await ready();
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  const body = { name: 'limited', prompt: 'Look.', triggers, concurrency: 1 };
  await manager.call('createAutomation', { body });
  const delivery = await deliver({ state: 'passed' });
  const { json } = await manager.call('replayDelivery', { params: { delivery } });
  expect(json).toEqual({ runs: [{ id: expect.stringMatching(/^run_/), automation: 'limited' }] });
});

test('shows the output of a run, and retries only a failed one', async () => {
  const { manager, deliver } = await ready();
  await deliver({ state: 'failed' });
  const run = async () => (await manager.call('listRuns')).json.runs[0];
  await expect.poll(async () => (await run()).state).toBe('succeeded');
  const params = { run: (await run()).id };
  expect((await manager.call('retryRun', { params })).json).toMatchObject({
    code: 'run-not-failed',
    detail: `the run ${params.run} has succeeded; only failed runs can be retried`,
  });
  expect((await manager.call('showRunOutput', { params })).json.code).toBe('output-not-stored');
});

test('shows the health of each webhook, and its deliveries of seven days by the hour', async () => {
  const { daemon, manager, deliver, intrude, uid } = await ready();
  const { json: before } = await manager.call('showHealth');
  expect(before.webhooks[0].health).toEqual({
    state: 'never seen',
    reason: 'no delivery was ever accepted',
    since: null,
  });
  expect(before.webhooks[0].lastDelivery).toBeNull();
  await deliver({ state: 'passed' });
  await deliver({ state: 'passed' });
  await intrude();
  const show = async () => (await manager.call('showHealth')).json;
  await expect.poll(async () => (await show()).webhooks[0].tallies.length, { timeout: 60_000 }).toBe(3);
  const { since, webhooks } = await show();
  const nowHour = Math.floor(daemon.clock.nowMs / 3_600_000);
  expect(since).toBe(new Date((nowHour - 167) * 3_600_000).toISOString());
  const now = new Date(daemon.clock.nowMs).toISOString();
  const hours = [...Array(167).fill(0), 1];
  expect(webhooks).toEqual([
    {
      name: 'deploys',
      uid,
      health: { state: 'healthy', reason: expect.stringContaining('two weeks'), since: null },
      lastDelivery: {
        ...{ id: expect.stringMatching(/^dlv_/), at: now, outcome: 'Rejected (auth)' },
        ...{ title: 'Wrong token', text: null },
      },
      lastGoodAt: now,
      lastRejectedAt: now,
      tallies: ['Accepted', 'Duplicate', 'Rejected (auth)'].map(outcome => ({ outcome, hours })),
    },
  ]);
  const ofOne = (webhook: string) => manager.call('showHealth', { query: { webhook } });
  expect((await ofOne(uid)).json).toEqual(await show());
  expect((await ofOne('wh_other')).json.webhooks).toEqual([]);
  await manager.call('changeWebhook', { params: { uid }, body: { enabled: false } });
  const { entries } = (await manager.call('listAudit', { query: { limit: '1' } })).json;
  expect((await show()).webhooks[0]).toMatchObject({ health: null, disabledSince: entries[0].at });
  // Neither a rename nor disabling it again changes that, and whoever enables it ends it.
  await manager.call('changeWebhook', { params: { uid }, body: { enabled: false } });
  await manager.call('changeWebhook', { params: { uid }, body: { name: 'renamed' } });
  expect((await show()).webhooks[0]).toMatchObject({ health: null, disabledSince: entries[0].at });
  await manager.call('changeWebhook', { params: { uid }, body: { enabled: true } });
  expect((await show()).webhooks[0].disabledSince).toBeUndefined();
});

/** The events of a live view, as they come. */
async function watch(
  { managementUrl, factory }: FactoryDaemon,
  client: ApiClient,
  query: Record<string, string> = {},
  headers: Record<string, string> = bearer(client.token),
) {
  const url = `${managementUrl}/api/v1/factories/${factory}/live-deliveries?${new URLSearchParams(query)}`;
  const outgoing = request(url, { headers, agent: false }).end();
  onTestFinished(() => {
    outgoing.destroy();
  });
  const incoming = await new Promise<IncomingMessage>(resolve => outgoing.once('response', resolve));
  expect(incoming.headers['content-type']).toBe('text/event-stream');
  let text = '';
  incoming.setEncoding('utf8').on('data', piece => {
    text += piece;
  });
  const ended = new Promise<void>(resolve => incoming.once('close', resolve).once('error', () => undefined));
  const deliveries = () =>
    [...text.matchAll(/^event: deliveries\ndata: (.*)\n\n/gm)].flatMap(
      ([, data]) => JSON.parse(data ?? '').deliveries,
    );
  return { deliveries, ended };
}

test('sends deliveries to live views as they are committed, with what each viewer may see', async () => {
  const { daemon, manager, deliver, intrude, uid } = await ready();
  const reader = await daemon.client({ permission: 'read' });
  const other = (await manager.call('createWebhook', { body: { name: 'other' } })).json.webhook.uid;
  const [all, mine, others, reads] = await Promise.all([
    watch(daemon, manager),
    watch(daemon, manager, { webhook: uid }),
    watch(daemon, manager, { webhook: other }),
    watch(daemon, reader),
  ]);
  const id = await deliver({ state: 'failed' });
  await intrude();
  for (const view of [all, mine, reads]) await expect.poll(view.deliveries).toHaveLength(2);
  expect(all?.deliveries()[0]).toMatchObject({ id, webhook: 'deploys', outcome: 'Accepted' });
  expect(all?.deliveries()[1]).toMatchObject({ outcome: 'Rejected (auth)', reason: expect.any(String) });
  expect(reads?.deliveries()[1]).not.toHaveProperty('reason');
  expect(mine?.deliveries()).toEqual(all?.deliveries());
  expect(others?.deliveries()).toEqual([]);
});

test('ends the live views of a revoked token before they are sent anything more', async () => {
  const { daemon, deliver } = await ready();
  const watcher = await daemon.client();
  const view = await watch(daemon, watcher);
  await daemon.revoke(watcher);
  await deliver({ state: 'failed' });
  await view.ended;
  expect(view.deliveries()).toEqual([]);
});

test('ends the live views of a session that is signed out', async () => {
  const { daemon, manager, deliver } = await ready();
  const session = await signIn(daemon, manager);
  const view = await watch(daemon, manager, {}, session);
  await call(daemon.managementUrl, 'signOut', { headers: session });
  await deliver({ state: 'failed' });
  await view.ended;
  expect(view.deliveries()).toEqual([]);
});

// The clock of the database decides when its sessions end.
test.skipIf(areHomesInPostgres())('a live view that stays open keeps no session alive', async () => {
  const { daemon, manager, deliver } = await ready(await startManagedDaemon());
  const view = await watch(daemon, manager, {}, await signIn(daemon, manager));
  daemon.clock.nowMs += 40 * 60_000;
  await deliver({ state: 'failed' });
  await expect.poll(view.deliveries).toHaveLength(1);
  daemon.clock.nowMs += 40 * 60_000;
  await deliver({ state: 'failed' });
  await view.ended;
  expect(view.deliveries()).toHaveLength(1);
});

test('opens no more live views than it may', async () => {
  const { daemon, manager } = await ready(await startManagedDaemon());
  const readers = await Promise.all(Array.from({ length: 4 }, () => daemon.client()));
  const views = readers.flatMap(reader => Array.from({ length: 64 }, () => watch(daemon, reader)));
  await Promise.all(views);
  expect((await manager.call('watchDeliveries')).json.code).toBe('too-many-viewers');
});

test("ends a token's own oldest live view when it opens too many, and no other token's", async () => {
  const { daemon, manager, deliver } = await ready(await startManagedDaemon());
  const reader = await daemon.client();
  const [others, oldest] = [await watch(daemon, manager), await watch(daemon, reader)];
  const newer = await watch(daemon, reader);
  await Promise.all(Array.from({ length: 63 }, () => watch(daemon, reader)));
  await oldest.ended;
  await deliver({ state: 'failed' });
  await expect.poll(() => [others.deliveries().length, newer.deliveries().length]).toEqual([1, 1]);
});

test('shows the event headers of a delivery, judges by them, and refuses filters on others', async () => {
  const { manager, daemon } = await ready();
  const { json } = await manager.call('createWebhook', {
    body: { name: 'shop', keepHeaders: ['X-Tenant'] },
  });
  const { uid, url, keepHeaders, eventHeaders } = json.webhook;
  expect({ keepHeaders, eventHeaders }).toEqual({
    keepHeaders: ['X-Tenant'],
    eventHeaders: ['Content-Type', 'User-Agent', 'X-Tenant'],
  });
  expect(json.webhook.yaml).toContain('keepHeaders:\n  - X-Tenant\n');
  const makeTriggers = (headers: object) => [
    { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid], headers } },
  ];
  const body = { name: 'eu', prompt: 'Look.', triggers: makeTriggers({ 'x-TENANT': ['eu'] }) };
  expect(await manager.call('createAutomation', { body })).toMatchObject({ status: 201 });
  const shownAutomation = await manager.call('showAutomation', { params: { automation: 'eu' } });
  expect(shownAutomation.json.triggers).toMatchObject([{ headers: { 'x-TENANT': ['eu'] } }]);

  const live = await watch(daemon, manager);
  const headers = { ...bearer(json.revealed.secret), 'X-Tenant': 'eu', 'X-Api-Key': 'canary' };
  const { deliveryId: delivery = '' } = await send(url, { headers, body: '{}' });
  await expect.poll(() => live.deliveries()).toMatchObject([{ id: delivery, headers: { 'x-tenant': 'eu' } }]);
  const { json: shown } = await manager.call('showDelivery', { params: { delivery } });
  expect(shown).toMatchObject({ headers: { 'x-tenant': 'eu' }, runs: [{ automation: 'eu' }] });
  expect(shown.evaluation.automations[0].triggers[0].headers).toMatchObject({ holds: true });
  const draft = {
    triggers: makeTriggers({ 'X-Tenant': ['us'] }),
    payload: {},
    headers: { 'X-TENANT': 'us' },
  };
  const tested = await manager.call('testFilter', { body: draft });
  expect(tested.json).toMatchObject({ wouldTrigger: true });

  for (const [name, message] of [
    ['X-Region', 'the webhook shop does not keep the header X-Region, so filters never see it'],
    ['Authorization', 'Authorization carries a credential or a signature, so it is never kept'],
  ] as const) {
    const triggers = makeTriggers({ [name]: ['x'] });
    const refused = await manager.call('createAutomation', {
      body: { name: 'no', prompt: 'Look.', triggers },
    });
    expect(refused).toMatchObject({
      status: 422,
      json: {
        mistakes: [
          { code: 'filter/header-not-kept', pointer: `/triggers/0/filter/headers/${name}`, message },
        ],
      },
    });
  }
});

test('an automation with a runner that the daemon does not offer is refused', async () => {
  const { manager, uid } = await ready();
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  const refused = await manager.call('createAutomation', {
    body: { name: 'no', prompt: 'Look.', runner: 'deploy', triggers },
  });
  const message = 'the daemon offers no runner deploy';
  expect(refused).toMatchObject({
    status: 422,
    json: { mistakes: [{ code: 'automation/runner-not-offered', pointer: '/runner', message }] },
  });
});

test('counts the webhooks that a token may see by their health, and lists those that fail', async () => {
  const { daemon, manager, deliver, intrude, uid } = await ready(
    await startManagedDaemon({ limits: { failedAuthPerMinute: 100 } }),
  );
  const { factory } = daemon;
  await deliver({ state: 'passed' });
  const show = async (client: ApiClient) => (await client.call('showHealthOverview')).json;
  const counts = async () => (await show(manager)).factories;
  await expect
    .poll(counts, { timeout: 60_000 })
    .toEqual([{ factory, counts: [{ state: 'healthy', webhooks: 1 }] }]);
  expect((await show(manager)).unhealthy).toEqual([]);
  for (let attempt = 0; attempt < 40; attempt++) await intrude();
  await expect
    .poll(counts, { timeout: 60_000 })
    .toEqual([{ factory, counts: [{ state: 'failing', webhooks: 1 }] }]);
  const health = {
    state: 'failing',
    reason: expect.stringContaining('40'),
    since: new Date(daemon.clock.nowMs).toISOString(),
  };
  const overview = {
    factories: [{ factory, counts: [{ state: 'failing', webhooks: 1 }] }],
    unhealthy: [{ factory, name: 'deploys', uid, health }],
    hasMore: false,
  };
  expect(await show(manager)).toEqual(overview);
  expect(await show(await daemon.client({ factory: null, permission: 'read' }))).toEqual(overview);
  expect(await show(await daemon.client({ factory: 'other' }))).toEqual({
    ...{ factories: [], unhealthy: [], hasMore: false },
  });
});

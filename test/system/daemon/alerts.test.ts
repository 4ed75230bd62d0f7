import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AlertReceiver, startAlertReceiver } from '../../support/alert-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { onFileFinished } from '../../support/file-end.ts';
import { findFreePort } from '../../support/free-port.ts';
import { read, send } from '../../support/http.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { type ManagedDaemon, openManagedDaemon, withNewFactory } from '../../support/management.ts';
import { readStore } from '../../support/stored.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;

/** A home with the team secret that alerts are signed with. */
async function homeWithSecret() {
  const home = newHome();
  await readStore(home, ({ teamSecrets }) => teamSecrets.set('ALERTS', secret));
  return home;
}

function alertsTo(...receivers: readonly Pick<AlertReceiver, 'url'>[]) {
  return { alerts: receivers.map(({ url }) => ({ url, secret: 'ALERTS' })) };
}

/** A daemon that sends alerts, with a webhook. */
async function ready(settings: object, given?: Awaited<ReturnType<typeof homeWithSecret>>) {
  const home = given ?? (await homeWithSecret());
  const daemon = await openManagedDaemon(settings, home);
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await daemon.stop();
    isStopped = true;
  };
  onTestFinished(stop);
  return { ...daemon, stop, home, ...(await openWebhook(daemon)) };
}

/** The webhook of a daemon's factory, which has none or this one. */
async function openWebhook(daemon: Pick<ManagedDaemon, 'client' | 'ingressUrl'>) {
  const manager = await daemon.client();
  const [known] = (await manager.call('listWebhooks')).json.webhooks;
  const created = known ? undefined : await manager.call('createWebhook', { body: { name: 'deploys' } });
  const uid: string = known?.uid ?? created?.json.webhook.uid;
  const post = (token: string, n = 0) =>
    send(`${daemon.ingressUrl}/webhooks/w/${uid}`, {
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ n }),
    });
  const storm = () => Promise.all(Array.from({ length: 20 }, (_, n) => post('wrong', n)));
  return { manager, uid, post, storm, token: created?.json.revealed.secret as string };
}

const told = await startAlertReceiver(secret, onFileFinished);
let work: (() => Promise<void>) | undefined;
const worker = await startLoopbackServer(async (request, response) => {
  await buffer(request);
  await work?.();
  response.writeHead(204).end();
}, onFileFinished);
const flag = join(newHome().directory, '..', 'flag');
const factories = ['*'];
const leaveAnswer = 'mkdir artifacts; echo x > artifacts/answer.md';
const leaveResult =
  'mkdir artifacts; echo \'{"message":"Fixed it","costUsd":0.5}\' > artifacts/result.json; grep -q 1 event-payload.json';

/** The daemon of the tests about runs, which move its clock only forward. */
let shared: ManagedDaemon;
beforeAll(async () => {
  const runners = {
    failing: { kind: 'command', argv: ['false'], factories },
    proposing: {
      ...{ kind: 'command', argv: ['sh', '-c', leaveAnswer], factories },
      afterwards: { argv: ['true'], approval: 'required' },
    },
    reporting: { kind: 'command', argv: ['sh', '-c', leaveResult], factories },
    receiving: { kind: 'http', url: `${worker}/`, factories },
  };
  const runs = { runner: { kind: 'command', argv: ['test', '-e', flag] }, runners };
  shared = await openManagedDaemon({ ...alertsTo(told), runs }, await homeWithSecret());
});
afterAll(() => shared.stop());

/** A factory of that daemon with a webhook, whose deliveries start runs of automations, and what is told of it. */
async function readyToRun() {
  const daemon = withNewFactory(shared);
  const opened = await openWebhook(daemon);
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [opened.uid] } }];
  const automate = async (name: string, keys: object = {}) => {
    const body = { name, prompt: 'Act.', triggers, attempts: 1, ...keys };
    expect((await opened.manager.call('createAutomation', { body })).status).toBe(201);
  };
  const alerts = () => told.alerts.filter(({ data }) => data.factory === daemon.factory);
  return { ...daemon, ...opened, automate, alerts };
}

test('a storm of rejections is told once, also after a restart, and then that it is resolved', async () => {
  const [receiver, other] = [await startAlertReceiver(secret), await startAlertReceiver(secret)];
  const settings = { ...alertsTo(receiver, other), managementUrl: 'https://hooks.example.com/' };
  const before = await ready(settings);
  const { uid, token, home } = before;
  await before.storm();
  await eventually(() => receiver.alerts.length === 1 && other.alerts.length === 1);
  expect(receiver.alerts[0]).toEqual({
    messageId: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
    type: 'webhook.failing',
    timestamp: new Date(before.clock.nowMs).toISOString(),
    data: {
      id: expect.stringMatching(/^alr_[0-9a-z]{26}$/),
      status: 'open',
      factory: 'default',
      webhook: { name: 'deploys', uid },
      automation: null,
      reason: expect.stringMatching(
        /^deploys: the last \d+ deliveries were rejected, most of them by authentic/,
      ),
      summary: expect.stringMatching(/^deploys: the last/),
      since: expect.any(String),
      until: null,
      remedy: expect.stringContaining('hookmill why deploys'),
      link: `https://hooks.example.com/#/default/webhooks/${uid}`,
    },
  });
  const metrics = await read(`${before.managementUrl}/metrics`);
  expect(metrics).toContain(
    'hookmill_webhook_health{factory="default",webhook="deploys",state="failing"} 1\n',
  );
  expect(metrics).toContain('hookmill_webhooks{state="failing"} 1\n');
  await before.stop();
  const daemon = await ready(settings, home);
  await daemon.storm();
  expect(await daemon.post(token)).toMatchObject({ status: 202 });
  // One success between failures does not end it.
  await eventually(async () => (await daemon.store.alerts.read()).episodes[0]?.calmSinceMs !== null);
  daemon.clock.nowMs += 60_000;
  await eventually(() => receiver.alerts.length === 2 && other.alerts.length === 2);
  const later = await read(`${daemon.managementUrl}/metrics`);
  expect(later).not.toContain('hookmill_webhook_health{');
  expect(later).toContain('hookmill_webhooks{state="healthy"} 1\n');
  const [opened, resolved] = receiver.alerts;
  expect(resolved).toMatchObject({
    type: 'webhook.failing',
    data: {
      ...{ id: opened?.data.id, status: 'resolved', remedy: null },
      summary: expect.stringMatching(/^resolved after .*: deploys: the last/),
    },
  });
  expect(resolved?.messageId).not.toBe(opened?.messageId);
  expect(receiver.refused).toEqual([]);
  expect((await daemon.store.alerts.read()).episodes).toEqual([]);
});

test('an alert waits for a receiver that is down, under the same ID', async () => {
  const receiver = await startAlertReceiver(secret);
  receiver.answerWith(503);
  const daemon = await ready(alertsTo(receiver));
  await daemon.storm();
  await eventually(() => receiver.refused.length === 1);
  await eventually(async () => (await daemon.store.alerts.read()).messages[0]?.attempts === 1);
  daemon.clock.nowMs += 5_000;
  await eventually(() => receiver.refused.length === 2);
  await eventually(async () => (await daemon.store.alerts.read()).messages[0]?.attempts === 2);
  receiver.answerWith(undefined);
  daemon.clock.nowMs += 10_000;
  await eventually(() => receiver.alerts.length === 1);
  const [messageId] = receiver.refused;
  expect(receiver).toMatchObject({ refused: [messageId, messageId], alerts: [{ messageId }] });
  await eventually(async () => (await daemon.store.alerts.read()).messages.length === 0);
  expect(daemon.logged()).toContain('an alert is sent again later');
});

test('lists the receivers with the last message to each, over a restart, and shows no URL', async () => {
  const receiver = await startAlertReceiver(secret);
  receiver.answerWith(503);
  const url = `${receiver.url}/path-with-a-secret`;
  const slackUrl = `http://127.0.0.1:${await findFreePort()}/slack-secret`;
  const home = await homeWithSecret();
  await readStore(home, ({ teamSecrets }) => teamSecrets.set('SLACK', slackUrl));
  const settings = {
    alerts: [
      { url, secret: 'ALERTS' },
      { format: 'slack', secret: 'SLACK' },
    ],
  };
  const daemon = await ready(settings, home);
  const { host } = new URL(url);
  const signed = { format: 'standard-webhooks', host, secretName: 'ALERTS' };
  const slack = { format: 'slack', host: null, secretName: 'SLACK' };
  const list = async () => (await daemon.manager.call('listAlerts')).json.receivers;
  await expect.poll(list).toEqual([
    { ...signed, last: null },
    { ...slack, last: null },
  ]);
  await daemon.storm();
  const at = new Date(daemon.clock.nowMs).toISOString();
  const refused = { at, status: null, error: 'the request failed (ECONNREFUSED)' };
  await expect.poll(list).toEqual([
    { ...signed, last: { at, status: 503, error: 'the receiver answered 503' } },
    { ...slack, last: refused },
  ]);
  const reader = await daemon.client({ permission: 'read' });
  const read = await reader.call('listAlerts');
  expect(read.json.receivers).toMatchObject([
    { host, secretName: null, last: { status: 503, error: 'the message could not be sent' } },
    { host: null, secretName: null },
  ]);
  receiver.answerWith(undefined);
  daemon.clock.nowMs += 5_000;
  const arrived = { at: new Date(daemon.clock.nowMs).toISOString(), status: 204, error: null };
  await expect.poll(async () => (await list())[0].last, { timeout: 30_000 }).toEqual(arrived);
  const shown = await daemon.manager.call('listAlerts');
  for (const { text } of [read, shown]) expect(text).not.toMatch(/path-with-a-secret|slack-secret/);
  await daemon.stop();
  const next = await ready(alertsTo({ url }), home);
  await expect
    .poll(async () => (await next.manager.call('listAlerts')).json.receivers)
    .toEqual([{ ...signed, last: arrived }]);
});

test('a receiver that hangs does not hold up a stop, and the next daemon sends the alert again', async () => {
  const requests = new EventEmitter();
  const origin = await startLoopbackServer(({ headers }) => requests.emit('alert', headers['webhook-id']));
  const settings = alertsTo({ url: `${origin}/alerts` });
  const [first, daemon] = [once(requests, 'alert'), await ready(settings)];
  await daemon.storm();
  const id = await first;
  await daemon.stop();
  // Had the stop waited until the receiver was out of time, that would be an attempt.
  const { messages } = await readStore(daemon.home, ({ alerts }) => alerts.read());
  expect(messages).toMatchObject([{ id: id[0], attempts: 0 }]);
  const second = once(requests, 'alert');
  await ready(settings, daemon.home);
  expect(await second).toEqual(id);
});

test('an alert that the receiver refuses is not sent again', async () => {
  const receiver = await startAlertReceiver(secret);
  receiver.answerWith(404);
  const daemon = await ready(alertsTo(receiver));
  await daemon.storm();
  await eventually(() => receiver.refused.length === 1);
  await eventually(async () => {
    const { episodes, messages } = await daemon.store.alerts.read();
    return episodes.length === 1 && messages.length === 0;
  });
  expect(daemon.logged()).toContain('an alert could not be sent');
});

test('runs that fail one after the other are told, until one succeeds', async () => {
  const { alerts, ...daemon } = await readyToRun();
  await daemon.automate('triage');
  const run = async (n: number) => {
    await daemon.post(daemon.token, n);
    await eventually(async () => {
      const { json } = await daemon.manager.call('listRuns');
      return (
        json.runs.length === n &&
        json.runs.every((run: { state: string }) => /ed$/.test(run.state) && run.state !== 'queued')
      );
    });
  };
  for (const n of [1, 2, 3]) await run(n);
  await eventually(() => alerts().length === 1);
  expect(alerts()[0]).toMatchObject({
    type: 'runs.failing',
    data: {
      ...{ status: 'open', factory: daemon.factory, webhook: null, automation: 'triage' },
      reason: expect.stringMatching(/^the last 3 runs of triage failed: .*1/),
      link: `${daemon.managementUrl}/#/${daemon.factory}/automations/triage`,
    },
  });
  writeFileSync(flag, '');
  await run(4);
  await eventually(() => alerts().length === 2);
  expect(alerts()[1]).toMatchObject({ type: 'runs.failing', data: { status: 'resolved' } });
  rmSync(flag);
});

test('a failed run that holds others is told, until somebody dismisses it', async () => {
  const { alerts, ...daemon } = await readyToRun();
  await daemon.automate('triage', { runner: 'failing', order: '$.none', onFailure: 'hold' });
  await daemon.post(daemon.token, 1);
  await daemon.post(daemon.token, 2);
  await eventually(() => alerts().length === 1);
  const [held, holding] = (await daemon.manager.call('listRuns')).json.runs;
  expect(held).toMatchObject({ state: 'queued', waitsFor: 'order' });
  expect(holding).toMatchObject({ state: 'failed', holds: true });
  const reason = `${holding.id} of triage failed, and the next runs wait behind it`;
  expect(alerts()[0]).toMatchObject({
    type: 'runs.held',
    data: { ...{ status: 'open', automation: 'triage', reason }, remedy: expect.stringContaining('dismiss') },
  });
  const metrics = await read(`${daemon.managementUrl}/metrics`);
  expect(metrics).toMatch(/^hookmill_runs_holding 1$/m);
  daemon.clock.nowMs += 24 * 60 * 60_000;
  await eventually(() => alerts().length === 2);
  expect(alerts()[1]?.data).toEqual(alerts()[0]?.data);
  // The run behind it fails too.
  for (const { id } of [holding, held]) {
    await eventually(async () => {
      const { status } = await daemon.manager.call('dismissRun', { params: { run: id } });
      return status === 200;
    });
  }
  await eventually(() => alerts().at(-1)?.data.status === 'resolved');
  expect(new Set(alerts().map(({ type }) => type))).toEqual(new Set(['runs.held']));
});

test('an automation that was paused a day ago without an end is told, until somebody resumes it', async () => {
  const { alerts, ...daemon } = await readyToRun();
  for (const name of ['triage', 'short']) await daemon.automate(name);
  const pause = (automation: string, body: object) =>
    daemon.manager.call('pauseAutomation', { params: { automation }, body });
  await pause('triage', {});
  await pause('short', { seconds: 3 * 86_400 });
  const { by, at } = (await daemon.manager.call('listPauses')).json.pauses[0];
  daemon.clock.nowMs += 24 * 60 * 60_000;
  await eventually(() => alerts().length === 1);
  expect(alerts()[0]).toMatchObject({
    type: 'automation.paused',
    data: {
      ...{ status: 'open', automation: 'triage', since: at },
      reason: `triage was paused by ${by}, and no run of it starts`,
      remedy: expect.stringContaining('automations resume triage'),
    },
  });
  await daemon.manager.call('resumeAutomation', { params: { automation: 'triage' }, body: {} });
  await eventually(() => alerts().at(-1)?.data.status === 'resolved');
  expect(alerts().map(({ data }) => data.automation)).toEqual(['triage', 'triage']);
});

test('receivers are told of runs that wait for approval, until somebody approves or cancels them', async () => {
  const { alerts, ...daemon } = await readyToRun();
  await daemon.automate('act', { runner: 'proposing' });
  expect((await daemon.post(daemon.token, 1)).status).toBe(202);
  await eventually(() => alerts().length === 1);
  const [{ id: run }] = (await daemon.manager.call('listRuns')).json.runs;
  expect(alerts()[0]).toMatchObject({
    type: 'runs.unapproved',
    data: {
      ...{ status: 'open', automation: 'act' },
      reason: `${run} of act waits until somebody approves what it left`,
      remedy: expect.stringContaining(`runs approve ${run}`),
      link: expect.stringMatching(new RegExp(`/runs/${run}$`)),
    },
  });
  await daemon.manager.call('approveRun', { params: { run }, body: {} });
  await eventually(() => alerts().at(-1)?.data.status === 'resolved');
});

test('receivers are told once of each end of a run that its automation names, with its result', async () => {
  const { alerts, ...daemon } = await readyToRun();
  const runner = 'reporting';
  await daemon.automate('both', { runner, notify: ['succeeded', 'failed'] });
  await daemon.automate('failures', { runner, notify: ['failed'] });
  await daemon.automate('quiet', { runner });
  for (const n of [1, 2]) expect((await daemon.post(daemon.token, n)).status).toBe(202);
  await eventually(() => alerts().length >= 3);
  const ends = alerts().map(({ type, data }) => `${data.automation} ${type} ${data.status}`);
  expect(ends.sort()).toEqual([
    'both run.failed failed',
    'both run.succeeded succeeded',
    'failures run.failed failed',
  ]);
  const succeeded = alerts().find(({ type }) => type === 'run.succeeded');
  const { id } = succeeded?.data ?? {};
  expect(succeeded?.data).toMatchObject({
    summary: `${id} of both succeeded: Fixed it ($0.50)`,
    link: expect.stringContaining(`/runs/${id}`),
    report: { message: 'Fixed it', costUsd: 0.5 },
    remedy: null,
  });
  expect(alerts().find(({ type }) => type === 'run.failed')?.data).toMatchObject({
    reason: expect.stringContaining('failed: the command exited with status 1'),
    remedy: expect.stringContaining(`hookmill --factory ${daemon.factory} runs retry run_`),
  });
  expect(await daemon.store.deliveries.listEndsToTell(9)).toEqual([]);
});

test('runs whose work fires their own webhook are stopped by runsPerHour, which is told once', async () => {
  const { alerts, ...daemon } = await readyToRun();
  await daemon.automate('triage', { runner: 'receiving', runsPerHour: 4 });
  let fired = 0;
  const fire = async () => {
    await daemon.post(daemon.token, ++fired);
  };
  work = fire;
  const runsThatEnded = (count: number) =>
    eventually(async () => {
      const { runs } = (await daemon.manager.call('listRuns')).json;
      const isEnded = ({ state }: { state: string }) => state === 'succeeded' || state === 'failed';
      return runs.length === count && runs.every(isEnded) && runs;
    });

  await fire();
  const [last, ...others] = await runsThatEnded(5);
  expect(last).toMatchObject({ state: 'failed', stopped: true, attempts: 0 });
  expect(others).toMatchObject(Array(4).fill({ state: 'succeeded' }));
  const why = await daemon.manager.call('explainWhy', { params: { subject: last.deliveryId } });
  const cause = why.json.steps.find(({ step }: { step: string }) => step === why.json.cause);
  expect(cause.message).toBe(
    `${last.id} of triage was stopped by \`runsPerHour\`: too many were started within an hour`,
  );
  await eventually(() => alerts().length === 1);
  expect(alerts()[0]).toMatchObject({
    type: 'runs.stopped',
    data: {
      ...{ status: 'open', factory: daemon.factory, webhook: null, automation: 'triage' },
      reason: 'runs of triage were stopped: as many were started within an hour as runsPerHour allows',
      link: `${daemon.managementUrl}/#/${daemon.factory}/automations/triage`,
    },
  });
  const metrics = await read(`${daemon.managementUrl}/metrics`);
  expect(metrics).toContain(`{factory="${daemon.factory}",automation="triage",state="stopped"} 1\n`);
  // Three of them in a row would be told as runs that fail.
  for (const n of [6, 7]) {
    await fire();
    expect((await runsThatEnded(n))[0]).toMatchObject({ stopped: true });
  }
  daemon.clock.nowMs += 60 * 60_000;
  await eventually(() => alerts().length === 2);
  expect(alerts().map(({ type, data }) => [type, data.status])).toEqual([
    ['runs.stopped', 'open'],
    ['runs.stopped', 'resolved'],
  ]);
  expect(fired).toBe(7);
});

test('a webhook with Standard Webhooks receives alerts, so that automations can act on them', async () => {
  const port = await findFreePort();
  const home = await homeWithSecret();
  const daemon = await openManagedDaemon({ port, alerts: [] }, home);
  const manager = await daemon.client();
  const body = {
    ...{ name: 'alerts', authMode: 'signature', signatureScheme: 'standard-webhooks' },
    secret: { kind: 'existing', name: 'ALERTS' },
  };
  const created = await manager.call('createWebhook', { body });
  expect(created.status).toBe(201);
  const { uid } = created.json.webhook;
  const filter = { webhook_ids: [uid], payload: { type: ['webhook.failing'], data: { status: ['open'] } } };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  await manager.call('createAutomation', { body: { name: 'on-call', prompt: 'Look.', triggers } });
  await manager.call('createWebhook', { body: { name: 'deploys' } });
  await daemon.stop();

  const url = `http://127.0.0.1:${port}/webhooks/w/${uid}`;
  const again = await openManagedDaemon({ port, alerts: [{ url, secret: 'ALERTS' }] }, home);
  onTestFinished(() => again.stop());
  const { json } = await (await again.client()).call('listWebhooks');
  const deploys = json.webhooks.find(({ name }: { name: string }) => name === 'deploys');
  const failing = Array.from({ length: 20 }, (_, n) =>
    send(`${again.ingressUrl}/webhooks/w/${deploys.uid}`, { body: `{"n":${n}}` }),
  );
  await Promise.all(failing);
  const runs = await eventually(async () => {
    const found = await again.store.deliveries.listRuns({ factory: 'default', limit: 10 });
    return found.length > 0 && found;
  });
  expect(runs).toMatchObject([{ webhook: 'alerts', automation: 'on-call' }]);
});

test('Slack and PagerDuty are told in their own formats, and the URL of Slack stays a secret', async () => {
  const posted: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  const origin = await startLoopbackServer(async (request, response) => {
    posted.push({ path: request.url ?? '', body: JSON.parse((await buffer(request)).toString()) });
    response.writeHead(202).end('ok');
  });
  const home = await homeWithSecret();
  await readStore(home, async ({ teamSecrets }) => {
    await teamSecrets.set('SLACK', `${origin}/services/T0/B0/hidden`);
    await teamSecrets.set('PAGER', 'integration-key');
    await teamSecrets.set('OTHER_PAGER', 'other-integration-key');
  });
  const alerts = [
    { format: 'slack', secret: 'SLACK' },
    { format: 'pagerduty', secret: 'PAGER', url: `${origin}/v2/enqueue` },
    { format: 'pagerduty', secret: 'OTHER_PAGER', url: `${origin}/v2/enqueue` },
  ];
  const daemon = await ready({ alerts }, home);
  await daemon.storm();
  await eventually(() => posted.length === 3);
  const keys = posted.map(({ body }) => body.routing_key).filter(key => key !== undefined);
  expect(keys.sort()).toEqual(['integration-key', 'other-integration-key']);
  const bodyOf = (path: string, key?: string) =>
    posted.find(({ path: at, body }) => at === path && body.routing_key === key)?.body;
  const { text } = bodyOf('/services/T0/B0/hidden') as { readonly text: string };
  expect(text).toMatch(/^\*Alert\* \(default\): deploys: the last \d+ deliveries were rejected/);
  expect(text).toContain('hookmill why deploys');
  expect(text).toMatch(/\n<http:\/\/\S+\/webhooks\/wh_\w+>$/);
  const [episode] = (await daemon.store.alerts.read()).episodes;
  expect(bodyOf('/v2/enqueue', 'integration-key')).toMatchObject({
    ...{ routing_key: 'integration-key', event_action: 'trigger', dedup_key: episode?.id },
    payload: {
      summary: episode?.reason,
      source: 'hookmill/default',
      severity: 'error',
      class: 'webhook.failing',
    },
  });
  expect(await daemon.post(daemon.token)).toMatchObject({ status: 202 });
  await eventually(async () => (await daemon.store.alerts.read()).episodes[0]?.calmSinceMs !== null);
  daemon.clock.nowMs += 60_000;
  await eventually(() => posted.length === 6);
  expect(posted.slice(3).map(({ body }) => body)).toContainEqual(
    expect.objectContaining({ event_action: 'resolve', dedup_key: episode?.id }),
  );
  const stored = JSON.stringify(await daemon.store.alerts.read());
  expect(`${daemon.logged()}${stored}`).not.toMatch(/hidden|integration-key/);
});

test('a team secret that alerts cannot be signed with is an error at the start, with its place and what to do', async () => {
  const workspace = makeWorkspace();
  workspace.write(
    'daemon.yaml',
    'port: 0\nmanagementPort: 0\nalerts:\n  - url: https://example.com/alerts\n    secret: ALERT\n',
  );
  await workspace.hookmill('secrets', 'declare', 'ALERTS');
  const missing = await workspace.hookmill('serve', '--config', 'daemon.yaml');
  expect(missing.exitCode).toBe(1);
  expect(missing.stderr).toMatch(/daemon\.yaml:5:13/);
  expect(missing.stderr).toContain('there is no team secret ALERT');
  expect(missing.stderr).toContain('did you mean ALERTS?');
  workspace.write('daemon.yaml', workspace.read('daemon.yaml').replace('ALERT\n', 'ALERTS\n'));
  const declared = await workspace.hookmill('serve', '--config', 'daemon.yaml');
  expect(declared.stderr).toContain('the team secret ALERTS has no value');
  expect(declared.stderr).toContain('hookmill secrets set ALERTS');
});

test('a branch that cannot be followed for five minutes is told, until it is followed no more', async () => {
  const receiver = await startAlertReceiver(secret);
  const repository = join(newHome().directory, 'missing.git');
  const daemon = await ready({ ...alertsTo(receiver), repositories: [{ repository, interval: '1h' }] });
  const { reconcileStatuses } = daemon.store;
  await eventually(async () => (await reconcileStatuses.read('default')).failingSince);
  daemon.clock.nowMs += 6 * 60_000;
  await eventually(() => receiver.alerts.length === 1);
  expect(receiver.alerts[0]).toMatchObject({
    type: 'reconcile.failing',
    data: {
      status: 'open',
      factory: 'default',
      reason: expect.stringMatching(/^the branch cannot be followed: ./),
    },
  });
  await reconcileStatuses.change('default', status => ({ ...status, suspendedAt: status.failingSince }));
  await eventually(async () => (await daemon.store.alerts.read()).episodes[0]?.calmSinceMs !== null);
  daemon.clock.nowMs += 60_000;
  await eventually(() => receiver.alerts.length === 2);
  expect(receiver.alerts[1]).toMatchObject({ type: 'reconcile.failing', data: { status: 'resolved' } });
});

import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findLongPauses } from '../../../../operations/attention/find-problems.ts';
import { followEpisodes } from '../../../../operations/attention/follow-episodes.ts';
import type { WhyView } from '../../../../operations/why/why.ts';
import { createSortableId } from '../../../../schema/ids.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { bearerOf, type TestWebhook, type WebhookGiven } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Sent, send } from '../../../support/http.ts';
import { readStore } from '../../../support/stored.ts';
import {
  openWebhookDaemon,
  startWebhookDaemon,
  type WebhookDaemon,
} from '../../../support/webhook-daemon.ts';
import type { RunOptions, RunResult } from '../../../support/workspace.ts';

let daemon: WebhookDaemon;
let token: string;
beforeAll(async () => {
  const limits = { deliveriesPerMinute: 3, failedAuthPerMinute: 3, bodyBytes: 2_000 };
  const script = 'echo step one; echo the disk is full >&2; exit 7';
  const runner = { kind: 'command', argv: ['sh', '-c', script] };
  daemon = await openWebhookDaemon({ settings: { limits, runs: { runner, attempts: 1 } } });
  token = (
    await daemon.workspace.hookmill('tokens', 'create', 'why', '--all-factories', '--permission', 'manage')
  ).stdout.trim();
});
afterAll(() => daemon.stop());

type OfFactory = Pick<TestWebhook, 'factory'>;

/** Runs `hookmill` in the factory of the webhook. */
function run({ factory }: OfFactory, args: readonly string[], own = daemon, options: RunOptions = {}) {
  const place = ['-C', factory, '--factory', factory, '--home', '.hookmill'];
  return own.workspace.hookmill(...args, ...place, options);
}

/** Runs `hookmill why` for the webhook, or for a delivery to it. */
function why(webhook: OfFactory, subject = 'hook', ...args: string[]): Promise<RunResult> {
  return run(webhook, ['why', subject, ...args]);
}

/** Waits until the daemon names the step as the cause, and returns that step. */
async function causeOf(webhook: TestWebhook, step: string, subject = 'hook') {
  const path = `/api/v1/factories/${webhook.factory}/why/${subject}`;
  const shown: WhyView = await eventually(async () => {
    const response = await fetch(daemon.managementUrl + path, { headers: bearerOf(token) });
    const view = (await response.json()) as WhyView;
    return view.cause === step ? view : undefined;
  });
  return shown.steps.find(one => one.step === step);
}

/** Adds an automation that listens to the webhook. */
async function listen(
  webhook: TestWebhook,
  payload: object | undefined,
  { own = daemon, ...keys }: { enabled?: boolean; runner?: string; own?: WebhookDaemon } = {},
): Promise<void> {
  const filter = { webhook_ids: [webhook.uid], ...(payload && { payload }) };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  own.workspace.write(
    `${webhook.factory}/automations/triage.yaml`,
    JSON.stringify({ prompt: 'Act.', triggers, ...keys }),
  );
  const { serial } = await webhook.apply({});
  await eventually(async () => (await webhook.readiness())?.serial === serial);
}

/** Pauses the automation `triage`, two days ago, and opens its alert, as the daemon's next look does. */
function openAlertOfPause(own: WebhookDaemon, { factory }: TestWebhook): Promise<unknown> {
  const nowMs = Date.now();
  return readStore(homeAt(own.workspace.home), async ({ openDeliveryLog, deliveries, alerts }) => {
    const log = await openDeliveryLog();
    const pause = { factory, automation: 'triage', by: 'ada', atMs: nowMs - 2 * 86_400_000 };
    await log.pauseAutomation(pause).finally(() => log.close());
    const findings = await findLongPauses(deliveries, [], nowMs);
    const context = { nowMs, randomBytes, receivers: [], dashboardUrl: '' };
    return alerts.change(state => followEpisodes(state, findings, context));
  });
}

test('says that nothing is wrong, with exit status 0, or what a run waits for, until no daemon answers', async () => {
  const fine = { kind: 'command', argv: ['true'], factories: ['*'] };
  const runs = {
    runner: { kind: 'command', argv: ['false'] },
    ...{ backOff: { firstSeconds: 600 }, runners: { fine } },
  };
  const own = await startWebhookDaemon({ settings: { runs } });
  const webhook = await own.webhook();
  await listen(webhook, undefined, { own, runner: 'fine' });
  const { deliveryId = '' } = await webhook.post('{"a":1}');
  for (const subject of ['hook', deliveryId, webhook.uid]) {
    await expect
      .poll(() => run(webhook, ['why', subject], own))
      .toMatchObject({ exitCode: 0, stdout: expect.stringMatching(`Nothing is wrong[^]*${deliveryId}`) });
  }
  await openAlertOfPause(own, webhook);
  const alerted = await run(webhook, ['why', 'hook'], own);
  expect(alerted.exitCode).toBe(1);
  expect(alerted.stdout).toMatch(
    /No step is wrong now, but an alert is open: triage was paused by ada, and no run of it starts\.(.|\n)*automations resume triage/,
  );
  expect((await run(webhook, ['doctor'], own)).stdout).toContain('triage was paused by ada');
  const waiting = await own.webhook();
  await listen(waiting, undefined, { own });
  await waiting.post('1');
  await expect
    .poll(async () => (await run(waiting, ['why', 'hook'], own)).stdout)
    .toMatch(/✗ runs +run_\w+ of triage waits for another attempt at /);

  await own.stop();
  expect((await run(webhook, ['why', 'hook'], own)).stdout).toMatch(/✗ daemon +none answers at http/);
  const server = ['--server', own.managementUrl];
  const remote = await run(webhook, ['why', 'hook', ...server], own, { env: { HOOKMILL_TOKEN: token } });
  expect(remote).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('does not answer') });
});

test('a webhook is not applied', async () => {
  daemon.workspace.write('fresh/webhooks/deploys.yaml', 'secretName: DEPLOYS\n');
  const result = await why({ factory: 'fresh' }, 'deploys');
  expect(result).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/deploys\.yaml is not applied.*hookmill apply/),
  });
  expect((await why({ factory: 'fresh' }, 'other')).stderr).toMatch(/has no webhook other/);
});

test('a webhook is disabled', async () => {
  const webhook = await daemon.webhook({ enabled: false });
  await webhook.post('1');
  await expect.poll(async () => (await causeOf(webhook, 'webhook'))?.message).toMatch(/disabled.*1 request /);
});

test('no request has ever come', async () => {
  const webhook = await daemon.webhook();
  await send(webhook.url.replace(/wh_.*/, 'wh_000000000000000000000000'));
  await expect
    .poll(async () => await causeOf(webhook, 'sender'))
    .toMatchObject({
      message: expect.stringMatching(/^no request has ever come; [1-9]\d* came to unknown URLs/),
      remedy: expect.stringContaining(webhook.url),
    });
});

test('the URL is nearly right', async () => {
  const webhook = await daemon.webhook();
  await send(webhook.url.slice(0, -1), { body: '1' });
  expect((await causeOf(webhook, 'url'))?.message).toMatch(/1 request .* cut off after 26 of 27 characters/);
});

test('every delivery is rejected by authentication', async () => {
  const webhook = await daemon.webhook();
  await webhook.post('1', { headers: bearerOf('wrong') });
  const cause = await causeOf(webhook, 'authentication');
  expect(cause).toMatchObject({ message: 'the last request was rejected: wrong token' });
  expect(cause?.remedy).toContain(webhook.factory);
});

const signed = { authMode: 'signature', signatureScheme: 'stripe', secret: 'whsec_c3RyaXBlLXNpZ25pbmc' };

/** The headers of a request that Stripe signed so many seconds ago. */
function signAsStripe(agoSeconds: number) {
  const timestamp = Math.floor(Date.now() / 1_000) - agoSeconds;
  const given = { payload: '{}', secret: signed.secret, timestamp };
  return { 'stripe-signature': new Stripe('sk_test').webhooks.generateTestHeaderString(given) };
}

test.for<[string, WebhookGiven, Sent, RegExp, RegExp]>([
  ['its secret has no value', { secret: null }, {}, /has no value/, /hookmill secrets generate/],
  [
    'another scheme signs',
    { authMode: 'signature', signatureScheme: 'github' },
    { headers: signAsStripe(0) },
    ...([/X-Hub-Signature-256/i, /stripe/i] as const),
  ],
  ['it was signed long ago', signed, { headers: signAsStripe(3_600) }, /\d s old/, /clock/],
])('every delivery is rejected, because %s', async ([_, given, sent, message, remedy]) => {
  const webhook = await daemon.webhook(given);
  await webhook.post('{}', sent);
  const cause = await causeOf(webhook, 'authentication');
  expect(cause?.message).toMatch(message);
  expect(cause?.remedy).toMatch(remedy);
});

test('the body is too large', async () => {
  const webhook = await daemon.webhook();
  await webhook.post(JSON.stringify('x'.repeat(2_098)));
  const cause = await causeOf(webhook, 'limits');
  expect(cause?.message).toMatch(/the body of the last delivery has 2100 bytes, more than the limit/);
  expect(cause?.remedy).toContain('`limits.bodyBytes`');
});

test('the budget of failed attempts is spent', async () => {
  const webhook = await daemon.webhook();
  for (let guess = 0; guess < 5; guess++) await webhook.post('1', { headers: bearerOf('wrong') });
  await expect
    .poll(async () => (await causeOf(webhook, 'authentication'))?.message)
    .toMatch(/wrong token; 2 requests .* not verified at all/);
});

test('the rate limit is reached', async () => {
  const webhook = await daemon.webhook();
  for (const body of ['1', '2', '3', '4']) await webhook.post(body);
  expect((await causeOf(webhook, 'limits'))?.message).toMatch(/^the rate limit refused 1 request /);
});

test('a body is not JSON', async () => {
  const webhook = await daemon.webhook();
  await webhook.post('{"a":1,}');
  expect((await causeOf(webhook, 'json'))?.message).toMatch(
    /a key in double quotes is expected at line 1, column 8/,
  );
});

test('a delivery is a duplicate', async () => {
  const webhook = await daemon.webhook();
  const { deliveryId } = await webhook.post('{"a":1}');
  await webhook.post('{"a":1}');
  const cause = await causeOf(webhook, 'identity');
  expect(cause?.message).toBe(
    `the last is a duplicate of ${deliveryId}: its body is the same, and it has no ID`,
  );
  const [duplicate] = await webhook.rows();
  await causeOf(webhook, 'identity', duplicate?.id);
});

test('a sender with a token in its URL is not asked for a header when it repeats a body', async () => {
  const webhook = await daemon.webhook({ authMode: 'url_token' });
  await webhook.post('{"a":1}');
  await webhook.post('{"a":1}');
  const remedy = (await causeOf(webhook, 'identity'))?.remedy;
  expect(remedy).toContain('`identity: none`');
  expect(remedy).not.toContain('header');
});

test('no automation listens', async () => {
  const webhook = await daemon.webhook();
  await webhook.post('1');
  const cause = await causeOf(webhook, 'automations');
  expect(cause).toMatchObject({ message: 'no automation listens to it' });
  expect(cause?.remedy).toContain('`webhook: hook`');
});

test('the automation is disabled', async () => {
  const webhook = await daemon.webhook();
  await listen(webhook, undefined, { enabled: false });
  await webhook.post('1');
  expect((await causeOf(webhook, 'automations'))?.message).toBe('triage is disabled');
});

test('a filter asks for another type', async () => {
  const webhook = await daemon.webhook();
  await listen(webhook, { number: ['7'] });
  const { deliveryId } = await webhook.post('{"number":7}');
  expect(await causeOf(webhook, 'automations', deliveryId)).toMatchObject({
    lines: ['$.number in ["7"]: it is 7'],
    remedy: expect.stringContaining('write [7]'),
  });
});

test('a filter asks for another letter case', async () => {
  const webhook = await daemon.webhook();
  await listen(webhook, { action: ['opened'] });
  await webhook.post('{"action":"Opened"}');
  expect(await causeOf(webhook, 'automations')).toMatchObject({
    message: 'the filter of triage does not match the last delivery',
    lines: ['$.action in ["opened"]: it is "Opened"'],
    remedy: expect.stringContaining('did you mean "Opened"?'),
  });
});

test('no automation matches: the nearest is explained, and the others are named with their fields', async () => {
  const webhook = await daemon.webhook();
  const trigger = (payload: object) => [
    { provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid], payload } },
  ];
  const far = { prompt: 'Act.', triggers: trigger({ x: [1], y: { z: [2] } }) };
  daemon.workspace.write(`${webhook.factory}/automations/another.yaml`, JSON.stringify(far));
  await listen(webhook, { action: ['opened'] });
  await webhook.post('{"action":"closed"}');
  expect(await causeOf(webhook, 'automations')).toMatchObject({
    message: 'none of 2 automations matches the last delivery; triage is the nearest',
    lines: ['$.action in ["opened"]: it is "closed"', 'another: $.x, $.y'],
  });
});

test('a filter asks for a field that this delivery has not, and no other value is proposed', async () => {
  const webhook = await daemon.webhook();
  await listen(webhook, { number: ['7'] });
  await webhook.post('{"number":7}');
  const { deliveryId } = await webhook.post('{"other":7}');
  const found = await causeOf(webhook, 'automations', deliveryId);
  expect(found?.lines).toEqual(['$.number in ["7"]: missing']);
  expect(found?.remedy).toContain('`hookmill payloads describe hook`');
  expect(found?.remedy).not.toContain('write');
});

test('a run failed, with the end of its output', async () => {
  const webhook = await daemon.webhook();
  await listen(webhook, undefined);
  await webhook.post('1');
  const cause = await causeOf(webhook, 'runs');
  expect(cause?.message).toMatch(/^run_\w+ of triage failed after one attempt: .*7/);
  expect(cause?.lines).toEqual(expect.arrayContaining(['step one', 'the disk is full']));
  expect(cause?.remedy).toMatch(/hookmill runs retry run_/);
  const { stdout, ...ended } = await why(webhook);
  expect(ended).toEqual({ exitCode: 1, stderr: '' });
  const named = stdout
    .replaceAll(/20[\d-]+T[\d:.]+Z/g, 'TIME')
    .replaceAll(/(run|dlv)_\w+/g, '$1_ID')
    .replaceAll(webhook.factory, 'NAME');
  expect(named).toBe(`\
hook
Cause: run_ID of triage failed after one attempt: the command exited with status 7.

  ✓ daemon          it serves what is applied
  ✓ webhook         it is applied and enabled
  ✓ sender          its last request came at TIME
  ✓ url             requests come to the right URL
  ✓ authentication  the last request was verified
  ✓ limits          none is exceeded
  ✓ json            the last body was valid
  ✓ identity        the last delivery was new, by a hash of the body
  ✓ automations     triage matched the last delivery
  ✗ runs            run_ID of triage failed after one attempt: the command exited with status 7
                    [hookmill: attempt 1 at TIME]
                    step one
                    the disk is full
                    [hookmill: the command exited with status 7]
                    → Correct the cause, then run \`hookmill -C NAME --factory NAME --home .hookmill runs retry run_ID\`.

LAST      DELIVERY                        TIME
Accepted  dlv_ID  TIME
`);
});

test('retention has removed the delivery', async () => {
  const webhook = await daemon.webhook();
  const gone = createSortableId('dlv', Date.parse('2026-01-02T03:04:05Z'), new Uint8Array(16));
  expect(await why(webhook, gone)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/which came at 2026-01-02T03:04:05\.000Z: retention has removed it/),
  });
});

test('is shown by the list of deliveries and the webhook too: what was refused and not logged', async () => {
  const webhook = await daemon.webhook();
  for (const body of ['1', '2', '3', '4', '5']) await webhook.post(body);
  const line = /^Refused and not logged in the last hour: 2 by the rate limit \(last \d\d:\d\d:\d\d\)$/m;
  await expect.poll(async () => (await run(webhook, ['webhooks', 'show', 'hook'])).stdout).toMatch(line);
  for (const more of [[], ['--webhook', 'hook']]) {
    expect((await run(webhook, ['deliveries', 'list', ...more])).stdout).toMatch(line);
  }
});

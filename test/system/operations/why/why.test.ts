import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type Finding, followEpisodes } from '../../../../operations/attention/follow-episodes.ts';
import { explainWhy } from '../../../../operations/why/why.ts';
import { emptyAppliedState } from '../../../../schema/applied-state.ts';
import type { Trigger } from '../../../../schema/definitions/automation-definition.ts';
import type { UnidentifiedOutcome } from '../../../../schema/delivery.ts';
import type { RunResult } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, rejectedDelivery, unloggedCount } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { newHome } from '../../../support/factory.ts';
import { factoryIn } from '../../../support/stored.ts';

const hourMs = 3_600_000;
const { uid, webhook: name } = acceptedDelivery();

const trigger: Trigger = { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } };
const credential = { kind: 'digest', secretVersion: 'v', sha256: '' } as const;
const webhook = { name, uid, secretName: 'A', authMode: 'token', enabled: true, credential } as const;

/** Opens the log of a factory with one webhook, and explains what comes to it. */
async function openLogged() {
  const factory = factoryIn(newHome());
  const log = await factory.store.openDeliveryLog();
  onTestFinished(async () => {
    await log.close();
    await factory.store.close();
  });
  const automations = [{ name: 'triage', enabled: true, prompt: 'Act.', triggers: [trigger] }];
  const readState = async () => ({ ...emptyAppliedState('default'), webhooks: [webhook], automations });
  const explain = async (subject = name) => {
    const given = { baseUrl: 'http://h', permission: 'manage', daemonProblem: null } as const;
    return explainWhy({ ...factory, readState }, subject, given);
  };
  const reject = async (outcome: UnidentifiedOutcome, atMs: number) => {
    const rejected = rejectedDelivery({ outcome, atMs });
    log.recordUnidentified(rejected);
    await eventually(() => factory.store.deliveries.findDelivery(rejected.id));
  };
  /** Claims the run that is queued, and ends it. */
  const finish = async (result: Pick<RunResult, 'state' | 'error' | 'atMs'>, claimedAtMs: number) => {
    const { runs } = await log.claimRuns({ daemonId: 'd', nowMs: claimedAtMs, places: { default: 1 } });
    for (const { id, claims, claimedBy } of runs) await log.finishRun({ id, claims, claimedBy, ...result });
  };
  return { factory, log, explain, reject, finish };
}

test('the newest request is the cause, and what was wrong before stands below with its time', async () => {
  const { log, explain, reject, finish } = await openLogged();
  const nowMs = Date.now();
  await reject('Rejected (too large)', nowMs - 50_000);
  await reject('Rejected (invalid JSON)', nowMs - 40_000);
  expect(await explain()).toMatchObject({ cause: 'json' });
  const burst = unloggedCount({ lastAtMs: nowMs - 30_000, count: 10 });
  await log.recordUnlogged([burst]);
  const limited = await explain();
  expect(limited).toMatchObject({ cause: 'limits' });
  expect(limited.steps.find(({ step }) => step === 'json')).toMatchObject({
    state: 'wrong',
    at: new Date(nowMs - 40_000).toISOString(),
  });
  await log.recordAccepted(acceptedDelivery({ atMs: nowMs - 20_000, runs: [newRun()] }));
  await finish({ state: 'succeeded', atMs: nowMs - 15_000 }, nowMs - 20_000);
  const accepted = await explain();
  expect(accepted).toMatchObject({ cause: null });
  expect(accepted.steps.find(({ step }) => step === 'limits')).toMatchObject({
    state: 'earlier',
    at: new Date(nowMs - 30_000).toISOString(),
    message: expect.stringMatching(/^the rate limit refused 10 requests/),
    remedy: expect.stringContaining('`webhooks.pay.deliveriesPerMinute`'),
  });
  await log.recordAccepted(acceptedDelivery({ atMs: nowMs - 10_000, runs: [newRun()] }));
  await finish({ state: 'failed', error: 'no luck', atMs: nowMs }, nowMs);
  expect(await explain()).toMatchObject({ cause: 'runs' });
});

test('a run that takes far longer than usual is named with how long one takes', async () => {
  const { log, explain, finish } = await openLogged();
  const beginMs = Date.now() - 3_600_000;
  for (let n = 0; n < 3; n++) {
    const atMs = beginMs + n * 60_000;
    await log.recordAccepted(acceptedDelivery({ atMs, runs: [newRun()] }));
    await finish({ state: 'succeeded', atMs: atMs + 30_000 }, atMs);
  }
  const atMs = Date.now() - 600_000;
  await log.recordAccepted(acceptedDelivery({ atMs, runs: [newRun()] }));
  await log.claimRuns({ daemonId: 'd', nowMs: atMs, places: { default: 1 } });
  const { cause, steps } = await explain();
  expect(cause).toBe('runs');
  expect(steps.at(-1)?.message).toMatch(/of triage has been running for 10 minutes; it usually takes 30 s$/);
});

test('says that a sender has been silent for unusually long, unless it was only rejected', async () => {
  const { factory, log, explain: explainAll, reject } = await openLogged();
  const lastMs = Date.now() - 6 * hourMs;
  const hours = Array.from({ length: 21 * 24 }, (_, index) => lastMs - index * hourMs).reverse();
  await Promise.all(hours.map(atMs => log.recordAccepted(acceptedDelivery({ atMs }))));
  await log.recordTallies(await factory.store.deliveries.readNextTallies());
  const explain = async () => {
    const { cause, steps } = await explainAll();
    return { cause, sender: steps.find(({ step }) => step === 'sender') };
  };
  expect(await explain()).toEqual({
    cause: 'sender',
    sender: expect.objectContaining({
      message: 'no delivery for 6 hours; 60 minutes are usual at most at this time',
      remedy: expect.stringContaining(`posts to http://h/webhooks/w/${uid}`),
    }),
  });
  await reject('Rejected (auth)', Date.now());
  expect(await explain()).toMatchObject({ cause: 'authentication', sender: { state: 'ok' } });
});

test('open alerts about the webhook and its automations need attention although no step is wrong', async () => {
  const { factory, log, explain, finish } = await openLogged();
  const nowMs = Date.now();
  const delivery = acceptedDelivery({ atMs: nowMs - 20_000, runs: [newRun()] });
  await log.recordAccepted(delivery);
  await finish({ state: 'succeeded', atMs: nowMs - 15_000 }, nowMs - 20_000);
  expect(await explain()).toMatchObject({ cause: null, attention: [] });
  const find = (type: Finding['type'], subject: string, named: string): Finding => {
    const problem = { reason: `${named} is wrong`, sinceMs: nowMs };
    return { type, factory: 'default', subject, name: named, problem };
  };
  const findings = [
    find('webhook.quiet', uid, name),
    find('runs.failing', 'triage', 'triage'),
    find('runs.failing', 'other', 'other'),
    find('webhook.failing', 'wh_another', 'another'),
  ];
  const context = { nowMs, randomBytes, receivers: [], dashboardUrl: '' };
  await factory.store.alerts.change(state => followEpisodes(state, findings, context));
  const { cause, attention } = await explain();
  expect(cause).toBeNull();
  expect(attention).toMatchObject([
    { type: 'runs.failing', automation: 'triage', remedy: expect.stringContaining('hookmill runs list') },
    // Its remedy would be this explanation.
    { type: 'webhook.quiet', webhook: { uid }, remedy: null },
  ]);
  const ofDelivery = await explain(delivery.id);
  expect(ofDelivery.attention[1]?.remedy).toContain(`hookmill why ${name}`);
  const resolved = findings.map(found => ({ ...found, problem: null }));
  const later = { ...context, nowMs: nowMs + 86_400_000 };
  await factory.store.alerts.change(state => followEpisodes(state, resolved, later));
  await factory.store.alerts.change(state =>
    followEpisodes(state, resolved, { ...later, nowMs: later.nowMs * 2 }),
  );
  expect(await explain()).toMatchObject({ cause: null, attention: [] });
});

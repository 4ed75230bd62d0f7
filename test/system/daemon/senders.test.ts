import { expect, test } from 'vitest';
import type { LoggedDelivery } from '../../../store/ports/delivery-log.ts';
import { stopAfterTest } from '../../support/daemon-here.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type ManagedDaemon, openManagedDaemon } from '../../support/management.ts';
import {
  openSentToGithub,
  openSentToGitlab,
  type SentTo,
  settingsFor,
  startProviders,
} from '../../support/sender-with-log.ts';
import type { GithubDelivery } from '../../support/senders/github-log.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const recover = { sender: { recover: true } };

/** A daemon with doubles of its own, because it looks at all webhooks. */
async function start(more: object = {}) {
  const providers = await startProviders();
  const home = newHome();
  const settings = { ...settingsFor(providers), ...more };
  const open = async () => stopAfterTest(await openManagedDaemon(settings, home));
  return { ...providers, providers, open, daemon: await open() };
}

/** Lets time pass until the daemon has looked at the provider. */
async function look({ advance, state }: SentTo): Promise<void> {
  const before = (await state())?.checked?.at;
  await eventually(async () => {
    if ((await state())?.checked?.at !== before) return true;
    advance(2 * minuteMs);
    return false;
  });
}

/** Lets time pass until it has compared the provider's log as well. */
async function lookForMissed(sent: SentTo): Promise<void> {
  const before = (await sent.state())?.missed?.at;
  await look(sent);
  await eventually(async () => (await sent.state())?.missed?.at !== before);
}

const outcomes = async ({ rows }: SentTo) => (await rows()).map(({ outcome }) => outcome);

test('keeps what the provider tried in vain, only of events that an automation could match, and tells it until it was asked for', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers);
  await github.deliver('issues', 'opened', {});
  github.deliverMany(9, 'issues', 'opened');
  github.deliverMany(5, 'star', 'created');
  await lookForMissed(sent);
  const { missed, checked } = (await sent.state()) ?? {};
  expect(checked).toMatchObject({ problem: null, hooks: [{ url: sent.url }] });
  expect(missed).toMatchObject({ events: 9, attempts: 9, recovering: 0, problem: null });
  const why = await sent.client.call('explainWhy', { params: { subject: 'shop' } });
  const step = why.json.steps.find((step: { step: string }) => step.step === 'sender');
  expect(step).toMatchObject({
    state: 'wrong',
    message: `the provider tried 9 times to deliver 9 events between ${missed?.first} and ${missed?.last}, which did not arrive`,
    remedy: expect.stringContaining('`hookmill senders missed shop --redeliver`'),
  });
  const alerts = async () => (await sent.client.call('listAlerts')).json.alerts;
  const open = async () => (await alerts()).filter(({ status }: { status: string }) => status === 'open');
  await eventually(async () => {
    // Alerts may have looked right before it was known.
    sent.advance(20_000);
    return (await open()).length === 1;
  });
  expect(await open()).toMatchObject([
    {
      ...{ type: 'webhook.missed', webhook: { name: 'shop', uid: sent.uid } },
      reason: expect.stringMatching(/^shop: the provider tried 9 times to deliver 9 events between /),
      remedy: `Run \`hookmill --factory ${sent.daemon.factory} senders missed shop --redeliver\`.`,
    },
  ]);
  await sent.redeliver((await sent.list()).events);
  await github.settled();
  await lookForMissed(sent);
  expect((await sent.state())?.missed).toMatchObject({ events: 0, first: null });
  await eventually(async () => {
    sent.advance(20_000);
    return (await open()).length === 0;
  });
});

test('asks for what was missed after a restart, each event once, and goes on after another one', async () => {
  const { github, daemon, providers, open } = await start({ port: await findFreePort() });
  const sent = await openSentToGithub(daemon, providers, recover);
  await lookForMissed(sent);
  await daemon.stop();
  const missed = github.deliverMany(30, 'issues', 'opened', { spanMs: minuteMs });
  github.deliverMany(30, 'star', 'created', { spanMs: minuteMs });
  let { nowMs } = daemon.clock;
  /** Starts the daemon again some minutes later, and lets time pass until something is seen. */
  const restart = async (until: (next: ManagedDaemon) => boolean | Promise<boolean>) => {
    const next = await open();
    const pass = (ms: number) => {
      nowMs += ms;
      next.clock.nowMs = nowMs;
      next.clock.monotonicMs += ms;
      github.clock.set(nowMs);
    };
    pass(5 * minuteMs);
    await eventually(async () => {
      pass(5_000);
      return until(next);
    });
    await next.stop();
    await github.settled();
  };
  const again = () => github.log.filter(({ redelivery }) => redelivery).length;
  await restart(() => again() > 5);
  expect(again()).toBeLessThan(30);
  const rows = ({ store }: ManagedDaemon) =>
    store.deliveries.listDeliveries({ factory: sent.daemon.factory, uid: sent.uid, limit: 1_000 });
  let last: LoggedDelivery[] = [];
  await restart(async next => {
    last = await rows(next);
    return last.filter(({ outcome }) => outcome === 'Accepted').length === 30;
  });
  expect(last.map(({ identity }) => identity).sort()).toEqual(missed.map(({ guid }) => guid).sort());
});

test('asks again for what did not arrive when it was asked for, and tells it until it arrives', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers, recover);
  const { config } = sent.hook;
  sent.hook.config = { ...config, secret: 'another' };
  const missed = github.deliverMany(3, 'issues', 'opened', { spanMs: minuteMs });
  sent.advance(5 * minuteMs);
  await look(sent);
  const asked = () => github.log.filter(({ redelivery }) => redelivery).length;
  await eventually(() => asked() === 3);
  await github.settled();
  await lookForMissed(sent);
  expect((await sent.state())?.missed).toMatchObject({ events: 3, inVain: 3, recovering: 0 });
  await eventually(() => asked() === 6);
  await eventually(async () => {
    sent.advance(20_000);
    const { alerts } = (await sent.client.call('listAlerts')).json;
    return /did not arrive, not even when asked for again$/.test(alerts[0]?.reason);
  });
  expect(new Set(await outcomes(sent))).toEqual(new Set(['Rejected (auth)']));
  sent.hook.config = config;
  await acceptAll(sent, missed);
});

test('tells by name and number what the provider forgot before it arrived, and not what arrived', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers, recover);
  const { config } = sent.hook;
  sent.hook.config = { ...config, secret: 'another' };
  const [first] = github.deliverMany(3, 'issues', 'opened', { spanMs: minuteMs });
  sent.advance(5 * minuteMs);
  const asked = () => github.log.filter(({ redelivery }) => redelivery);
  await look(sent);
  await eventually(() => asked().length === 3);
  await github.settled();
  await lookForMissed(sent);
  await eventually(() => asked().length === 6);
  sent.hook.config = config;
  sent.advance(2 * minuteMs);
  const again = [{ eventId: first?.guid ?? '', attemptId: String(first?.id) }];
  expect((await sent.redeliver(again, { again: true })).events).toMatchObject([{ result: 'asked' }]);
  await github.settled();
  sent.advance(7 * dayMs);
  await eventually(async () => {
    sent.advance(minuteMs);
    return (await sent.state())?.missed?.lost.length === 1;
  });
  expect((await sent.state())?.missed).toMatchObject({ events: 0, lost: [{ event: 'issues', events: 2 }] });
});

test('asks GitLab for five events a minute by the clock of the daemon', async () => {
  const { gitlab, daemon, providers } = await start();
  const sent = await openSentToGitlab(daemon, providers, recover);
  const payload = (index: number) => ({ ref: 'refs/heads/main', index });
  gitlab.deliverMany(11, 'push_events', { payload, spanMs: minuteMs });
  sent.advance(5 * minuteMs);
  await look(sent);
  const accepted = (count: number) => eventually(async () => (await sent.rows()).length === count);
  await accepted(5);
  // The looks that follow are answered "not yet".
  const resends = () => gitlab.requests.filter(({ path }) => path.endsWith('/resend')).length;
  expect(resends()).toBe(5);
  sent.advance(65_000);
  await accepted(10);
  sent.advance(65_000);
  await accepted(11);
  expect(resends()).toBe(11);
});

test('stops at the bound of a day, and tells of the rest', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers, recover);
  const at = new Date(daemon.clock.nowMs).toISOString();
  const asked = Array.from({ length: 998 }, (_, index) => {
    return { eventId: `earlier-${index}`, at, times: 1, byDaemon: true };
  });
  await daemon.store.senderStates.act(sent.daemon.factory, sent.uid, state => ({ ...state, asked }));
  github.deliverMany(5, 'issues', 'opened', { spanMs: minuteMs });
  sent.advance(5 * minuteMs);
  await look(sent);
  await eventually(async () => (await sent.rows()).length === 2);
  await lookForMissed(sent);
  expect((await sent.state())?.missed).toMatchObject({ events: 3, recovering: 0 });
  expect((await sent.state())?.asked).toHaveLength(1_000);
  sent.advance(dayMs);
  await look(sent);
  await eventually(async () => (await sent.rows()).length === 5);
});

test('opens the alert in spite of recover if the credential may not ask', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers, { ...recover, credential: 'reading-token' });
  github.deliverMany(2, 'issues', 'opened', { spanMs: minuteMs });
  await lookForMissed(sent);
  await eventually(async () => (await sent.state())?.missed?.problem !== null);
  const alerts = async () => (await sent.client.call('listAlerts')).json.alerts;
  await eventually(async () => {
    sent.advance(minuteMs);
    return (await alerts()).length === 1;
  });
});

test('a provider that is down is a fact, and keeps nothing from being served', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers);
  await github.setDown('error');
  await look(sent);
  expect((await sent.state())?.checked?.problem).toMatchObject({ code: 'unreachable' });
  await github.setDown(undefined);
  await github.deliver('issues', 'opened', {});
  expect(await outcomes(sent)).toEqual(['Accepted']);
  await lookForMissed(sent);
  expect((await sent.state())?.checked?.problem).toBeNull();
});

test('misses nothing of an outage that begins when the clock, which was 6 hours ahead, is set back', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers, recover);
  daemon.clock.nowMs += 6 * hourMs;
  await lookForMissed(sent);
  daemon.clock.nowMs -= 6 * hourMs;
  github.clock.set(daemon.clock.nowMs);
  const missed = github.deliverMany(5, 'issues', 'opened', { spanMs: minuteMs });
  await acceptAll(sent, missed);
});

test('asks again for what was lost while the clock was 6 hours ahead, without waiting until it has caught up', async () => {
  const { github, daemon, providers } = await start();
  const sent = await openSentToGithub(daemon, providers, recover);
  const lost = github.deliverMany(3, 'issues', 'opened', { spanMs: minuteMs });
  const [event] = (await sent.list()).events;
  const at = new Date(daemon.clock.nowMs + 6 * hourMs).toISOString();
  const asked = {
    eventId: event?.eventId ?? '',
    at,
    times: 1,
    byDaemon: true,
  };
  await daemon.store.senderStates.learn(sent.daemon.factory, sent.uid, state => ({
    ...state,
    asked: [asked],
  }));
  await acceptAll(sent, lost);
});

/** Lets time pass until exactly these events were accepted, each once; an hour at most. */
async function acceptAll(sent: SentTo, events: readonly GithubDelivery[]): Promise<void> {
  const identities = async () =>
    (await sent.rows()).flatMap(({ outcome, identity }) => (outcome === 'Accepted' ? [identity] : []));
  const endMs = sent.daemon.clock.nowMs + hourMs;
  await eventually(async () => {
    if (sent.daemon.clock.nowMs < endMs) sent.advance(minuteMs);
    return (await identities()).length === events.length;
  });
  expect((await identities()).sort()).toEqual(events.map(({ guid }) => guid).sort());
}

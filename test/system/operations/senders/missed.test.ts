import { expect, test } from 'vitest';
import { useManagedDaemon } from '../../../support/management.ts';
import {
  openSentToGithub,
  openSentToGitlab,
  type SentTo,
  settingsFor,
  startProviders,
} from '../../../support/sender-with-log.ts';

const providers = await startProviders();
const { github, gitlab } = providers;
const shared = useManagedDaemon(settingsFor(providers));
const minuteMs = 60_000;
const dayMs = 86_400_000;

const openGithub = (given?: Parameters<typeof openSentToGithub>[2]) =>
  openSentToGithub(shared(), providers, given);
const openGitlab = (given?: Parameters<typeof openSentToGitlab>[2]) =>
  openSentToGitlab(shared(), providers, given);

/** Lets GitHub try to deliver opened issues, and other events, to nobody; then a few minutes pass. */
function missIssues({ advance }: SentTo, opened: number, others = 0, spanMs = minuteMs) {
  const missed = github.deliverMany(opened, 'issues', 'opened', { spanMs });
  github.deliverMany(others, 'issues', 'closed', { spanMs });
  github.deliverMany(others, 'star', 'created', { spanMs });
  advance(5 * minuteMs);
  return missed;
}

test('lists what an automation could match, and everything with all', async () => {
  const sent = await openGithub();
  const missed = missIssues(sent, 3, 2);
  const { events, read } = await sent.list();
  expect(events.map(({ eventId }) => eventId).sort()).toEqual(missed.map(({ guid }) => guid).sort());
  expect(events[0]).toMatchObject({
    ...{ event: 'issues', action: 'opened', attempts: 1, status: 502, matches: ['triage'] },
    ...{ canRedeliver: true, isInFlight: false, asked: null },
  });
  expect(read).toMatchObject({ entries: 7, isComplete: true, isShortened: false });
  const all = await sent.list({ all: true });
  expect(all.events.map(({ matches }) => matches.length).sort()).toEqual([0, 0, 0, 0, 1, 1, 1]);
});

test('leaves out what arrived, also at a second attempt, and has what was answered 2xx by something else', async () => {
  const sent = await openGithub();
  await github.deliver('issues', 'opened', {});
  const [back, gone] = missIssues(sent, 2);
  github.deliverMany(1, 'issues', 'opened', { statusCode: 200, status: 'OK' });
  sent.advance(2 * minuteMs);
  const listed = await sent.list();
  expect(listed.events.map(({ status }) => status).sort()).toEqual([200, 502, 502]);
  const again = listed.events.filter(({ eventId }) => eventId === back?.guid);
  expect((await sent.redeliver(again)).events).toMatchObject([{ result: 'asked' }]);
  await github.settled();
  sent.advance(2 * minuteMs);
  const after = (await sent.list()).events;
  expect(after.map(({ status }) => status).sort()).toEqual([200, 502]);
  expect(after.find(({ status }) => status === 502)?.eventId).toBe(gone?.guid);
});

test('counts what the webhook refused as missed: it is not in the log of accepted deliveries', async () => {
  const sent = await openGithub();
  sent.hook.config = { ...sent.hook.config, secret: 'another' };
  const [refused] = await github.deliver('issues', 'opened', {});
  expect(refused?.statusCode).toBe(401);
  sent.advance(2 * minuteMs);
  expect((await sent.list()).events).toMatchObject([{ eventId: refused?.guid, status: 401 }]);
});

test('leaves out nothing of an event whose newest attempt is in flight, but says so', async () => {
  const sent = await openGithub();
  const [missed] = missIssues(sent, 1);
  if (!missed) throw new Error('nothing is missed');
  await github.deliver('issues', 'opened', {});
  github.deliverMany(1, 'issues', 'opened');
  expect((await sent.list()).events.map(({ isInFlight }) => isInFlight).sort()).toEqual([false, true]);
});

test('reads the log in parts, and finds an event whose attempts are in several of them once', async () => {
  const sent = await openGithub();
  missIssues(sent, 1);
  const [first] = (await sent.list()).events;
  github.deliverMany(2_500, 'star', 'created', { spanMs: minuteMs });
  sent.advance(2 * minuteMs);
  sent.hook.config = { ...sent.hook.config, secret: 'another' };
  await sent.redeliver(first ? [first] : []);
  await github.settled();
  sent.advance(2 * minuteMs);
  const one = await sent.list();
  expect(one.read).toMatchObject({ isComplete: false });
  expect(one.events).toMatchObject([{ eventId: first?.eventId, status: 401, attempts: 1 }]);
  const two = await sent.list({ cursor: one.next ?? '' });
  expect(two.read).toMatchObject({ isComplete: true, entries: 2_502 });
  expect(two.events).toMatchObject([{ eventId: first?.eventId, status: 502, attempts: 1 }]);
});

test('says that the delivery log cannot know what is older than a week', async () => {
  const sent = await openGithub();
  const since = new Date(sent.daemon.clock.nowMs - 30 * dayMs).toISOString();
  const { read } = await sent.list({ since });
  expect(read.isShortened).toBe(true);
  expect(Date.parse(read.since)).toBe(sent.daemon.clock.nowMs - 7 * dayMs);
});

test('judges a payload that GitLab lists by the whole filter', async () => {
  const sent = await openGitlab();
  gitlab.deliverMany(2, 'push_events', { payload: () => ({ ref: 'refs/heads/main' }), spanMs: 0 });
  gitlab.deliverMany(3, 'push_events', { payload: () => ({ ref: 'refs/heads/topic' }), spanMs: 0 });
  gitlab.deliverMany(1, 'issues_events', { payload: () => ({ ref: 'refs/heads/main' }), spanMs: 0 });
  sent.advance(2 * minuteMs);
  expect((await sent.list()).events).toMatchObject([{ event: 'Push Hook' }, { event: 'Push Hook' }]);
  expect((await sent.list({ all: true })).events).toHaveLength(6);
});

test('asks once for an event that arrives, and never again for the same GUID', async () => {
  const sent = await openGithub();
  missIssues(sent, 1);
  const { events } = await sent.list();
  expect((await sent.redeliver(events)).events).toMatchObject([{ result: 'asked' }]);
  await github.settled();
  expect(await sent.rows()).toMatchObject([{ outcome: 'Accepted', identity: events[0]?.eventId }]);
  sent.advance(2 * minuteMs);
  expect((await sent.list()).events).toEqual([]);
  const again = await sent.redeliver(events, { again: true });
  expect(again.events).toMatchObject([{ result: 'accepted' }]);
  await github.settled();
  expect(await sent.rows()).toHaveLength(1);
});

test('asks again for an event that was tried in vain only when it is due, or if somebody insists', async () => {
  const sent = await openGithub();
  sent.hook.config = { ...sent.hook.config, secret: 'another' };
  missIssues(sent, 1);
  const before = await sent.list();
  await sent.redeliver(before.events);
  await github.settled();
  expect((await sent.redeliver(before.events)).events).toMatchObject([{ result: 'too-soon' }]);
  sent.advance(2 * minuteMs);
  // The list from before cannot know what came of it.
  const old = { again: true, listedAt: before.read.at };
  expect((await sent.redeliver(before.events, old)).events).toMatchObject([{ result: 'refused' }]);
  const due = await sent.list();
  expect(due.events).toMatchObject([{ attempts: 2, status: 401, asked: { isDue: true } }]);
  expect((await sent.redeliver(due.events)).events).toMatchObject([{ result: 'asked' }]);
  await github.settled();
  sent.advance(2 * minuteMs);
  const { events } = await sent.list();
  expect(events).toMatchObject([{ attempts: 3, status: 401, asked: { isDue: false } }]);
  expect((await sent.redeliver(events)).events).toMatchObject([
    { result: 'refused', reason: expect.stringContaining('has not arrived') },
  ]);
  expect((await sent.redeliver(events, { again: true })).events).toMatchObject([{ result: 'asked' }]);
});

test('asks again for an event if the process ended between storing and asking', async () => {
  const sent = await openGithub();
  missIssues(sent, 1);
  const { events } = await sent.list();
  const [event] = events;
  if (!event) throw new Error('nothing is missed');
  const { senderStates } = sent.daemon.store;
  const at = new Date(sent.daemon.clock.nowMs).toISOString();
  const { eventId } = event;
  await senderStates.act(sent.daemon.factory, sent.uid, state => ({
    ...{ ...state, asked: [{ eventId, at, times: 1, byDaemon: false }] },
  }));
  expect((await sent.redeliver(events)).events).toMatchObject([{ result: 'too-soon' }]);
  sent.advance(2 * minuteMs);
  const lost = (await sent.list()).events;
  expect(lost).toMatchObject([{ asked: { isDue: true } }]);
  expect((await sent.redeliver(lost)).events).toMatchObject([{ result: 'asked' }]);
  expect((await sent.state())?.asked).toMatchObject([{ eventId, times: 2 }]);
  await github.settled();
  expect(await sent.rows()).toMatchObject([{ outcome: 'Accepted' }]);
});

test('asks again for an event whose delivery got no answer, because no daemon ran, with growing pauses', async () => {
  const sent = await openGithub();
  const { config } = sent.hook;
  sent.hook.config = { ...config, url: config.url.replace(/:\d+\//, ':9/') };
  missIssues(sent, 1);
  const results: (string | undefined)[] = [];
  for (let round = 0; round < 7; round++) {
    const { events } = await sent.list();
    results.push((await sent.redeliver(events)).events[0]?.result);
    await github.settled();
    sent.advance(2 * minuteMs + 5_000);
  }
  const [pause, ...more] = [Array(4).fill('refused'), 'asked'];
  expect(results).toEqual(['asked', 'asked', ...pause, ...more]);
  sent.hook.config = config;
  const { events } = await sent.list();
  expect((await sent.redeliver(events, { again: true })).events).toMatchObject([{ result: 'asked' }]);
  await github.settled();
  expect(await sent.rows()).toHaveLength(1);
});

test('asks GitLab for five events a minute, and says when the next may be asked for', async () => {
  const sent = await openGitlab();
  const payload = (index: number) => ({ ref: 'refs/heads/main', index });
  gitlab.deliverMany(12, 'push_events', { payload, spanMs: 0 });
  sent.advance(10 * minuteMs);
  const { events } = await sent.list();
  const first = await sent.redeliver(events);
  const results = first.events.map(({ result }) => result);
  expect(results.filter(result => result === 'asked')).toHaveLength(5);
  expect(results.filter(result => result === 'too-soon')).toHaveLength(7);
  expect(first.nextInMs).toBeGreaterThan(50_000);
  expect(first.nextInMs).toBeLessThanOrEqual(61_000);
  sent.advance(minuteMs + 5_000);
  await sent.redeliver(events.slice(5));
  sent.advance(2 * minuteMs);
  await sent.redeliver(events.slice(10));
  const rows = await sent.rows();
  expect(rows.map(({ outcome }) => outcome)).toEqual(Array(12).fill('Accepted'));
  // GitLab had nothing to refuse.
  expect(gitlab.requests.filter(({ answered }) => answered === 429)).toEqual([]);
});

test('waits as long as a rate limit of the provider says, and keeps nothing of an event that it refused', async () => {
  const sent = await openGithub();
  missIssues(sent, 2);
  const { events } = await sent.list();
  github.setRateLimited({ kind: 'secondary', retryAfterSeconds: 42 });
  const limited = await sent.redeliver(events);
  expect(limited.events).toMatchObject([{ result: 'too-soon' }, { result: 'too-soon' }]);
  expect(limited.nextInMs).toBeGreaterThan(30_000);
  expect((await sent.state())?.asked ?? []).toEqual([]);
  const list = await sent.list();
  expect(list).toMatchObject({ events: [], next: '0:', read: { isComplete: false } });
  expect(list.nextInMs).toBeGreaterThan(30_000);
  sent.advance(43_000);
  const asked = await sent.redeliver(events);
  expect(asked.events).toMatchObject([{ result: 'asked' }, { result: 'asked' }]);
  github.setRateLimited(undefined);
});

test('fails if the provider is down, and may ask for the event later', async () => {
  const sent = await openGithub();
  missIssues(sent, 1);
  const { events } = await sent.list();
  // For as long as this lasts, because the daemon looks at providers too.
  await github.setDown('error');
  const { uid, client } = sent;
  const body = { listedAt: new Date(sent.daemon.clock.nowMs).toISOString(), events: [] };
  const named = events.map(({ eventId, attemptId }) => ({ eventId, attemptId }));
  const failed = await client.call('redeliverMissed', { params: { uid }, body: { ...body, events: named } });
  await github.setDown(undefined);
  expect(failed).toMatchObject({ status: 502, json: { code: 'sender-failed' } });
  expect((await sent.redeliver(events)).events).toMatchObject([{ result: 'asked' }]);
});

test('fails without the right to send again, and keeps nothing', async () => {
  const sent = await openGithub({ credential: 'reading-token' });
  missIssues(sent, 1);
  const { events } = await sent.list();
  const named = events.map(({ eventId, attemptId }) => ({ eventId, attemptId }));
  const body = { listedAt: new Date(sent.daemon.clock.nowMs).toISOString(), events: named };
  const answer = await sent.client.call('redeliverMissed', { params: { uid: sent.uid }, body });
  expect(answer).toMatchObject({ status: 502, json: { code: 'sender-failed' } });
  expect(answer.json.detail).toContain('The credential needs');
  expect((await sent.state())?.asked).toEqual([]);
});

test('keeps nothing of an event if GitLab refuses it for now, because somebody else has asked for five', async () => {
  const sent = await openGitlab();
  const payload = (index: number) => ({ ref: 'refs/heads/main', index });
  const recorded = gitlab.deliverMany(2, 'push_events', { payload, spanMs: 0 });
  const other = recorded.find(({ hookId }) => hookId === sent.hook.id);
  sent.advance(10 * minuteMs);
  const { events } = await sent.list();
  const path = `projects/42/hooks/${sent.hook.id}/events/${other?.id}/resend`;
  const headers = { 'PRIVATE-TOKEN': 'gitlab-token' };
  for (let count = 0; count < 5; count++)
    await (await fetch(`${gitlab.url}/${path}`, { method: 'POST', headers })).text();
  const missed = events.filter(({ attemptId }) => attemptId !== String(other?.id));
  const answer = await sent.redeliver(missed);
  expect(answer.events).toMatchObject([{ result: 'too-soon' }]);
  expect(answer.nextInMs).toBeGreaterThan(50_000);
  expect((await sent.state())?.asked).toEqual([]);
});

test('says for each event that the hook had another URL, or that the provider no longer has it', async () => {
  const sent = await openGitlab();
  const payload = (index: number) => ({ ref: 'refs/heads/main', index });
  gitlab.deliverMany(2, 'push_events', { payload, spanMs: 0 });
  sent.advance(2 * minuteMs);
  const { events } = await sent.list();
  sent.hook.url = `${sent.url}/`;
  const changed = await sent.redeliver(events.slice(0, 1));
  expect(changed.events).toMatchObject([
    { result: 'refused', reason: expect.stringContaining('URL has changed') },
  ]);
  sent.hook.url = sent.url;
  const gone = events.slice(1).map(event => ({ ...event, attemptId: '99999' }));
  expect((await sent.redeliver(gone)).events).toMatchObject([
    { result: 'refused', reason: expect.stringContaining('404') },
  ]);
  expect((await sent.state())?.asked).toHaveLength(2);
});

test('asks nothing of a hook that GitLab has disabled, so that its events can be asked for later', async () => {
  const sent = await openGitlab();
  gitlab.deliverMany(1, 'push_events', { payload: () => ({ ref: 'refs/heads/main' }), spanMs: 0 });
  sent.advance(2 * minuteMs);
  const { events } = await sent.list();
  sent.hook.recentFailures = 40;
  const named = events.map(({ eventId, attemptId }) => ({ eventId, attemptId }));
  const body = { listedAt: new Date(sent.daemon.clock.nowMs).toISOString(), events: named };
  const answer = await sent.client.call('redeliverMissed', { params: { uid: sent.uid }, body });
  expect(answer.json.detail).toContain('disabled the hook');
  expect((await sent.state())?.asked ?? []).toEqual([]);
});

import { randomBytes } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { homeAt } from '../../../store/home/home.ts';
import { type DaemonOptions, startDaemon, type TestDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { findFreePort } from '../../support/free-port.ts';
import { openManagedDaemon } from '../../support/management.ts';
import { useOwnPostgres } from '../../support/postgres.ts';
import { openSentToGithub, settingsFor, startProviders } from '../../support/sender-with-log.ts';
import { readStore } from '../../support/stored.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const isLong = inject('isLong');
const missedCount = isLong ? 7_000 : 700;
const wantedCount = isLong ? 270 : 27;
const kills = isLong ? 12 : 3;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const server = useOwnPostgres();

const signature = randomBytes(16).toString('hex');

/** An outage of a day at the provider: all that it tried, of which an automation waits for some. */
function tryForADay({ github }: Awaited<ReturnType<typeof startProviders>>): readonly string[] {
  const wanted = github.deliverMany(wantedCount, 'issues', 'opened', { spanMs: dayMs });
  const others = missedCount - wantedCount;
  github.deliverMany(Math.floor(others / 2), 'issues', 'closed', { spanMs: dayMs });
  github.deliverMany(Math.ceil(others / 2), 'star', 'created', { spanMs: dayMs });
  return wanted.map(({ guid }) => guid).sort();
}

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test(`brings back ${wantedCount} of ${missedCount} events, each once, whenever the command or the daemon is killed`, async () => {
  const random = seeded(isLong ? Date.now() % 1_000_000 : 7);
  const providers = await startProviders();
  const { github } = providers;
  const workspace = makeWorkspace();
  const port = await findFreePort();
  const given: DaemonOptions = {
    workspace,
    settings: settingsFor(providers),
    args: ['--port', String(port)],
  };
  let daemon: TestDaemon = await startDaemon(given);
  onTestFinished(() => void daemon.stop('SIGKILL'));
  const uid = await applyShop(workspace, github.url);
  const config = {
    url: `http://127.0.0.1:${port}/webhooks/w/${uid}`,
    content_type: 'json',
    secret: signature,
  };
  github.addHook('acme/shop', { config, events: ['issues', 'star'] });
  // The provider's clock is behind, so that none of its attempts is in flight for a minute.
  github.clock.set(Date.now() - 5 * minuteMs);
  const wanted = tryForADay(providers);
  const home = homeAt(workspace.home);
  const again = () => github.log.filter(({ redelivery }) => redelivery).length;
  const command = ['senders', 'missed', 'shop', '--redeliver', '--yes', '-o', 'json'];

  for (let kill = 0; kill < kills; kill++) {
    const before = again();
    const running = workspace.start(command);
    const share = (wantedCount / (kills + 1)) * (0.2 + 0.8 * random());
    await eventually(() => again() >= Math.min(wantedCount, before + share));
    const isDaemonKilled = kill % 3 !== 0;
    if (isDaemonKilled) await daemon.stop('SIGKILL');
    running.kill('SIGKILL');
    await running;
    await github.settled();
    if (isDaemonKilled) daemon = await startDaemon(given);
    await letAMinutePass(home, uid);
  }
  expect(again()).toBeGreaterThan(0);
  const last = await workspace.hookmill(...command);
  expect(last, last.stderr).toMatchObject({ exitCode: 0 });
  await github.settled();
  const rows = await readStore(home, ({ deliveries }) =>
    deliveries.listDeliveries({ factory: 'default', uid, limit: 100_000 }),
  );
  const accepted = rows.filter(({ outcome }) => outcome === 'Accepted').map(({ identity }) => identity);
  expect(accepted.sort()).toEqual(wanted);
  expect(rows.length - accepted.length).toBeLessThanOrEqual(kills);
  const rest = await workspace.hookmill('senders', 'missed', 'shop', '-o', 'json');
  expect(JSON.parse(rest.stdout)).toMatchObject({ events: [], read: { isComplete: true } });
});

/** Applies a webhook with a sender, and an automation that waits for opened issues; returns the UID of the webhook. */
async function applyShop(workspace: ReturnType<typeof makeWorkspace>, url: string): Promise<string> {
  const sender = { provider: 'github', repository: 'acme/shop', url, credentialSecret: 'HOOKS_TOKEN' };
  const signed = { authMode: 'signature', signatureScheme: 'github', secretName: 'SHOP_SECRET' };
  workspace.write('webhooks/shop.yaml', JSON.stringify({ ...signed, sender }));
  await readStore(homeAt(workspace.home), async ({ teamSecrets }) => {
    await teamSecrets.set('SHOP_SECRET', signature);
    await teamSecrets.set('HOOKS_TOKEN', 'github-token');
  });
  const filter = {
    webhook: 'shop',
    headers: { 'X-GitHub-Event': ['issues'] },
    payload: { action: ['opened'] },
  };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  workspace.write('automations/triage.yaml', JSON.stringify({ prompt: 'Look.', triggers }));
  const applied = await workspace.hookmill('apply', '--yes');
  expect(applied, applied.stderr).toMatchObject({ exitCode: 0 });
  const { webhooks } = await readStore(homeAt(workspace.home), ({ appliedStates }) =>
    appliedStates.read('default'),
  );
  return webhooks[0]?.uid ?? '';
}

/** Lets a minute pass since everything that was asked for, while nothing asks. */
async function letAMinutePass(home: ReturnType<typeof homeAt>, uid: string): Promise<void> {
  const earlier = (at: string) => new Date(Date.parse(at) - 2 * minuteMs).toISOString();
  await readStore(home, ({ senderStates }) =>
    senderStates.learn('default', uid, state => ({
      ...state,
      asked: state.asked.map(event => ({ ...event, at: earlier(event.at) })),
    })),
  );
}

test(`two daemons on one database bring back ${wantedCount} events by themselves, each once`, async () => {
  const providers = await startProviders();
  const { github } = providers;
  const environment = { HOOKMILL_KEY: randomBytes(32).toString('base64') };
  const postgres = { url: await server.createDatabaseWithTables(), mayLose: false };
  const open = () => openManagedDaemon(settingsFor(providers), newHome(), { environment, postgres });
  const [one, other] = await Promise.all([open(), open()]);
  onTestFinished(async () => void (await Promise.all([one.stop(), other.stop()])));
  const sent = await openSentToGithub(one, providers, { sender: { recover: true } });
  const wanted = tryForADay(providers);
  const redelivered = () => github.log.filter(({ redelivery }) => redelivery);
  let seen = '';
  let waits = 0;
  /** Lets time pass for both, until something is seen: not while an event is asked for, which takes no minute. */
  const pass = (until: () => boolean | Promise<boolean>) =>
    eventually(async () => {
      if (await until()) return true;
      const { asked = [] } = (await sent.state()) ?? {};
      const now = `${asked.length} ${redelivered().length}`;
      if (now !== seen) waits = 0;
      seen = now;
      // A request that failed is asked for again when a minute has passed.
      if (asked.length > redelivered().length && waits++ < 50) return false;
      await github.settled();
      sent.advance(5_000);
      other.clock.nowMs = one.clock.nowMs;
      return false;
    });
  for (let count = 3; count <= wantedCount; count += 3)
    await pass(async () => (await sent.rows()).length >= count);
  await github.settled();
  const rows = await sent.rows();
  expect(rows.map(({ outcome }) => outcome)).toEqual(Array(wantedCount).fill('Accepted'));
  expect(rows.map(({ identity }) => identity).sort()).toEqual(wanted);
  expect(redelivered()).toHaveLength(wantedCount);
});

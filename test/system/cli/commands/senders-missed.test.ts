import { expect, test } from 'vitest';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import { useManagedDaemon } from '../../../support/management.ts';
import { openShop } from '../../../support/sender-shop.ts';
import { openSentToGithub, settingsFor, startProviders } from '../../../support/sender-with-log.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const providers = await startProviders();
const { github } = providers;
const shared = useManagedDaemon(settingsFor(providers));
const minuteMs = 60_000;

/** A webhook, three missed events of which an automation could match two, and the environments of commands. */
async function open() {
  const sent = await openSentToGithub(shared(), providers);
  // Commands on a home have the clock of this machine, so the provider's is set back.
  github.clock.set(Date.now() - 5 * minuteMs);
  const missed = github.deliverMany(2, 'issues', 'opened', { spanMs: minuteMs });
  github.deliverMany(1, 'star', 'created');
  const { factory, home, managementUrl } = sent.daemon;
  const env = {
    home: { HOOKMILL_FACTORY: factory, HOOKMILL_HOME: home.directory },
    server: { HOOKMILL_FACTORY: factory, HOOKMILL_SERVER: managementUrl, HOOKMILL_TOKEN: sent.client.token },
  };
  const workspace = makeWorkspace();
  const run = (place: keyof typeof env, ...words: string[]) =>
    workspace.hookmill('senders', 'missed', 'shop', ...words, { env: env[place] });
  return { ...sent, missed, run };
}

test('lists what is missed, and asks for it', async () => {
  const place = 'server';
  const { run, rows, missed, client } = await open();
  const listed = await run(place);
  expect(listed.stdout.split('\n')).toHaveLength(4);
  expect(listed.stdout).toMatch(/issues opened +1 +502 +triage +- +[0-9a-f-]{36}\n/);
  expect(listed.stderr).toContain('2 events missed.');
  const json = JSON.parse((await run(place, '--all', '-o', 'json')).stdout);
  expect(json.events).toHaveLength(3);
  expect(Object.keys(json.events[0])).toEqual(
    expect.arrayContaining(['eventId', 'attempts', 'attemptId', 'matches', 'canRedeliver', 'asked']),
  );
  const unconfirmed = await run(place, '--redeliver');
  expect(unconfirmed).toMatchObject({ exitCode: 1 });
  expect(unconfirmed.stderr).toMatch(/^hookmill: 2 events to ask for, which start triage, .* use --yes\n$/);
  expect(await rows()).toEqual([]);
  const asked = await run(place, '--redeliver', '--yes');
  expect(asked).toMatchObject({ exitCode: 0, stderr: '2 events back.\n' });
  const ids = (await rows()).map(({ identity }) => identity);
  expect(ids.sort()).toEqual(missed.map(({ guid }) => guid).sort());
  const { json: audit } = await client.call('listAudit');
  expect(audit.entries).toContainEqual(
    expect.objectContaining({ operation: 'redeliverMissed', subject: 'shop (2 events)' }),
  );
  expect((await run(place)).stdout).toBe('No event is missed.\n');
});

test('says that events were asked for before, and asks again only with --again', async () => {
  const { run, hook, state, daemon, uid } = await open();
  const { config } = hook;
  hook.config = { ...config, secret: 'another' };
  const { senderStates } = daemon.store;
  const earlier = new Date(Date.now() - 10 * minuteMs).toISOString();
  const listed = JSON.parse((await run('home', '-o', 'json')).stdout);
  await senderStates.act(daemon.factory, uid, state => ({
    ...state,
    asked: listed.events.map(({ eventId }: { eventId: string }) => {
      return { eventId, at: earlier, times: 3, byDaemon: false };
    }),
  }));
  const before = await run('home', '--redeliver', '--yes');
  expect(before).toMatchObject({ exitCode: 1 });
  expect(before.stderr).toContain('2 events asked for, and not back');
  expect(before.stderr).toContain('--again asks once more');
  hook.config = config;
  expect(await run('home', '--redeliver', '--yes', '--again')).toMatchObject({
    ...{ exitCode: 0, stderr: '2 events back.\n' },
  });
  expect((await state())?.asked.map(({ times }) => times)).toEqual([4, 4]);
});

test('--again needs --redeliver, and --since a time', async () => {
  const { run } = await open();
  expect(await run('home', '--again')).toMatchObject({
    exitCode: 2,
    stderr: 'hookmill: --again needs --redeliver\n',
  });
  expect(await run('home', '--since', 'long ago')).toMatchObject({ exitCode: 2 });
});

test('ends, though the provider answers empty pages without end', async () => {
  let url = '';
  const asked: string[] = [];
  const origin = await startLoopbackServer((request, response) => {
    const next = { link: '<http://x/?cursor=more>; rel="next"' };
    if (!request.url?.includes('/deliveries')) {
      const config = { url, content_type: 'json', insecure_ssl: '0', secret: '********' };
      response.end(JSON.stringify([{ id: 1, active: true, events: ['push'], config }]));
      return;
    }
    asked.push(request.url);
    response.writeHead(200, next).end('[]');
  });
  const shop = await openShop('github', origin, { sender: { repository: 'acme/shop' } });
  url = shop.url;
  const { stdout, stderr, exitCode } = await shop.hookmill('senders', 'missed', 'shop', '-o', 'json');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(JSON.parse(stdout)).toMatchObject({ events: [] });
  // The daemon may look at the same time.
  expect(asked.length).toBeLessThanOrEqual(2);
});

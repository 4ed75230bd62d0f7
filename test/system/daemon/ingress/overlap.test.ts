import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startAlertReceiver } from '../../../support/alert-receiver.ts';
import { eventually } from '../../../support/eventually.ts';
import { newHome } from '../../../support/factory.ts';
import { variablesOfHome } from '../../../support/home-place.ts';
import { send } from '../../../support/http.ts';
import {
  type ManagedDaemon,
  openManagedDaemon,
  startManagedDaemon,
  useManagedDaemon,
  withNewFactory,
} from '../../../support/management.ts';
import { readStore } from '../../../support/stored.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

// Requests are signed here by the rules of the providers, and not by code of hookmill.
const senders = {
  token: {
    definition: {},
    headers: (secret: string) => ({ authorization: `Bearer ${secret}` }),
    uses: 'sends the previous token',
    ended: 'sent with the previous token, whose overlap ended at',
  },
  github: {
    definition: { authMode: 'signature', signatureScheme: 'github' },
    headers: (secret: string, body: string) => ({ 'x-hub-signature-256': `sha256=${hmac(secret, body)}` }),
    uses: 'signs with the previous secret',
    ended: 'signed with the previous secret, whose overlap ended at',
  },
  stripe: {
    definition: { authMode: 'signature', signatureScheme: 'stripe' },
    headers: (secret: string, body: string, nowMs: number) => {
      const at = Math.floor(nowMs / 1_000);
      return { 'stripe-signature': `t=${at},v1=${hmac(secret, `${at}.${body}`)}` };
    },
    uses: 'signs with the previous secret',
    ended: 'signed with the previous secret, whose overlap ended at',
  },
} as const;
type Sender = keyof typeof senders;
const names = Object.keys(senders) as Sender[];

function hmac(secret: string, content: string): string {
  return createHmac('sha256', secret).update(content).digest('hex');
}

const hourMs = 3_600_000;
const [first, second, third] = ['whsec_1', 'whsec_2', 'whsec_3'].map(
  start => start + '0123456789'.repeat(4),
) as [string, string, string];
const alertSecret = `whsec_${randomBytes(32).toString('base64')}`;

/** The daemon of all tests that do not move its clock. */
const shared = useManagedDaemon();

/** A factory of a daemon, with commands on it, and a webhook that is applied from files with the first value. */
async function ready(sender: Sender = 'token', running: ManagedDaemon = shared()) {
  const workspace = makeWorkspace();
  const daemon = withNewFactory(running);
  const { factory } = daemon;
  const { directory } = daemon.home;
  const env = { ...variablesOfHome(directory), HOOKMILL_HOME: directory, HOOKMILL_FACTORY: factory };
  const hookmill = (words: string, stdin = '') => workspace.hookmill(...words.split(' '), { stdin, env });
  const run = async (words: string, stdin = '') => {
    const { exitCode, stdout, stderr } = await hookmill(words, stdin);
    expect(exitCode, `${words}: ${stdout}${stderr}`).toBe(0);
    return stdout + stderr;
  };
  // Two factories of a home cannot give the same name to different team secrets.
  const pay = `PAY_${factory.replace('factory-', '')}`;
  const define = (definition: object) =>
    workspace.write('webhooks/pay.yaml', JSON.stringify({ secretName: pay, ...definition }));
  const { definition, headers } = senders[sender];
  define(definition);
  await run(`secrets set ${pay}`, first);
  await run('apply --yes');
  const { uid } = JSON.parse(await run('webhooks show pay -o json'));
  let n = 0;
  const post = async (secret: string) => {
    const body = JSON.stringify({ n: ++n, at: daemon.clock.nowMs });
    const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
    return (await send(url, { headers: headers(secret, body, daemon.clock.nowMs), body })).status;
  };
  /** Waits until the daemon serves what is applied. */
  const served = async () => {
    const { serial } = await readStore(daemon.home, ({ appliedStates }) => appliedStates.read(factory));
    const isServed = async () => {
      const { body } = await send(`${daemon.managementUrl}/readyz`, { method: 'GET' });
      const factories: { factory: string; serial: number }[] = JSON.parse(body).factories;
      return factories.find(one => one.factory === factory)?.serial === serial;
    };
    await eventually(isServed);
  };
  const apply = async () => {
    const text = await run('apply --yes');
    await served();
    // Commands have the clock of the machine.
    daemon.clock.nowMs = Math.max(daemon.clock.nowMs, Date.now());
    return text;
  };
  const manager = await daemon.client();
  const webhook = async () =>
    (await manager.call('showHealth', { query: { webhook: uid } })).json.webhooks[0];
  const why = async () => {
    const { json } = await manager.call('explainWhy', { params: { subject: 'pay' } });
    return json.steps.find(({ step }: { step: string }) => step === 'authentication');
  };
  const lastRow = async () => (await manager.call('listDeliveries')).json.deliveries[0];
  /** The line of this secret in the list of all. */
  const listed = async () => (await run('secrets list')).split('\n').find(line => line.startsWith(`${pay} `));
  const applied = () => readStore(daemon.home, ({ appliedStates }) => appliedStates.read(factory));
  return {
    ...{ ...daemon, workspace, hookmill, run, pay, define, uid, post, served, apply, manager },
    ...{ webhook, why, lastRow, listed, applied },
  };
}

test.each(names)(
  'with %s: both values during an overlap, and only the new one after its end',
  async sender => {
    const { clock, run, pay, post, apply, webhook, why, lastRow, listed, ...given } = await ready(
      sender,
      await startManagedDaemon(),
    );
    const { uses, ended } = senders[sender];
    const said = await run(`secrets set ${pay} --overlap 2h`, second);
    const [until = ''] = /20\d\d-[^ ]+Z/.exec(said) ?? [];
    expect(Date.parse(until)).toBeGreaterThan(Date.now() + 2 * hourMs - 60_000);
    expect(await listed()).toContain(`set, previous until ${until}`);
    // Until the apply, nothing changes.
    expect([await post(first), await post(second)]).toEqual([202, 401]);
    const plan = await run('plan');
    expect(plan).toContain('~ secret: current value → new value');
    expect(plan).toContain(`! give the sender the new credential: the old one works until ${until}`);
    expect(plan).not.toContain('at once');
    expect(JSON.parse(await run('plan -o json')).changes[0]).toMatchObject({
      fields: [{ field: 'secret', previousUntil: until }],
      impact: { effects: ['credential-changed'], previousUntil: until },
    });
    expect(await run('plan -o markdown')).toContain('the old one works until <code>20');
    await apply();
    expect([await post(first), await lastRow()]).toMatchObject([202, { verifiedWith: 'previous' }]);
    expect((await webhook()).overlap).toMatchObject({
      ...{ until, sender: 'previous' },
      message: `the sender still ${uses} (until ${until})`,
    });
    expect((await why()).message).toContain(`the sender still ${uses} (until ${until})`);
    expect(await run('webhooks show pay')).toContain(`the sender still ${uses} (until ${until})`);
    clock.nowMs += 60_000;
    expect([await post(second), await post('wrong')]).toEqual([202, 401]);
    await expect.poll(async () => (await lastRow()).outcome).toBe('Rejected (auth)');
    // One request is one failed attempt, however many values it was compared with.
    const rows = (await given.manager.call('listDeliveries')).json.deliveries;
    expect(rows.filter(({ outcome }: { outcome: string }) => outcome === 'Rejected (auth)')).toHaveLength(2);
    expect((await webhook()).overlap).toMatchObject({
      sender: 'current',
      message: expect.stringMatching(/^the sender uses the new (token|secret); the overlap can end$/),
      remedy: `Run \`hookmill secrets set ${pay} --end\``,
    });
    // It counts as no change, and stays through an apply of something else.
    expect(await run('plan')).toContain('No changes');
    given.workspace.write(
      'automations/look.yaml',
      `prompt: Look.\ntriggers: [{ provider: webhook, event: received, filter: { webhook: pay } }]\n`,
    );
    await apply();
    expect(await post(first)).toBe(202);
    clock.nowMs = Date.parse(until) - 1;
    expect(await post(first)).toBe(202);
    clock.nowMs = Date.parse(until);
    expect([await post(first), await post(second)]).toEqual([401, 202]);
    clock.nowMs += 1_000;
    expect(await post(first)).toBe(401);
    await expect.poll(async () => (await lastRow()).reason).toMatch(`${ended} ${until}`);
    expect(await why()).toMatchObject({
      state: 'wrong',
      message: `the last request was rejected: ${ended} ${until}`,
      remedy: `Set the sender to use the current value of the team secret ${pay}.`,
    });
  },
);

test.each(names)('with %s: an overlap ends at once, without an apply and in every factory', async sender => {
  const { home, factory, run, pay, post, apply, served, manager, ...given } = await ready(sender);
  const name = `other-${factory}`;
  const other = `--directory other --home ${home.directory} --factory ${name}`;
  const definition = { secretName: pay, ...senders[sender].definition };
  given.workspace.write('other/webhooks/two.yaml', JSON.stringify(definition));
  await run(`secrets share ${pay} ${name}`);
  await run(`${other} apply --yes`);
  await run(`secrets set ${pay} --overlap 30m`, second);
  await apply();
  await run(`${other} apply --yes`);
  expect([await post(first), await post(second)]).toEqual([202, 202]);
  const said = await run(`secrets set ${pay} --end`);
  expect(said).toContain(
    `Ended the overlap of ${pay}. Only the current value is valid for ${factory}/pay, ${name}/two.`,
  );
  await served();
  expect([await post(first), await post(second)]).toEqual([401, 202]);
  const kept = await readStore(home, async ({ appliedStates, teamSecrets }) =>
    JSON.stringify([
      await appliedStates.read(factory),
      await appliedStates.read(name),
      (await teamSecrets.list()).find(secret => secret.name === pay),
    ]),
  );
  expect(kept).not.toMatch(/previous|until/);
  expect(await run('plan')).toContain('No changes');
  const findRejected = async () =>
    (await manager.call('listDeliveries', { query: { outcome: 'Rejected (auth)' } })).json.deliveries;
  await expect.poll(findRejected).toHaveLength(1);
  expect((await findRejected())[0].reason).not.toContain('previous');
  const again = await given.hookmill(`secrets set ${pay} --end`);
  expect(again).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`no previous value of the team secret ${pay}`),
  });
  const { stdout } = await given.hookmill('audit -o json');
  expect(JSON.parse(stdout)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        operation: 'endSecretOverlap',
        subject: `${pay} ${factory}/pay ${name}/two`,
      }),
      expect.objectContaining({
        operation: 'setSecret',
        subject: expect.stringContaining(`${pay}: previous value until 20`),
      }),
    ]),
  );
  for (const value of [first, second]) expect(stdout).not.toContain(value);
});

test('a value that is set without an overlap ends the old one and a running overlap with the apply, as before', async () => {
  const { run, pay, post, apply, listed } = await ready();
  await run(`secrets set ${pay} --overlap 2h`, second);
  await apply();
  await run(`secrets set ${pay}`, third);
  expect(await listed()).toContain('set, previous until');
  expect([await post(first), await post(second)]).toEqual([202, 202]);
  expect(await run('plan')).toContain('! the old credential stops working at once');
  await apply();
  expect([await post(first), await post(second), await post(third)]).toEqual([401, 401, 202]);
  expect(await listed()).not.toContain('previous');
});

test('an overlap that ends before the apply keeps nothing: the plan says that the old value stops at once', async () => {
  const { home, run, pay, post, apply } = await ready();
  const until = await readStore(home, ({ teamSecrets }) => teamSecrets.setOverlapping(pay, second, 1));
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(until));
  expect(await run('plan')).toContain('! the old credential stops working at once');
  await apply();
  expect([await post(first), await post(second)]).toEqual([401, 202]);
});

test('what senders use stays valid, also if other values were set before and never applied', async () => {
  const { run, pay, post, apply } = await ready();
  await run(`secrets set ${pay}`, third);
  await run(`secrets set ${pay} --overlap 1h`, `${third}-with-a-mistake`);
  await run(`secrets set ${pay} --overlap 2h`, second);
  await apply();
  expect([await post(first), await post(second), await post(third)]).toEqual([202, 202, 401]);
});

test.each(names)(
  'with %s: another scheme or mode in the same apply keeps no previous value',
  async sender => {
    const { run, pay, define, applied } = await ready(sender);
    await run(`secrets set ${pay} --overlap 2h`, second);
    const others = [{ authMode: 'signature', signatureScheme: 'shopify' }, { authMode: 'url_token' }];
    for (const other of others) {
      define(other);
      expect(await run('plan')).not.toContain('works until');
      await run('apply --yes');
      expect((await applied()).webhooks[0]?.credential).not.toHaveProperty('previous');
    }
  },
);

test('another scheme or mode during an overlap drops the previous value, though the current one stays', async () => {
  const { run, pay, define, apply, applied } = await ready();
  await run(`secrets set ${pay} --overlap 2h`, second);
  await apply();
  expect((await applied()).webhooks[0]?.credential).toHaveProperty('previous');
  define({ authMode: 'url_token' });
  await run('apply --yes');
  expect((await applied()).webhooks[0]?.credential).not.toHaveProperty('previous');
});

test('rotating in the dashboard makes no overlap, and ends one that runs', async () => {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  const { json } = await manager.call('createWebhook', { body: { name: 'pay' } });
  const { uid, secretName } = json.webhook;
  const post = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({ token });
    return (await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, { headers, body })).status;
  };
  const toggle = async (enabled: boolean) =>
    expect(await manager.call('changeWebhook', { params: { uid }, body: { enabled } })).toMatchObject({
      status: 200,
    });
  await daemon.store.teamSecrets.setOverlapping(secretName, second, hourMs);
  await toggle(false);
  await toggle(true);
  const old = json.revealed.secret;
  await expect.poll(async () => [await post(old), await post(second)]).toEqual([202, 202]);
  const listed = (await manager.call('listSecrets')).json.secrets[0];
  expect(listed).toMatchObject({ name: secretName, previousUntil: expect.any(String) });
  const rotated = await manager.call('changeWebhookSecret', { params: { uid }, body: {} });
  const { secret } = rotated.json.revealed;
  await expect
    .poll(async () => [await post(old), await post(second), await post(secret)])
    .toEqual([401, 401, 202]);
  expect((await manager.call('listSecrets')).json.secrets).toMatchObject([{ name: secretName }]);
  expect((await manager.call('listSecrets')).json.secrets[0]).not.toHaveProperty('previousUntil');
});

test.each(names)(
  'with %s: an overlap that began before the clock was set back by 6 hours lasts as long as intended',
  async sender => {
    const daemon = await openManagedDaemon();
    const { clock, run, pay, post, apply, webhook } = await ready(sender, daemon);
    await run(`secrets set ${pay} --overlap 30m`, second);
    await apply();
    expect(await post(first)).toBe(202);
    clock.nowMs -= 6 * 3_600_000;
    const endMs = Date.parse((await webhook()).overlap.until);
    expect(endMs - clock.nowMs).toBeGreaterThan(29 * 60_000);
    expect(endMs - clock.nowMs).toBeLessThanOrEqual(30 * 60_000);
    expect(await post(first)).toBe(202);
    clock.nowMs = endMs - 1;
    expect(await post(first)).toBe(202);
    clock.nowMs = endMs;
    expect([await post(first), await post(second)]).toEqual([401, 202]);
  },
);

test('an alert says that the overlap ended while the sender used the previous value, also after a restart, until it does not', async () => {
  const receiver = await startAlertReceiver(alertSecret);
  const settings = { alerts: [{ url: receiver.url, secret: 'ALERTS' }] };
  const home = newHome();
  await readStore(home, ({ teamSecrets }) => teamSecrets.set('ALERTS', alertSecret));
  const stopping = await openManagedDaemon(settings, home);
  const before = await ready('github', stopping);
  await before.run(`secrets set ${before.pay} --overlap 2h`, second);
  await before.apply();
  expect(await before.post(first)).toBe(202);
  const { until } = (await before.webhook()).overlap;
  before.clock.nowMs = Date.parse(until);
  await eventually(() => receiver.alerts.length === 1);
  expect(receiver.alerts[0]).toMatchObject({
    type: 'webhook.previous-secret',
    data: {
      ...{ status: 'open', webhook: { name: 'pay', uid: before.uid }, since: until },
      reason: `pay: the sender still signs with the previous secret, whose overlap ended at ${until}`,
      remedy: expect.stringContaining('current value of its team secret'),
    },
  });
  expect(await before.why()).toMatchObject({
    state: 'wrong',
    message: expect.stringContaining('overlap ended'),
  });
  expect((await before.webhook()).overlap).toMatchObject({ sender: 'previous' });
  await stopping.stop();

  const daemon = await startManagedDaemon(settings, home);
  daemon.clock.nowMs = before.clock.nowMs + 60_000;
  const body = '{}';
  const post = (secret: string) => {
    const headers = senders.github.headers(secret, body);
    return send(`${daemon.ingressUrl}/webhooks/w/${before.uid}`, { headers, body });
  };
  // A refused request shows nothing new.
  expect((await post(first)).status).toBe(401);
  const { episodes } = await daemon.store.alerts.read();
  expect(episodes).toMatchObject([{ type: 'webhook.previous-secret' }]);
  expect((await post(second)).status).toBe(202);
  await eventually(() => receiver.alerts.some(({ data }) => data.status === 'resolved'));
  expect(receiver.alerts.map(({ type, data }) => [type, data.status])).toEqual([
    ['webhook.previous-secret', 'open'],
    ['webhook.previous-secret', 'resolved'],
  ]);
}, 30_000);

test('the alert is resolved by a new value and by the end of the overlap, too', async () => {
  const daemon = await startManagedDaemon();
  const [renewed, ended] = [await ready('token', daemon), await ready('token', daemon)];
  for (const { run, pay, apply, post } of [renewed, ended]) {
    await run(`secrets set ${pay} --overlap 2h`, second);
    await apply();
    expect(await post(first)).toBe(202);
  }
  daemon.clock.nowMs = Date.parse((await ended.webhook()).overlap.until);
  const read = async () => (await daemon.store.alerts.read()).episodes.map(({ type }) => type);
  await eventually(async () => (await read()).length === 2);
  expect(await read()).toEqual(['webhook.previous-secret', 'webhook.previous-secret']);
  await ended.run(`secrets set ${ended.pay} --end`);
  await renewed.run(`secrets set ${renewed.pay}`, third);
  await renewed.apply();
  await eventually(async () => (await read()).length === 0);
}, 30_000);

test('rotating to the value that a webhook has already ends its overlap, too', async () => {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  const supplied = { kind: 'supplied', value: first };
  const body = { name: 'pay', authMode: 'signature', signatureScheme: 'github', secret: supplied };
  const { uid, secretName } = (await manager.call('createWebhook', { body })).json.webhook;
  await daemon.store.teamSecrets.setOverlapping(secretName, second, hourMs);
  for (const enabled of [false, true]) {
    await manager.call('changeWebhook', { params: { uid }, body: { enabled } });
  }
  const read = async () => (await daemon.store.appliedStates.read(daemon.factory)).webhooks[0]?.credential;
  expect(await read()).toHaveProperty('previous');
  const rotated = await manager.call('changeWebhookSecret', { params: { uid }, body: { value: second } });
  expect(rotated.status).toBe(200);
  expect(await read()).not.toHaveProperty('previous');
  expect((await manager.call('listSecrets')).json.secrets).toMatchObject([{ name: secretName }]);
  expect((await manager.call('listSecrets')).json.secrets[0]).not.toHaveProperty('previousUntil');
});

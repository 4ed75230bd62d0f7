import { createHmac, randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { homeAt } from '../../../store/home/home.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/http.ts';
import { openManagedDaemon } from '../../support/management.ts';
import { readStore } from '../../support/stored.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

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

interface Given {
  readonly sender?: Sender;
  readonly settings?: object;
  readonly workspace?: Workspace;
}

/** A daemon whose clock the test sets, with a webhook that is applied from files with the first value. */
async function ready({ sender = 'token', settings = {}, workspace = makeWorkspace() }: Given = {}) {
  const run = async (words: string, stdin = '') => {
    const { exitCode, stdout, stderr } = await workspace.hookmill(...words.split(' '), { stdin });
    expect(exitCode, `${words}: ${stdout}${stderr}`).toBe(0);
    return stdout + stderr;
  };
  const { definition, headers } = senders[sender];
  workspace.write('webhooks/pay.yaml', JSON.stringify({ secretName: 'PAY', ...definition }));
  await run('secrets set PAY', first);
  await run('apply --yes');
  const daemon = await openManagedDaemon(settings, homeAt(workspace.home));
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await daemon.stop();
    isStopped = true;
  };
  onTestFinished(stop);
  const { uid } = JSON.parse(await run('webhooks show pay -o json'));
  let n = 0;
  const post = async (secret: string) => {
    const body = JSON.stringify({ n: ++n, at: daemon.clock.nowMs });
    const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
    return (await send(url, { headers: headers(secret, body, daemon.clock.nowMs), body })).status;
  };
  /** Waits until the daemon serves what is applied. */
  const served = async () => {
    const { serial } = await readStore(daemon.home, ({ appliedStates }) => appliedStates.read('default'));
    const isServed = async () => {
      const { body } = await send(`${daemon.managementUrl}/readyz`, { method: 'GET' });
      return JSON.parse(body).factories[0]?.serial === serial;
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
  return { ...daemon, workspace, stop, run, uid, post, served, apply, manager, webhook, why, lastRow };
}

test.each(names)(
  'with %s: both values during an overlap, and only the new one after its end',
  async sender => {
    const { clock, run, post, apply, webhook, why, lastRow, ...given } = await ready({ sender });
    const { uses, ended } = senders[sender];
    const said = await run('secrets set PAY --overlap 2h', second);
    const [until = ''] = /20\d\d-[^ ]+Z/.exec(said) ?? [];
    expect(Date.parse(until)).toBeGreaterThan(Date.now() + 2 * hourMs - 60_000);
    expect(await run('secrets list')).toContain(`set, previous until ${until}`);
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
      remedy: 'Run `hookmill secrets set PAY --end`',
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
      remedy: 'Set the sender to use the current value of the team secret PAY.',
    });
  },
);

test.each(names)('with %s: an overlap ends at once, without an apply and in every factory', async sender => {
  const { home, run, post, apply, served, lastRow, manager, workspace } = await ready({ sender });
  const other = `--directory other --home .hookmill --factory other`;
  workspace.write(
    'other/webhooks/two.yaml',
    JSON.stringify({ secretName: 'PAY', ...senders[sender].definition }),
  );
  await run('secrets share PAY other');
  await run(`${other} apply --yes`);
  await run('secrets set PAY --overlap 30m', second);
  await apply();
  await run(`${other} apply --yes`);
  expect([await post(first), await post(second)]).toEqual([202, 202]);
  const said = await run('secrets set PAY --end');
  expect(said).toContain(
    'Ended the overlap of PAY. Only the current value is valid for default/pay, other/two.',
  );
  await served();
  expect([await post(first), await post(second)]).toEqual([401, 202]);
  const kept = await readStore(home, async ({ appliedStates, teamSecrets }) =>
    JSON.stringify([
      await appliedStates.read('default'),
      await appliedStates.read('other'),
      await teamSecrets.list(),
    ]),
  );
  expect(kept).not.toMatch(/previous|until/);
  expect(await run('plan')).toContain('No changes');
  await expect
    .poll(async () =>
      (await manager.call('listDeliveries')).json.deliveries.some(({ reason = '' }) =>
        reason.includes('previous'),
      ),
    )
    .toBe(false);
  expect((await lastRow()).outcome).toBe('Accepted');
  const again = await workspace.hookmill('secrets', 'set', 'PAY', '--end');
  expect(again).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no previous value of the team secret PAY'),
  });
  const { stdout } = await workspace.hookmill('audit', '-o', 'json');
  expect(JSON.parse(stdout)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ operation: 'endSecretOverlap', subject: 'PAY default/pay other/two' }),
      expect.objectContaining({
        operation: 'setSecret',
        subject: expect.stringMatching(/^PAY: previous value until 20/),
      }),
    ]),
  );
  for (const value of [first, second]) expect(stdout).not.toContain(value);
});

test('a value that is set without an overlap ends the old one and a running overlap with the apply, as before', async () => {
  const { run, post, apply } = await ready();
  await run('secrets set PAY --overlap 2h', second);
  await apply();
  await run('secrets set PAY', third);
  expect(await run('secrets list')).toContain('set, previous until');
  expect([await post(first), await post(second)]).toEqual([202, 202]);
  expect(await run('plan')).toContain('! the old credential stops working at once');
  await apply();
  expect([await post(first), await post(second), await post(third)]).toEqual([401, 401, 202]);
  expect(await run('secrets list')).not.toContain('previous');
});

test('an overlap that ends before the apply keeps nothing: the plan says that the old value stops at once', async () => {
  const { home, run, post, apply } = await ready();
  const until = await readStore(home, ({ teamSecrets }) => teamSecrets.setOverlapping('PAY', second, 1));
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(until));
  expect(await run('plan')).toContain('! the old credential stops working at once');
  await apply();
  expect([await post(first), await post(second)]).toEqual([401, 202]);
});

test('what senders use stays valid, also if other values were set before and never applied', async () => {
  const { run, post, apply } = await ready();
  await run('secrets set PAY', third);
  await run('secrets set PAY --overlap 1h', `${third}-with-a-mistake`);
  await run('secrets set PAY --overlap 2h', second);
  await apply();
  expect([await post(first), await post(second), await post(third)]).toEqual([202, 202, 401]);
});

test.each(names)(
  'with %s: another scheme or mode in the same apply keeps no previous value',
  async sender => {
    const { home, run, workspace } = await ready({ sender });
    await run('secrets set PAY --overlap 2h', second);
    const read = () => readStore(home, ({ appliedStates }) => appliedStates.read('default'));
    const others = [{ authMode: 'signature', signatureScheme: 'shopify' }, { authMode: 'url_token' }];
    for (const other of others) {
      workspace.write('webhooks/pay.yaml', JSON.stringify({ secretName: 'PAY', ...other }));
      expect(await run('plan')).not.toContain('works until');
      await run('apply --yes');
      expect((await read()).webhooks[0]?.credential).not.toHaveProperty('previous');
    }
  },
);

test('another scheme or mode during an overlap drops the previous value, though the current one stays', async () => {
  const { home, run, workspace, apply } = await ready();
  await run('secrets set PAY --overlap 2h', second);
  await apply();
  const read = () => readStore(home, ({ appliedStates }) => appliedStates.read('default'));
  expect((await read()).webhooks[0]?.credential).toHaveProperty('previous');
  workspace.write('webhooks/pay.yaml', JSON.stringify({ secretName: 'PAY', authMode: 'url_token' }));
  await run('apply --yes');
  expect((await read()).webhooks[0]?.credential).not.toHaveProperty('previous');
});

test('rotating in the dashboard makes no overlap, and ends one that runs', async () => {
  const daemon = await openManagedDaemon();
  onTestFinished(() => daemon.stop());
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
  expect((await manager.call('listSecrets')).json.secrets[0]).not.toHaveProperty('previousUntil');
});

test('an alert says that the overlap ended while the sender used the previous value, also after a restart, until it does not', async () => {
  const receiver = await startAlertReceiver(alertSecret);
  const settings = { alerts: [{ url: receiver.url, secret: 'ALERTS' }] };
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'ALERTS', { stdin: alertSecret });
  const before = await ready({ sender: 'github', settings, workspace });
  await before.run('secrets set PAY --overlap 2h', second);
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
  await before.stop();

  const daemon = await openManagedDaemon(settings, before.home);
  onTestFinished(() => daemon.stop());
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

test.each(['new value', 'end'])(
  'the alert is resolved by a %s, too',
  async how => {
    const given = await ready();
    await given.run('secrets set PAY --overlap 2h', second);
    await given.apply();
    expect(await given.post(first)).toBe(202);
    given.clock.nowMs = Date.parse((await given.webhook()).overlap.until);
    const read = async () => (await given.store.alerts.read()).episodes.map(({ type }) => type);
    await eventually(async () => (await read()).length === 1);
    expect(await read()).toEqual(['webhook.previous-secret']);
    if (how === 'the end of the overlap') await given.run('secrets set PAY --end');
    else {
      await given.run('secrets set PAY', third);
      await given.apply();
    }
    await eventually(async () => (await read()).length === 0);
  },
  30_000,
);

test('rotating to the value that a webhook has already ends its overlap, too', async () => {
  const daemon = await openManagedDaemon();
  onTestFinished(() => daemon.stop());
  const manager = await daemon.client();
  const supplied = { kind: 'supplied', value: first };
  const body = { name: 'pay', authMode: 'signature', signatureScheme: 'github', secret: supplied };
  const { uid, secretName } = (await manager.call('createWebhook', { body })).json.webhook;
  await daemon.store.teamSecrets.setOverlapping(secretName, second, hourMs);
  for (const enabled of [false, true]) {
    await manager.call('changeWebhook', { params: { uid }, body: { enabled } });
  }
  const read = async () => (await daemon.store.appliedStates.read('default')).webhooks[0]?.credential;
  expect(await read()).toHaveProperty('previous');
  const rotated = await manager.call('changeWebhookSecret', { params: { uid }, body: { value: second } });
  expect(rotated.status).toBe(200);
  expect(await read()).not.toHaveProperty('previous');
  expect((await manager.call('listSecrets')).json.secrets[0]).not.toHaveProperty('previousUntil');
});

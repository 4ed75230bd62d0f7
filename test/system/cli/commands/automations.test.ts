import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteReader } from '../../../../store/embedded/delivery-log/read/reader.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import { bearerOf } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { send } from '../../../support/http.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace, type RunResult } from '../../../support/workspace.ts';

const unknownUid = 'wh_0123456789abcdefghijklmn';
const workspace = makeWorkspace();
const { hookmill, write } = workspace;

let daemon: WebhookDaemon;
let orders = { uid: '', secret: '' };
let doomed = '';
let planned: RunResult;
let applied: RunResult;
let destroyed: RunResult;
beforeAll(async () => {
  for (const name of ['orders', 'doomed']) {
    write(`webhooks/${name}.yaml`, `secretName: ${name.toUpperCase()}\n`);
  }
  const secret = (await hookmill('secrets', 'generate', 'ORDERS')).stdout.trim();
  await hookmill('secrets', 'generate', 'DOOMED');
  await hookmill('apply');
  const { stdout } = await hookmill('webhooks', 'list', '-o', 'json');
  const webhooks: { name: string; uid: string }[] = JSON.parse(stdout);
  const uidOf = (name: string) => webhooks.find(webhook => webhook.name === name)?.uid ?? '';
  orders = { uid: uidOf('orders'), secret };
  doomed = uidOf('doomed');

  automation('triage', [{ uid: orders.uid, payload: { action: ['created', 'reopened'] } }]);
  automation('twice', [
    { uid: orders.uid, payload: { action: ['created'] } },
    {
      uid: orders.uid,
      payload: { items: { sku: ['a1'], qty: { not_in: [0] } }, 'odd key': { exists: true } },
    },
  ]);
  automation('quiet', [{ uid: orders.uid }], false);
  automation('elsewhere', [{ uid: unknownUid }]);
  automation('orphan', [{ uid: doomed }]);
  planned = await hookmill('plan');
  applied = await hookmill('apply', '-o', 'json');
  workspace.remove('webhooks/doomed.yaml');
  destroyed = await hookmill('apply', '--yes');
  daemon = await openWebhookDaemon({ workspace });
});
afterAll(() => daemon.stop());

function automation(
  name: string,
  triggers: readonly { readonly uid: string; readonly payload?: object }[],
  enabled = true,
) {
  const definition = {
    enabled,
    prompt: `Do ${name}.`,
    triggers: triggers.map(({ uid, payload }) => ({
      provider: 'webhook',
      event: 'received',
      filter: { webhook_ids: [uid], payload },
    })),
  };
  write(`automations/${name}.yaml`, `${JSON.stringify(definition, null, 2)}\n`);
}

/** Applies the definitions, and waits until the daemon serves them. */
async function applyAndServe(): Promise<void> {
  const { serial } = JSON.parse((await hookmill('apply', '-o', 'json')).stdout);
  await eventually(async () => (await daemon.readyz()).factories.every(served => served.serial === serial));
}

async function deliver(body: object, headers = {}): Promise<string> {
  const url = `${daemon.ingressUrl}/webhooks/w/${orders.uid}`;
  const answer = await send(url, {
    headers: { ...bearerOf(orders.secret), ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(202);
  return answer.deliveryId ?? '';
}

/** With UIDs, ids and times replaced by what they are. */
function stable({ stdout, stderr, exitCode }: RunResult): string {
  const text = `${stdout}${stderr}exit status ${exitCode}\n`;
  return text
    .replaceAll(orders.uid, 'wh_orders')
    .replaceAll(doomed, 'wh_doomed')
    .replaceAll(/\b(dlv|run)_[0-9a-z]{26}/g, '$1_id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(workspace.directory, '')
    .replaceAll(/ +$/gm, '');
}

/** Waits until all runs of a delivery have ended, and returns their results. */
async function runsOf(deliveryId: string): Promise<string[]> {
  const log = openSqliteReader(workspace.path('.hookmill/deliveries.db'));
  try {
    const ended = ({ state }: Run) => state === 'succeeded' || state === 'failed';
    await eventually(() => log.listRunsOfDelivery(deliveryId).every(ended));
    const runs = log.listRunsOfDelivery(deliveryId);
    return runs
      .map(({ automation, state, replay }) => `${automation} ${state}${replay ? ' (replay)' : ''}`)
      .sort();
  } finally {
    log.close();
  }
}

test('plan and apply take automations, and warn of those whose webhook is unknown or goes', async () => {
  expect(planned.stdout).toMatch(
    /^\+ automation elsewhere\n(.*\n)*Plan: 5 to add, 0 to change, 0 to destroy\.\n$/,
  );
  expect(planned.stderr).toMatch(
    /^automations\/elsewhere\.yaml:10:11: warning: no webhook has the UID wh_0123456789abcdefghijklmn, so this trigger never starts a run/,
  );
  expect(JSON.parse(applied.stdout)).toMatchObject({
    summary: { add: 5, change: 0, destroy: 0 },
    changes: expect.arrayContaining([
      expect.objectContaining({ action: 'create', kind: 'automation', name: 'triage' }),
    ]),
  });
  expect(applied.stderr.match(/automation\/webhook-unknown/g)).toHaveLength(1);

  expect(destroyed.exitCode).toBe(0);
  expect(destroyed.stderr.match(/never starts a run/g)).toHaveLength(2);
  expect(stable(await hookmill('automations', 'list'))).toMatchInlineSnapshot(`
    "NAME       ENABLED  WEBHOOKS
    elsewhere  yes      wh_0123456789abcdefghijklmn (unknown)
    orphan     yes      wh_doomed (unknown)
    quiet      no       orders
    triage     yes      orders
    twice      yes      orders, orders
    exit status 0
    "
  `);
  expect(stable(await hookmill('automations', 'show', 'orphan'))).toMatchInlineSnapshot(`
    "name     orphan
    enabled  yes
    trigger  unknown webhook (never starts a run): wh_doomed

      Do orphan.
    exit status 0
    "
  `);
});

describe('a delivery', () => {
  test('starts one run of each automation that matches, however many of its triggers do', async () => {
    const id = await deliver({ action: 'created', items: [{ sku: 'a1', qty: 2 }], 'odd key': null });
    expect(await runsOf(id)).toEqual(['triage succeeded', 'twice succeeded']);
  });

  test('is accepted where nothing matches, or is disabled, or listens to another webhook', async () => {
    expect(await runsOf(await deliver({ action: 'other' }))).toEqual([]);
  });

  test('is explained by one command: what each automation made of it, and what its runs became', async () => {
    const id = await deliver(
      { action: 'created', items: [{ sku: 'b' }, { sku: 'a1', qty: 0 }] },
      { 'X-Service-Delivery-Id': 'evt-1' },
    );
    await runsOf(id);
    expect(stable(await hookmill('deliveries', 'show', id))).toMatchInlineSnapshot(`
      "id                dlv_id
      webhook           orders (wh_orders)
      event             created · b · a1 · 0
      time              time
      size              63 bytes
      outcome           Accepted
      authenticated by  token
      identity          evt-1 (from X-Service-Delivery-Id)

      Tested with the automations of serial 3:
      quiet: Would not trigger
        ✗ the automation is disabled
        ✓ webhook: matches
        ✓ payload: no filter
      triage: Would trigger
        ✓ webhook: matches
        ✓ payload: matches
            ✓ $.action in ["created", "reopened"] · payload has "created"
      twice: Would trigger
        trigger 1
        ✓ webhook: matches
        ✓ payload: matches
            ✓ $.action in ["created"] · payload has "created"
        trigger 2
        ✓ webhook: matches
        ✗ payload: does not match
            ✗ $.items any element one element that satisfies every clause · payload has [0] of 2
            ✗ $.items[0].sku in ["a1"] · payload has "b"
            ✓ $.items[0].qty not_in [0] · field missing from the payload
            ✗ $["odd key"] exists true · field missing from the payload
      2 other automations listen to other webhooks.

      RUN                             AUTOMATION  DELIVERY                        STATE      ATTEMPTS
      run_id  triage      dlv_id  succeeded  1
      run_id  twice       dlv_id  succeeded  1

      {
        "action": "created",
        "items": [
          {
            "sku": "b"
          },
          {
            "sku": "a1",
            "qty": 0
          }
        ]
      }
      exit status 0
      "
    `);
    const { evaluation } = JSON.parse((await hookmill('deliveries', 'show', id, '-o', 'json')).stdout);
    expect(evaluation).toMatchObject({ serial: 3, others: 2 });
  });

  test('is explained where it is a duplicate, or was rejected', async () => {
    const original = await deliver({ action: 'again' });
    await deliver({ action: 'again' });
    const url = `${daemon.ingressUrl}/webhooks/w/${orders.uid}`;
    await send(url, { headers: bearerOf(orders.secret), body: '{' });
    await send(url, { body: '{}' });
    await expect
      .poll(async () =>
        JSON.parse((await hookmill('deliveries', 'list', '--limit', '3', '-o', 'json')).stdout),
      )
      .toMatchObject([
        { outcome: 'Rejected (auth)' },
        { outcome: 'Rejected (invalid JSON)' },
        { outcome: 'Duplicate', duplicateOf: original },
      ]);
    const rows: { id: string }[] = JSON.parse(
      (await hookmill('deliveries', 'list', '--limit', '3', '-o', 'json')).stdout,
    );
    const shown: string[] = [];
    for (const { id } of rows) shown.push(stable(await hookmill('deliveries', 'show', id)));
    expect(shown.join('\n')).toMatchInlineSnapshot(`
      "id       dlv_id
      webhook  orders (wh_orders)
      time     time
      size     2 bytes
      outcome  Rejected (auth)
      reason   no bearer token in the Authorization header

      Rejected before any automation was tested.
      exit status 0

      id                dlv_id
      webhook           orders (wh_orders)
      time              time
      size              1 bytes
      outcome           Rejected (invalid JSON)
      authenticated by  token
      reason            the body is not JSON: a key in double quotes or } is expected at line 1, column 2

      Rejected before any automation was tested.
      exit status 0

      id                dlv_id
      webhook           orders (wh_orders)
      event             again
      time              time
      size              18 bytes
      outcome           Duplicate
      authenticated by  token
      identity          body-sha256:0a8980a7306e3ff9b6d534b0e46b8e09ee43de225425dc740506026fef65096a (from a hash of the body)
      duplicate of      dlv_id

      A duplicate starts no runs; \`hookmill deliveries show dlv_id\` explains the original.
      exit status 0
      "
    `);
  });

  test('keeps the verdicts of the automations that were applied when it arrived', async () => {
    const id = await deliver({ action: 'other', n: 0 });
    const before = (await hookmill('deliveries', 'show', id)).stdout;
    automation('quiet', [{ uid: orders.uid }], true);
    await applyAndServe();
    try {
      expect((await hookmill('deliveries', 'show', id)).stdout).toBe(before);
      const replayed = await hookmill('deliveries', 'replay', id);
      expect(replayed.stdout).toContain('quiet');
      expect(replayed.exitCode).toBe(0);
    } finally {
      automation('quiet', [{ uid: orders.uid }], false);
      await applyAndServe();
    }
  });
});

describe('replay', () => {
  test('starts new runs of what matches now, marked as replays, and is no delivery', async () => {
    const id = await deliver({ action: 'created', replay: 1 });
    await runsOf(id);
    const replayed = JSON.parse((await hookmill('deliveries', 'replay', id, '-o', 'json')).stdout);
    expect(replayed).toEqual(
      ['triage', 'twice'].map(automation => ({ id: expect.stringMatching(/^run_/), automation })),
    );
    expect((await hookmill('deliveries', 'replay', id, '--automation', 'twice')).stdout).toMatch(
      /^run_\w+ +twice$/m,
    );
    expect(await runsOf(id)).toEqual([
      'triage succeeded',
      'triage succeeded (replay)',
      'twice succeeded',
      'twice succeeded (replay)',
      'twice succeeded (replay)',
    ]);
    const { stdout } = await hookmill('deliveries', 'list', '-o', 'json');
    const listed: { size: number }[] = JSON.parse(stdout);
    expect(listed.filter(({ size }) => size === '{"action":"created","replay":1}'.length)).toHaveLength(1);
    const prompt = workspace.read(`.hookmill/runs/${replayed[0].id}/prompt.md`);
    expect(prompt).toMatch(/^Do triage\.\n\n---\n\nAn operator started this run by replaying/);
    expect(JSON.parse(workspace.read(`.hookmill/runs/${replayed[0].id}/event-payload.json`))).toEqual({
      action: 'created',
      replay: 1,
    });
  });

  test.each<[string, () => Promise<string[]>, RegExp]>([
    [
      'only a disabled automation matches',
      async () => [await deliver({ action: 'none' })],
      /the automation quiet is disabled, so a replay of dlv_\w+ starts no run; enable it first\n$/,
    ],
    [
      'nothing matches',
      async () => [await deliver({ action: 'none' }), '--automation', 'triage'],
      /the automation triage does not match the delivery dlv_\w+\n$/,
    ],
    [
      'the automation is disabled',
      async () => [await deliver({ n: 1 }), '--automation', 'quiet'],
      /the automation quiet is disabled, so a replay of dlv_\w+ starts no run; enable it first\n$/,
    ],
    [
      'there is no such automation',
      async () => [await deliver({ n: 2 }), '--automation', 'triag'],
      /the factory default has no automation triag; did you mean triage\?\n$/,
    ],
    [
      'the automation listens elsewhere',
      async () => [await deliver({ n: 3 }), '--automation', 'orphan'],
      /the automation orphan does not match/,
    ],
    [
      'there is no such delivery',
      async () => ['dlv_nowhere'],
      /the log of the factory default has no delivery dlv_nowhere\n$/,
    ],
    [
      'its payload is not stored',
      async () => [await rejectedId()],
      /is not stored, because its outcome is Rejected \(invalid JSON\)\n$/,
    ],
  ])('starts nothing where %s', async (_, words, message) => {
    const { stdout, stderr, exitCode } = await hookmill('deliveries', 'replay', ...(await words()));
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toMatch(message);
  });
});

async function rejectedId(): Promise<string> {
  const list = async () =>
    JSON.parse(
      (await hookmill('deliveries', 'list', '--outcome', 'rejected (invalid json)', '-o', 'json')).stdout,
    );
  const before = (await list()).length;
  await send(`${daemon.ingressUrl}/webhooks/w/${orders.uid}`, {
    headers: bearerOf(orders.secret),
    body: '[',
  });
  await eventually(async () => (await list()).length > before);
  return (await list())[0].id;
}

describe('automations test', () => {
  test('tests a payload from a file, clause by clause', async () => {
    write('payload.json', '{"action":"closed","items":[{"sku":"b"},{"sku":"a1","qty":0}]}');
    expect(
      stable(await hookmill('automations', 'test', 'twice', '--payload', 'payload.json')),
    ).toMatchInlineSnapshot(`
      "twice: Would not trigger
        trigger 1
        ✓ webhook: matches
        ✗ payload: does not match
            ✗ $.action in ["created"] · payload has "closed"
        trigger 2
        ✓ webhook: matches
        ✗ payload: does not match
            ✗ $.items any element one element that satisfies every clause · payload has [0] of 2
            ✗ $.items[0].sku in ["a1"] · payload has "b"
            ✓ $.items[0].qty not_in [0] · field missing from the payload
            ✗ $["odd key"] exists true · field missing from the payload
      exit status 0
      "
    `);
    const json = await hookmill('automations', 'test', 'triage', '--payload', 'payload.json', '-o', 'json');
    expect(stable(json)).toMatchInlineSnapshot(`
      "{
        "automation": "triage",
        "enabled": true,
        "wouldTrigger": false,
        "triggers": [
          {
            "wouldTrigger": false,
            "webhookHolds": true,
            "payloadHolds": false,
            "clauses": [
              {
                "path": "$.action",
                "operator": "in",
                "allowed": "[\\"created\\", \\"reopened\\"]",
                "found": "\\"closed\\"",
                "holds": false
              }
            ]
          }
        ],
        "warnings": []
      }
      exit status 0
      "
    `);
  });

  test('tests a stored delivery, including its webhook', async () => {
    const id = await deliver({ action: 'reopened', test: 1 });
    expect(stable(await hookmill('automations', 'test', 'triage', '--delivery', id))).toMatchInlineSnapshot(`
      "triage: Would trigger
        ✓ webhook: matches
        ✓ payload: matches
            ✓ $.action in ["created", "reopened"] · payload has "reopened"
      exit status 0
      "
    `);
    expect(
      stable(await hookmill('automations', 'test', 'elsewhere', '--delivery', id)),
    ).toMatchInlineSnapshot(`
      "elsewhere: Would not trigger
        ✗ webhook: does not match (the trigger selects a different one)
        ✓ payload: no filter
      exit status 0
      "
    `);
    expect(stable(await hookmill('automations', 'test', 'quiet', '--delivery', id))).toMatchInlineSnapshot(`
      "quiet: Would not trigger
        ✗ the automation is disabled
        ✓ webhook: matches
        ✓ payload: no filter
      exit status 0
      "
    `);
  });

  test('tries the definition in the work tree before it applies', async () => {
    write('payload.json', '{"action":"drafted"}');
    const words = ['automations', 'test', 'draft', '--payload', 'payload.json'];
    expect((await hookmill(...words)).stderr).toMatch(
      /^hookmill: the factory default has no automation draft/,
    );
    automation('draft', [{ uid: orders.uid, payload: { action: ['drafted'] } }]);
    try {
      expect((await hookmill(...words)).stdout).toMatch(/^draft: Would trigger\n/);
    } finally {
      workspace.remove('automations/draft.yaml');
    }
  });

  test('never tests the applied definition when the one in the work tree has mistakes', async () => {
    const before = workspace.read('automations/triage.yaml');
    write('automations/triage.yaml', 'prompt: Act.\n');
    try {
      write('payload.json', '{"action":"created"}');
      const { stdout, stderr, exitCode } = await hookmill(
        'automations',
        'test',
        'triage',
        '--payload',
        'payload.json',
      );
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
      expect(stderr).toMatch(/^automations\/triage\.yaml:1:1: error: /);
      expect(stderr).toMatch(/hookmill: the definition of the automation triage has mistakes\n$/);
    } finally {
      write('automations/triage.yaml', before);
    }
  });

  test.each<[string, string[], number, RegExp]>([
    ['nothing to judge', ['triage'], 2, /use exactly one of --delivery, --payload, --fixtures and --last/],
    ['two things to judge', ['triage', '--fixtures', '--delivery', 'dlv_1'], 2, /use exactly one of/],
    [
      'an unknown delivery',
      ['triage', '--delivery', 'dlv_1'],
      1,
      /the log of the factory default has no delivery dlv_1/,
    ],
    [
      'a payload that is not there',
      ['triage', '--payload', 'no.json'],
      2,
      /no\.json cannot be read \(ENOENT\)/,
    ],
    ['a payload that is no JSON', ['triage', '--payload', 'bad.json'], 1, /is not JSON in UTF-8/],
    [
      'an unknown automation',
      ['triag', '--payload', 'ok.json'],
      1,
      /no automation triag; did you mean triage\?/,
    ],
  ])('says what is wrong with %s', async (_, words, exitCode, message) => {
    write('ok.json', '{}');
    write('bad.json', Buffer.from([0x22, 0xff, 0x22]));
    const result = await hookmill('automations', 'test', ...words);
    expect(result).toMatchObject({ stdout: '', exitCode });
    expect(result.stderr).toMatch(message);
  });
});

describe('fixtures', () => {
  const fixture = (name: string, content: object | string) =>
    write(`automations/${name}`, typeof content === 'string' ? content : JSON.stringify(content));

  test('fail validate and automations test where a verdict differs from the expected one', async () => {
    fixture('triage.fixtures/created.json', { expect: 'trigger', payload: { action: 'created' } });
    fixture('triage.fixtures/closed.json', { expect: 'no-trigger', payload: { action: 'closed' } });
    fixture('triage.fixtures/elsewhere.json', {
      expect: 'no-trigger',
      webhook: unknownUid,
      payload: { action: 'created' },
    });
    expect(stable(await hookmill('validate'))).toMatchInlineSnapshot(`
      "6 definitions, all valid.
      exit status 0
      "
    `);
    expect(stable(await hookmill('automations', 'test', 'triage', '--fixtures'))).toMatchInlineSnapshot(`
      "automations/triage.fixtures/closed.json: as expected
      automations/triage.fixtures/created.json: as expected
      automations/triage.fixtures/elsewhere.json: as expected
      3 fixtures, 0 not as expected.
      exit status 0
      "
    `);

    fixture('triage.fixtures/broken.json', '{"expect": "trigger",');
    fixture('triage.fixtures/typo.json', { expect: 'triggers', payload: {} });
    fixture('triage.fixtures/wrong.json', { expect: 'trigger', payload: { action: 'deleted' } });
    fixture('triage.fixtures/wrong-webhook.json', {
      expect: 'trigger',
      webhook: unknownUid,
      payload: { action: 'created' },
    });
    fixture('triag.fixtures/lost.json', { expect: 'trigger', payload: {} });
    expect(stable(await hookmill('validate'))).toMatchInlineSnapshot(`
      "automations/triag.fixtures/lost.json: error: this fixture belongs to no automation: automations/triag.yaml does not exist [fixture/invalid]
        hint: name the folder <automation>.fixtures
      automations/triage.fixtures/broken.json:1:22: error: invalid JSON: expected a key in double quotes [fixture/invalid]
        1 | {"expect": "trigger",
          |                      ^
        hint: use double quotes around keys and strings, no comments, and no comma after the last item
      automations/triage.fixtures/typo.json:1:11: error: expect cannot be "triggers" [fixture/invalid]
        1 | {"expect":"triggers","payload":{}}
          |           ^^^^^^^^^^
        hint: did you mean trigger?
      automations/triage.fixtures/wrong-webhook.json:1:11: error: expected trigger, got no-trigger [fixture/failed]
        1 | {"expect":"trigger","webhook":"wh_0123456789abcdefghijklmn","payload":{"action":"created"}}
          |           ^^^^^^^^^
        hint: no trigger of the automation selects this webhook
      automations/triage.fixtures/wrong.json:1:11: error: expected trigger, got no-trigger [fixture/failed]
        1 | {"expect":"trigger","payload":{"action":"deleted"}}
          |           ^^^^^^^^^
        hint: $.action in ["created", "reopened"]: the payload has "deleted"
      6 definitions: 5 errors, 0 warnings.
      exit status 1
      "
    `);
    const tested = await hookmill('automations', 'test', 'triage', '--fixtures', '-o', 'json');
    expect(tested.exitCode).toBe(1);
    const results: { file: string; diagnostics: { code: string }[] }[] = JSON.parse(tested.stdout);
    expect(
      results.map(({ file, diagnostics }) => [
        file.split('/').at(-1),
        ...diagnostics.map(({ code }) => code),
      ]),
    ).toEqual([
      ['broken.json', 'fixture/invalid'],
      ['closed.json'],
      ['created.json'],
      ['elsewhere.json'],
      ['typo.json', 'fixture/invalid'],
      ['wrong-webhook.json', 'fixture/failed'],
      ['wrong.json', 'fixture/failed'],
    ]);
    expect((await hookmill('automations', 'test', 'triag', '--fixtures')).stderr).toBe(
      'hookmill: automations/triag.yaml does not exist in the definitions directory\n',
    );
    workspace.remove('automations/triage.fixtures');
    workspace.remove('automations/triag.fixtures');
  });
});

describe('a trigger that names its webhook', () => {
  const other = makeWorkspace();
  const write = (filter: string) =>
    other.write(
      'automations/act.yaml',
      `prompt: Act.\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      ${filter}\n`,
    );
  beforeAll(async () => {
    other.write('webhooks/orders.yaml', 'secretName: ORDERS\n');
    await other.hookmill('secrets', 'generate', 'ORDERS');
    write('webhook: orders\n      payload: { state: [paid] }');
  });

  test('is planned and applied with the webhook that it names, also from a plan file', async () => {
    const planned = await other.hookmill('plan', '--out', 'reviewed.plan');
    expect(planned.stdout).toContain('webhook: orders (known after apply)');
    expect((await other.hookmill('apply', 'reviewed.plan')).exitCode).toBe(0);
    expect((await other.hookmill('plan')).stdout).toContain('No changes');
    expect((await other.hookmill('automations', 'list')).stdout).toMatch(/^act +yes +orders$/m);
    const shown = await other.hookmill('plan', '--out', 'outdated.plan');
    expect(shown.exitCode).toBe(0);
    await other.hookmill('secrets', 'generate', 'OTHER');
    other.write('webhooks/other.yaml', 'secretName: OTHER\n');
    write('webhook: other');
    const outdated = await other.hookmill('apply', 'outdated.plan');
    expect(outdated.stderr).toContain('the automation act changed');
    const { stdout } = await other.hookmill('plan');
    expect(stdout).toContain('webhook: other (known after apply)');
    other.remove('webhooks/other.yaml');
  });

  test('is tested as it will be applied, with a payload and with fixtures', async () => {
    write('webhook: orders\n      payload: { state: [paid] }');
    other.write('paid.json', '{"state":"paid"}');
    const tested = await other.hookmill('automations', 'test', 'act', '--payload', 'paid.json');
    expect(tested.stdout).toContain('act: Would trigger');
    const fixture = { expect: 'trigger', webhook: 'orders', payload: { state: 'paid' } };
    other.write('automations/act.fixtures/paid.json', JSON.stringify(fixture));
    const fixtures = await other.hookmill('automations', 'test', 'act', '--fixtures');
    expect(fixtures).toMatchObject({
      exitCode: 0,
      stdout: 'automations/act.fixtures/paid.json: as expected\n',
    });
    other.remove('automations/act.fixtures');
  });

  test.each(['orders', 'webhooks/orders.yaml', '"orders"'])(
    'is what an author is told who wrote the name in place of a UID: %s',
    async written => {
      write(`webhook_ids: [${written}]`);
      for (const command of ['validate', 'plan', 'apply']) {
        const { exitCode, stdout, stderr } = await other.hookmill(command);
        expect(exitCode).toBe(1);
        expect(stdout + stderr).toMatch(
          /^automations\/act\.yaml:6:21: error: "(webhooks\/)?orders(\.yaml)?" is not the UID of a webhook \[automation\/webhook-id\]\n/m,
        );
        expect(stdout + stderr).toContain('hint: write webhook: orders to select a webhook by its name');
      }
    },
  );

  test('is refused with a suggestion if there is no such file, also when only its file is validated', async () => {
    write('webhook: order');
    for (const args of [['validate'], ['validate', 'automations/act.yaml'], ['plan'], ['apply']]) {
      const { exitCode, stdout, stderr } = await other.hookmill(...args);
      expect(exitCode).toBe(1);
      expect(stdout + stderr).toContain('there is no webhook order [automation/webhook-unknown]');
      expect(stdout + stderr).toContain('hint: did you mean orders?');
    }
    write('webhook: orders');
    expect((await other.hookmill('validate', 'automations/act.yaml')).exitCode).toBe(0);
  });
});

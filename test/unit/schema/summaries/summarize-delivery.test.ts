import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { readBeginning } from '../../../../schema/summaries/read-beginning.ts';
import {
  summarizeDelivery,
  type TitledDelivery,
  titleRefusal,
} from '../../../../schema/summaries/summarize-delivery.ts';
import { describeFailure } from '../../../../signatures/describe-failure.ts';

interface EventExamples {
  readonly name: string;
  readonly examples: readonly unknown[];
}

const examples: readonly EventExamples[] = createRequire(import.meta.url)('@octokit/webhooks-examples');

function findExample(event: string, holds: (payload: never) => boolean = () => true): unknown {
  const found = examples.find(({ name }) => name === event)?.examples.find(one => holds(one as never));
  if (!found) throw new Error(`there is no example of ${event}`);
  return found;
}

/** The title and the text of an accepted delivery, as a list shows them. */
function show(payload: unknown, by?: string, headers?: TitledDelivery['headers']): string {
  const { title, text } = summarizeDelivery({
    ...{ outcome: 'Accepted', authenticatedBy: by, headers, payload },
  });
  return `${title} | ${text}`;
}

describe('GitHub', () => {
  test.for([
    ['pull_request', 'opened', 'Codertocat/Hello-World#2 · Update the README with new information.'],
    ['issues', 'opened', 'Codertocat/Hello-World#1 · Spelling error in the README file'],
    [
      'issue_comment',
      'created',
      "Codertocat/Hello-World#1 · Codertocat: “You are totally right! I'll get this fixed right away.”",
    ],
    ['check_run', 'completed', 'Codertocat/Hello-World · Octocoders-linter · failure'],
    ['pull_request_review', 'submitted', 'Codertocat/Hello-World#2 · Codertocat: commented'],
    ['deployment_status', 'created', 'Codertocat/Hello-World · production · success'],
    ['release', 'published', 'Codertocat/Hello-World · 0.0.1'],
    ['fork', undefined, 'Codertocat/Hello-World · Octocoders/Hello-World'],
  ] as const)('titles %s %s', ([event, action, text], { expect }) => {
    const payload = findExample(event, (one: { action?: string }) => one.action === action);
    const headers = { 'x-github-event': event };
    const title = `${[event, action].filter(Boolean).join(' ')} | ${text}`;
    expect(show(payload, 'github', headers)).toBe(title);
    // The event header, and the shape of the payload, tell whose delivery it is.
    expect(show(payload, 'url_token', headers)).toBe(title);
    expect(show(payload)).toContain(text);
  });

  test('titles a push by its branch and its commits', () => {
    const headers = { 'x-github-event': 'push' };
    const push = { ref: 'refs/heads/main', repository: { full_name: 'acme/shop' }, pusher: { name: 'jlin' } };
    expect(show({ ...push, commits: [{}, {}, {}] }, 'github', headers)).toBe(
      'push | acme/shop main · 3 commits by jlin',
    );
    expect(show({ ...push, commits: [{}] }, 'github', headers)).toBe(
      'push | acme/shop main · 1 commit by jlin',
    );
    expect(show({ ...push, commits: [] }, 'github', headers)).toBe('push | acme/shop main');
  });

  test('gives every example a title and a text, whole or cut anywhere', () => {
    for (const { name, examples: payloads } of examples) {
      for (const payload of payloads) {
        const headers = { 'x-github-event': name };
        const whole = summarizeDelivery({ outcome: 'Accepted', headers, payload });
        expect(whole.title.startsWith(name)).toBe(true);
        expect(whole.text, JSON.stringify(payload)).toMatch(/^[^{}]+$/);
        const body = Buffer.from(JSON.stringify(payload));
        for (const bytes of [1, 100, 1_000, 4_000]) {
          const beginning = body.subarray(0, bytes);
          const cut = readBeginning(beginning, undefined, bytes);
          expect(summarizeDelivery({ outcome: 'Accepted', headers, payload: cut }).title).toContain(name);
        }
      }
    }
  });
});

const stripe = (type: string, object: object) => ({
  ...{
    id: 'evt_1MqqbKLt4dXK03v5qaIbiNCC',
    object: 'event',
    api_version: '2026-01-28',
    created: 1_764_000_000,
  },
  ...{ livemode: true, type, data: { object: { object: 'charge', ...object } } },
});

test.for<[string, string, unknown, Record<string, string>?]>([
  [
    'charge.refunded | ch_3Mm…15 · €129.00 · requested_by_customer',
    'stripe',
    stripe('charge.refunded', {
      ...{
        id: 'ch_3MmlLrLkdIwHu7ix0snN0B15',
        amount: 12_900,
        currency: 'eur',
        reason: 'requested_by_customer',
      },
    }),
  ],
  ['x | ¥4,200', 'stripe', stripe('x', { amount: 4_200, currency: 'jpy' })],
  ['x | KWD 1.234', 'stripe', stripe('x', { amount_total: 1_234, currency: 'kwd' })],
  ['x | po_1 · $0.00', 'url_token', stripe('x', { id: 'po_1', amount: 0, currency: 'usd' })],
  ['x | po_1', 'stripe', stripe('x', { id: 'po_1', amount: 12.5, currency: '€€€' })],
  [
    'push | group/app main · 2 commits by jlin',
    'gitlab-token',
    {
      ...{ object_kind: 'push', ref: 'refs/heads/main', user_username: 'jlin', commits: [{}, {}] },
      ...{ project: { path_with_namespace: 'group/app' }, total_commits_count: 2 },
    },
    { 'x-gitlab-event': 'Push Hook' },
  ],
  [
    'merge_request merge | group/app!7 · Charge VAT',
    'gitlab-signing-token',
    {
      ...{ object_kind: 'merge_request', project: { path_with_namespace: 'group/app' } },
      object_attributes: { iid: 7, title: 'Charge VAT', action: 'merge', source_branch: 'vat' },
    },
    { 'x-gitlab-event': 'Merge Request Hook' },
  ],
  [
    'pipeline | group/app main · failed',
    'gitlab-token',
    {
      ...{ object_kind: 'pipeline', project: { path_with_namespace: 'group/app' } },
      object_attributes: { id: 31, ref: 'main', status: 'failed' },
    },
  ],
  [
    'issue created | shop-web · TypeError: cart is undefined',
    'sentry',
    {
      ...{ action: 'created', installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' } },
      data: {
        issue: { id: '1170820242', title: 'TypeError: cart is undefined', project: { slug: 'shop-web' } },
      },
    },
    { 'sentry-hook-resource': 'issue' },
  ],
  [
    'incident.triggered | Checkout is down · shop-api',
    'pagerduty',
    {
      event: {
        ...{ id: '5ac64822-4adc-4fda-ade0-410becf0de4f', event_type: 'incident.triggered' },
        data: { id: 'PGR0VU2', title: 'Checkout is down', service: { summary: 'shop-api' } },
      },
    },
  ],
  [
    'Issue update | ENG-42 · Charge VAT · In Review',
    'linear',
    {
      ...{ action: 'update', type: 'Issue' },
      data: { identifier: 'ENG-42', title: 'Charge VAT', state: { name: 'In Review' } },
    },
    { 'linear-event': 'Issue' },
  ],
  [
    'app_mention | C0LAN2Q65 · What is the hour?',
    'slack',
    {
      ...{ token: 'ZZZZZZWSxiZZZ2yIvs3peJ', team_id: 'T061EG9R6', type: 'event_callback' },
      event: { type: 'app_mention', channel: 'C0LAN2Q65', text: 'What is the hour?' },
    },
  ],
  [
    '/deploy | ops · shop to production',
    'slack-forms',
    { ...{ command: '/deploy', channel_name: 'ops' }, text: 'shop to production' },
  ],
  [
    'orders/create | #1001 · 403.00 USD · paid',
    'shopify',
    { id: 820_982_911_946, name: '#1001', total_price: '403.00', currency: 'USD', financial_status: 'paid' },
    { 'x-shopify-topic': 'orders/create' },
  ],
  [
    'deployment.created | shop · production',
    'vercel',
    { type: 'deployment.created', payload: { target: 'production', deployment: { name: 'shop' } } },
  ],
  [
    'jira:issue_updated | OPS-7 · Rotate the key · Done',
    'jira',
    {
      webhookEvent: 'jira:issue_updated',
      issue: { key: 'OPS-7', fields: { summary: 'Rotate the key', status: { name: 'Done' } } },
    },
  ],
  ['bounce | mailbox full', 'sendgrid', [{ event: 'bounce', reason: 'mailbox full' }]],
])('titles %s', ([shown, by, payload, headers], { expect }) => {
  expect(show(payload, by, headers)).toBe(shown);
});

describe('senders without a rule', () => {
  test.for<[string, unknown]>([
    ['Delivery | failed · 12 · main', { state: 'failed', build: 12, branch: 'main', more: 'left out' }],
    [
      'deploy failed | api · production · v2.14.0',
      { type: 'deploy', action: 'failed', app: 'api', to: { stage: 'production', tag: 'v2.14.0' } },
    ],
    [
      'order.created | 4711',
      {
        event_type: 'order.created',
        action: 'created',
        at: '2026-11-24T00:07:08Z',
        url: 'https://shop.example/4711',
        order: 4711,
      },
    ],
    // The action is prose, or not a word.
    ['Delivery | Please look at this', { action: 'Please look at this' }],
    ['Delivery | 1764000000000', { at: 1_764_000_000_000, seen: 'https://shop.example' }],
    ['Delivery | null', []],
    ['Delivery | null', null],
    ['Delivery | null', 'text'],
    ['Delivery | null', {}],
    ['Delivery | open', { __proto__: null, constructor: {}, status: 'open', ok: true, nothing: null }],
  ])('shows %s', ([shown, payload], { expect }) => {
    expect(show(payload, 'bearer_token')).toBe(shown);
  });

  test('prefers anything to IDs, hashes and times, and shows them before nothing', () => {
    const ids = { id: 'b3a6cc6c-1d2e-4f50-9f3a-2d1f8f5f7c11', at: '2026-11-24' };
    expect(show({ ...ids, state: 'failed' })).toBe('Delivery | failed');
    expect(show(ids)).toBe('Delivery | 2026-11-24');
  });

  test('looks at no more values than a list has time for', () => {
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key${n}`, true]));
    expect(show({ ...wide, state: 'late' })).toBe('Delivery | null');
  });
});

describe('what must not be shown', () => {
  test('leaves out values that look like credentials, and values of secret names', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    expect(
      show({ password: 'hunter2', api_key: 'short', token, a: token, b: 'Bearer abc', state: 'ok' }),
    ).toBe('Delivery | ok');
    const repository = { full_name: 'acme/shop' };
    const issue = {
      number: 1,
      title: `Rotate ${token}, Bearer c2VjcmV0LXZhbHVl and https://user:pw@example.com/x`,
    };
    expect(show({ action: 'opened', repository, issue }, 'github', { 'x-github-event': 'issues' })).toBe(
      'issues opened | acme/shop#1 · Rotate …, Bearer … and …',
    );
    expect(show({ type: token })).toBe('… | null');
    expect(show({ ref: 'refs/heads/feature/JIRA-1234-v2', commits: [], repository }, 'github')).toBe(
      'Delivery | acme/shop feature/JIRA-1234-v2',
    );
  });

  test('has one line of at most 120 characters, without control characters', () => {
    const repository = { full_name: 'acme/shop' };
    const title = `a\u0000\u001b[31m\u202eb\n  c ${'😀'.repeat(300)}`;
    const shown = summarizeDelivery({
      ...{ outcome: 'Accepted', authenticatedBy: 'github' },
      payload: { type: 'x'.repeat(15).repeat(20), repository, issue: { number: 1, title } },
    });
    expect([...(shown.text ?? '')]).toHaveLength(120);
    expect(shown.text).toMatch(/^acme\/shop#1 · a\[31mb c 😀+…$/u);
    expect([...shown.title].length).toBeLessThanOrEqual(120);
  });
});

describe('requests of which no payload is kept', () => {
  test.for<[Parameters<typeof describeFailure>[0], string, string | null]>([
    [{ code: 'timestamp-too-old', seconds: 905 }, 'Signature too old', '15 min old'],
    [{ code: 'timestamp-too-old', seconds: 90_000 }, 'Signature too old', '25 h old'],
    [{ code: 'timestamp-ahead', seconds: 400 }, 'Signature from the future', '7 min ahead'],
    [
      { code: 'signature-mismatch' },
      'Signature does not match',
      'wrong secret, or the body was modified in transit',
    ],
    [
      { code: 'header-missing', header: 'X-Hub-Signature-256' },
      'Header X-Hub-Signature-256 is missing',
      'the sender does not sign, or has no secret configured',
    ],
    [{ code: 'timestamp-missing' }, 'Signature has no timestamp', null],
  ])('titles %j', ([failure, title, text], { expect }) => {
    expect(titleRefusal('Rejected (auth)', describeFailure(failure).cause)).toEqual({ title, text });
  });

  test('titles the others by their outcome', () => {
    const titles = (
      [
        ['Rejected (auth)', undefined],
        ['Rejected (auth)', 'wrong token'],
        ['Rejected (invalid JSON)', 'the body is not JSON: a value is expected at line 1, column 6'],
        ['Rejected (too large)', undefined],
        ['Duplicate', undefined],
        ['Handshake', undefined],
      ] as const
    ).map(([outcome, reason]) => Object.values(summarizeDelivery({ outcome, reason })));
    expect(titles).toEqual([
      ['Credential refused', null],
      ['Wrong token', null],
      ['Invalid JSON', 'a value is expected at line 1, column 6'],
      ['Too large', null],
      ['Duplicate', null],
      ['Handshake', null],
    ]);
  });

  test('titles a payload that no sender sent like that of a sender', () => {
    const payload = stripe('charge.refunded', { id: 'ch_1' });
    expect(summarizeDelivery({ outcome: 'Manual', payload })).toEqual({
      title: 'charge.refunded',
      text: 'ch_1',
    });
    expect(summarizeDelivery({ outcome: 'Manual', payload: { n: 1 } }).title).toBe('Started by hand');
  });
});

test('reads the beginning of a body: JSON, a form, or JSON in a field of a form', () => {
  const read = (text: string, form?: object, bytesMax = 1_000) =>
    readBeginning(Buffer.from(text).subarray(0, bytesMax), form, bytesMax);
  expect(read('{"a":1}')).toEqual({ a: 1 });
  expect(read('{"a":1,"b":"é', undefined, 13)).toEqual({ a: 1 });
  expect(read('command=%2Fdeploy&text=a+b', {})).toEqual({ command: '/deploy', text: 'a b' });
  const payload = new URLSearchParams({ payload: '{"type":"x","b":{"c":"long"}}' }).toString();
  expect(read(payload, { payloadField: 'payload' })).toEqual({ type: 'x', b: { c: 'long' } });
  expect(read(payload, { payloadField: 'payload' }, 45)).toEqual({ type: 'x' });
  expect(read('no JSON')).toBeUndefined();
  expect(readBeginning(undefined, undefined, 9)).toBeUndefined();
});

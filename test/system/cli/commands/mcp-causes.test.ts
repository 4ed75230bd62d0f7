import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { makeUpstream } from '../../../support/git-samples.ts';
import { type Sent, send } from '../../../support/http.ts';
import {
  type McpSession,
  type McpStage,
  openMcpSession,
  openMcpStage,
  startMcpSession,
} from '../../../support/mcp-stage.ts';

// Webhooks that are broken for real, each in its own way, and an agent that has nothing but tools to find out.

const secret = 'correct-horse-battery-staple';
const stripe = 'whsec_c3RyaXBlLXNpZ25pbmctc2VjcmV0';
const settings = {
  limits: { deliveriesPerMinute: 3, bodyBytes: 2_000 },
  runs: { runner: { kind: 'command', argv: ['sh', '-c', 'echo no space left >&2; exit 7'] }, attempts: 1 },
};

interface Broken {
  /** What the agent should find: the step, and words of what it says. */
  readonly cause: string;
  readonly says: RegExp;
  /** Words of the next step. */
  readonly next: RegExp;
  readonly webhook?: object;
  /** An automation that listens to it: its keys, and its payload filter. */
  readonly automation?: { readonly enabled?: boolean; readonly payload?: object };
  /** What its sender does; by default it posts `{"action":"opened"}` once, with the right credential. */
  readonly send?: (url: string) => Promise<unknown>;
}

const body = '{"action":"opened"}';
const post = (url: string, sent: Sent = {}) => send(url, { headers: bearerOf(secret), body, ...sent });
const signed = { authMode: 'signature', secretName: 'STRIPE', signatureScheme: 'stripe' };

function signAsStripe(timestamp: number): Sent['headers'] {
  const header = new Stripe('sk_test').webhooks.generateTestHeaderString({
    payload: body,
    secret: stripe,
    timestamp,
  });
  return { 'stripe-signature': header };
}

const nowSeconds = () => Math.floor(Date.now() / 1_000);

const broken: Readonly<Record<string, Broken>> = {
  'wrong-secret': {
    cause: 'authentication',
    says: /wrong token/,
    next: /current value of the team secret TOKEN/,
    send: url => post(url, { headers: bearerOf('another') }),
  },
  'no-value': {
    webhook: { secretName: 'DECLARED' },
    cause: 'authentication',
    says: /team secret DECLARED has no value/,
    next: /hookmill secrets generate DECLARED/,
  },
  'wrong-scheme': {
    webhook: { authMode: 'signature', secretName: 'GITHUB', signatureScheme: 'github' },
    cause: 'authentication',
    says: /X-Hub-Signature-256/i,
    next: /stripe/i,
    send: url => post(url, { headers: signAsStripe(nowSeconds()) }),
  },
  'stale-timestamp': {
    webhook: signed,
    cause: 'authentication',
    says: /too old|in the past|s old/,
    next: /clock/,
    send: url => post(url, { headers: signAsStripe(nowSeconds() - 3_600) }),
  },
  'unknown-uid': {
    cause: 'sender',
    says: /no request has ever come; [1-9]\d* came to unknown URLs/,
    next: /posts to http.*\/webhooks\/w\/wh_/,
    send: url => post(url.replace(/wh_.*/, 'wh_000000000000000000000000')),
  },
  'cut-url': {
    cause: 'url',
    says: /similar URL: .*cut off/,
    next: /post to exactly http/,
    send: url => post(url.slice(0, -1)),
  },
  'too-large': {
    cause: 'limits',
    says: /the body of the last delivery has 2100 bytes, more than the limit/,
    next: /`limits.bodyBytes`/,
    send: url => post(url, { body: JSON.stringify('x'.repeat(2_098)) }),
  },
  'too-many': {
    automation: {},
    cause: 'limits',
    says: /the rate limit refused [1-9]\d* request/,
    next: /`limits.deliveriesPerMinute`/,
    send: async url => {
      for (const id of [1, 2, 3, 4, 5]) await post(url, { body: `{"action":"opened","id":${id}}` });
    },
  },
  'not-json': { cause: 'json', says: /rejected/, next: /./, send: url => post(url, { body: '{"a":1,}' }) },
  repeated: {
    cause: 'identity',
    says: /duplicate of dlv_\w+: its body is the same, and it has no ID/,
    next: /deliveryIdHeader/,
    send: async url => {
      await post(url);
      await post(url);
    },
  },
  disabled: {
    webhook: { enabled: false },
    cause: 'webhook',
    says: /it is disabled, so its senders get 404; 1 request/,
    next: /enabled: true/,
  },
  'nobody-listens': { cause: 'automations', says: /no automation listens to it/, next: /Add a trigger/ },
  'automation-disabled': {
    automation: { enabled: false },
    cause: 'automations',
    says: /automation-disabled is disabled/,
    next: /enabled: true/,
  },
  'never-matches': {
    automation: { payload: { action: ['Opened'] } },
    cause: 'automations',
    says: /does not match the last delivery.*\$\.action in \["Opened"\]: it is "opened"/,
    next: /did you mean "opened"/,
  },
  'runner-fails': {
    automation: {},
    cause: 'runs',
    says: /failed after one attempt: the command exited with status 7/,
    next: /hookmill runs retry run_/,
  },
};

let stage: McpStage;
beforeAll(async () => {
  stage = await openMcpStage(settings, undefined);
  const { workspace, setSecret, apply } = stage;
  for (const [name, { webhook = {}, automation }] of Object.entries(broken)) {
    workspace.write(`webhooks/${name}.yaml`, JSON.stringify({ secretName: 'TOKEN', ...webhook }));
    if (!automation) continue;
    const { payload, ...keys } = automation;
    const filter = { webhook: name, ...(payload && { payload }) };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    workspace.write(`automations/${name}.yaml`, JSON.stringify({ prompt: 'Act.', triggers, ...keys }));
  }
  for (const [name, value] of Object.entries({ TOKEN: secret, STRIPE: stripe, GITHUB: secret }))
    await setSecret(name, value);
  await workspace.hookmill('secrets', 'declare', 'DECLARED');
  const urls = await apply();
  for (const [name, { send = post }] of Object.entries(broken)) await send(urls[name] ?? '');
});
afterAll(() => stage.daemon.stop());

/** The rule of a simple agent: ask why, and read the cause and its next step; of an error, that is the text. */
async function diagnose(agent: McpSession | undefined, subject: string) {
  const { text = '', isError } = (await agent?.call('why', { subject })) ?? {};
  if (isError) return { cause: 'error', says: text, next: text };
  const { cause, steps } = JSON.parse(text);
  const found = steps.find(({ step }: { step: string }) => step === cause);
  return { cause, says: [found?.message, ...(found?.lines ?? [])].join(' '), next: found?.remedy };
}

const agents: Partial<Record<'store' | 'server', McpSession>> = {};
beforeAll(async () => {
  for (const through of ['store', 'server'] as const)
    agents[through] = await startMcpSession(stage.workspace, await stage.environment(through));
});
afterAll(() => Promise.all(Object.values(agents).map(agent => agent.end())));

describe.each(Object.entries(broken))('%s', (name, { cause, says, next }) => {
  test('an agent finds the cause and the next step by tools', async () => {
    await expect
      .poll(() => diagnose(agents.store, name))
      .toEqual({
        ...{ cause, says: expect.stringMatching(says) },
        next: expect.stringMatching(next),
      });
  });

  test('an agent with a token that may read finds the step', async () => {
    await expect.poll(async () => (await diagnose(agents.server, name)).cause).toBe(cause);
  });
});

test.each(['store', 'server'] as const)(
  'an agent finds that the branch with the webhook is suspended, and its mistake, over the %s',
  async through => {
    const factory = `followed-${through}`;
    const { hookmill } = stage.workspace;
    const upstream = makeUpstream();
    const reconcile = (...words: string[]) => hookmill('reconcile', ...words, '--factory', factory);
    upstream.commit({ 'webhooks/push.yaml': 'secretName: TOKEN\n' });
    await hookmill('secrets', 'share', 'TOKEN', factory);
    await reconcile('--once', '--repository', upstream.bare);
    upstream.commit({ 'webhooks/orders.yaml': 'authMode: tokn\nsecretName: TOKEN\n' });
    expect((await reconcile('--once')).exitCode).toBe(1);
    expect((await reconcile('suspend')).exitCode).toBe(0);

    const agent = await openMcpSession(stage.workspace, await stage.environment(through, factory));
    const { cause, says } = await diagnose(agent, 'orders');
    expect(cause).toBe('error');
    expect(says).toMatch(
      /has no webhook orders;.* the branch is suspended since \d{4}.*`hookmill.* reconcile resume`/,
    );
    expect(says).toMatch(
      /its newest commit is not applied: the definitions at the tip have errors.*hookmill.* status/,
    );
    expect((await agent.ask('show_status')).reconcile).toMatchObject({
      suspendedAt: expect.any(String),
      lastFailure: { diagnostics: [{ file: 'webhooks/orders.yaml', message: 'authMode cannot be "tokn"' }] },
    });
  },
);

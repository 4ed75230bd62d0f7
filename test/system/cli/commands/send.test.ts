import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemes } from '../../../../signatures/schemes.ts';
import { successStatusOf } from '../../../support/http.ts';
import {
  type GivenWebhook,
  type InProcessDaemon,
  startInProcessDaemon,
} from '../../../support/in-process-daemon.ts';
import { makeWorkspace, type RunOptions } from '../../../support/workspace.ts';
import { bodyFor, credentialsFor } from '../../../unit/signatures/received.ts';

const custom = {
  header: 'X-Acme-Signature',
  hash: 'sha512',
  encoding: 'base64url',
  content: '{method} {url} {id} {timestamp} {body}',
  timestamp: { header: 'X-Acme-Time', unit: 'iso8601', toleranceSeconds: 60 },
  idHeader: 'X-Acme-Event',
} as const;

// The daemon's own test deliveries are signed by the same code, under every scheme: send-test.test.ts.
const ids = ['github', 'stripe', 'square', 'slack-forms', 'typeform', 'discord'];
const plain: readonly GivenWebhook[] = [
  { authMode: 'token', secret: 'a-token' },
  { authMode: 'url_token', secret: 'a-token-of-the-url' },
  { deliveryIdHeader: 'X-Event-Id', secret: 'another-token' },
  // The scheme signs this header; two values would not verify.
  {
    ...{ scheme: 'standard-webhooks', deliveryIdHeader: 'Webhook-ID' },
    secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
  },
];
const given: readonly GivenWebhook[] = [
  ...ids.map(id => ({ scheme: id, secret: credentialsFor(schemeOf(id)).secret })),
  ...plain,
  { scheme: custom, secret: 'acme' },
  { scheme: 'github', secret: null },
];
const workspace = makeWorkspace();

function schemeOf(id: string) {
  return schemes.find(scheme => scheme.id === id) ?? expect.unreachable(id);
}

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(given);
  // One clock for the daemon and the processes that send to it.
  Object.defineProperty(daemon.clock, 'nowMs', { get: Date.now });
});
afterAll(() => daemon.stop());

const names = given.map(({ scheme }) => (typeof scheme === 'object' ? 'custom' : scheme));

/** The words that send to one of them by its name, and the environment that finds it. */
function webhookOf(scheme: string, at = names.indexOf(scheme)) {
  const webhook = daemon.webhooks[at];
  if (!webhook) throw new Error(`no webhook of ${scheme}`);
  const name = `hook-${String(at % 20).padStart(2, '0')}`;
  const env = {
    HOOKMILL_HOME: daemon.home.directory,
    HOOKMILL_BASE_URL: daemon.ingressUrl,
    HOOKMILL_FACTORY: webhook.factory,
  };
  const send = (words: readonly string[], options: RunOptions = {}) =>
    workspace.hookmill('send', ...words, { env, ...options });
  return { ...webhook, name, env, send };
}

let payloads = 0;

/** Writes a body that no other delivery has, and returns its file. */
function payloadOf(scheme: (typeof schemes)[number]): string {
  const file = `${scheme.id}.json`;
  workspace.write(file, bodyFor(scheme, Date.now(), `payload ${++payloads}`));
  return file;
}

describe('by the name of a webhook, under its scheme and team secret', () => {
  // Slack would show the answer to a person, and Square signs the URL.
  test.each(['github', 'slack-forms', 'square'])('%s is accepted', async id => {
    const { name, send, rows } = webhookOf(id);
    const sent = await send([name, '--payload', payloadOf(schemeOf(id)), '-o', 'json']);
    expect(sent).toMatchObject({ exitCode: 0, stderr: '' });
    const [row, ...others] = await rows();
    expect([row, others]).toMatchObject([{ outcome: 'Accepted', authenticatedBy: id }, []]);
    const deliveryId = id === 'slack-forms' ? null : row?.id;
    expect(JSON.parse(sent.stdout)).toMatchObject({ status: successStatusOf(id), deliveryId });
  });

  test('discord, whose team secret is a public key, is told what is needed', async () => {
    const { name, send, rows } = webhookOf('discord');
    expect((await send([name, '--payload', payloadOf(schemeOf('discord'))])).stderr).toContain(
      "the request cannot be signed: signing requires the sender's private key as PKCS #8 PEM",
    );
    expect(await rows()).toEqual([]);
  });
});

test.each(['discord', 'stripe', 'square'])(
  'without a name, under --scheme with the secret from standard input, %s is accepted',
  async id => {
    const { url, rows } = webhookOf(id);
    const payload = ['--delivery-id', 'evt-of-mine', '--payload', payloadOf(schemeOf(id))];
    const stdin = `${credentialsFor(schemeOf(id)).signingSecret}\n`;
    // No home, no definition: what a sender elsewhere has.
    const words = ['send', '--scheme', id, '--to', url, ...payload];
    const { stdout, stderr, exitCode } = await workspace.hookmill(...words, { stdin });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^(?:202 Accepted|200 OK)\n\{"delivery_id":"dlv_\w+"\}\n$/);
    expect((await rows())[0]).toMatchObject({ authenticatedBy: id });
  },
);

test('a duplicate by the ID in its body says which field to change', async () => {
  const stripe = schemeOf('stripe');
  const words = ['--scheme', 'stripe', '--to', webhookOf('stripe').url, '--payload', payloadOf(stripe)];
  const stdin = `${credentialsFor(stripe).signingSecret}\n`;
  await workspace.hookmill('send', ...words, { stdin });
  const again = await workspace.hookmill('send', ...words, { stdin });
  expect(again.stdout).toContain(
    'it starts nothing. $.id in the body identifies it: with another value, it is a new delivery.',
  );
});

test('a custom scheme signs as its definition says, and --delivery-id is the identity', async () => {
  workspace.write('payload.json', '{ "a" : 1 }');
  const { name, send, rows } = webhookOf('custom');
  const words = [name, '--payload', 'payload.json', '--delivery-id', 'evt-1'];
  const [first, second] = [await send(words), await send(words)];
  expect(first).toMatchObject({ exitCode: 0, stderr: '' });
  const { delivery_id: id } = JSON.parse(first.stdout.split('\n')[1] ?? '');
  expect(second).toEqual({
    ...first,
    stdout: `${first.stdout}Duplicate of ${id}: it starts nothing. With another --delivery-id, it is a new delivery.\n`,
  });
  expect(await rows()).toMatchObject([
    { outcome: 'Duplicate', duplicateOf: id },
    {
      outcome: 'Accepted',
      identity: 'evt-1',
      identitySource: 'scheme',
      authenticatedBy: 'custom HMAC',
      size: 11,
    },
  ]);
});

describe('a second send of the same payload', () => {
  const sendTwice = async (webhook: string, env: Record<string, string>, ...words: string[]) => {
    workspace.write('payload.json', '{"same":true}');
    const send = async () => {
      const given = [webhook, '--payload', 'payload.json', '-o', 'json', ...words];
      return JSON.parse((await workspace.hookmill('send', ...given, { env })).stdout);
    };
    return [await send(), await send()];
  };

  test.each(plain.map((webhook, index) => ({ webhook, at: ids.length + index })))(
    'is a new delivery by its new ID, or a duplicate by its repeated one ($webhook)',
    async ({ webhook, at }) => {
      const { name, env, rows } = webhookOf('', at);
      const [first, second] = await sendTwice(name, env);
      expect([first.duplicateOf, second.duplicateOf]).toEqual([null, null]);
      const [, repeated] = await sendTwice(name, env, '--delivery-id', 'évt-1');
      expect(repeated).toMatchObject({ status: 202, duplicateOf: repeated.deliveryId });
      const source = webhook.deliveryIdHeader ? 'deliveryIdHeader' : 'X-Service-Delivery-Id';
      expect(await rows()).toMatchObject([
        { outcome: 'Duplicate', duplicateOf: repeated.deliveryId },
        { outcome: 'Accepted', identity: 'évt-1', identitySource: source },
        { outcome: 'Accepted', id: second.deliveryId, identitySource: source },
        { outcome: 'Accepted', id: first.deliveryId, identitySource: source },
      ]);
    },
  );

  test("is a duplicate if the scheme's sender gives no ID, unless the user gives a new one", async () => {
    const { name, env, rows } = webhookOf('typeform');
    const [, second] = await sendTwice(name, env);
    expect(second).toMatchObject({ status: 202, duplicateOf: second.deliveryId });
    const [third] = await sendTwice(name, env, '--delivery-id', 'evt-2');
    expect(third.duplicateOf).toBeNull();
    expect((await rows()).find(({ id }) => id === third.deliveryId)).toMatchObject({
      identity: 'evt-2',
      identitySource: 'X-Service-Delivery-Id',
    });
  });
});

test('a refusal is shown, and is exit status 1', async () => {
  workspace.write('payload.json', '{}');
  const { url } = webhookOf('github');
  const words = ['send', '--scheme', 'github', '--to', url, '--payload', 'payload.json'];
  const { stdout, stderr, exitCode } = await workspace.hookmill(...words, { stdin: 'wrong' });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  expect(stdout).toMatch(/^401 Unauthorized\n\{.*"status":401.*\}\n$/);
});

describe('says what is wrong', () => {
  const payload = ['--payload', 'payload.json'];
  beforeAll(() => workspace.write('payload.json', '{}'));

  test.each<[string, readonly string[], number, RegExp]>([
    [
      'an unknown webhook',
      ['hook-0', ...payload],
      1,
      /hook-0.*did you mean hook-00, hook-01, hook-02, hook-03 or hook-04\?/,
    ],
    [
      'a payload that is not there',
      ['hook-00', '--payload', 'no.json'],
      2,
      /no\.json cannot be read \(ENOENT\)/,
    ],
    ['no payload', ['hook-00'], 2, /--payload/],
    [
      'a scheme for a named webhook',
      ['hook-00', '--scheme', 'stripe', ...payload],
      2,
      /--scheme cannot be combined with the name of a webhook/,
    ],
    ['no scheme', ['--to', 'http://127.0.0.1:1', ...payload], 2, /--scheme and --to are required/],
    ['no URL', ['--scheme', 'github', ...payload], 2, /--scheme and --to are required/],
    [
      'an unknown scheme',
      ['--scheme', 'githb', '--to', 'http://127.0.0.1:1', ...payload],
      2,
      /unknown signature scheme "githb"; did you mean github\?/,
    ],
    [
      'an empty secret',
      ['--scheme', 'github', '--to', 'http://127.0.0.1:1', ...payload],
      1,
      /cannot be signed: the secret is empty/,
    ],
    ['a blank ID', ['hook-00', '--delivery-id', ' ', ...payload], 2, /--delivery-id must not be blank/],
    ['an invalid URL', ['hook-00', '--to', 'nowhere', ...payload], 1, /the URL does not answer/],
    [
      'a daemon that is not there',
      ['hook-00', '--to', 'http://127.0.0.1:1/x', ...payload],
      1,
      /does not answer/,
    ],
  ])('%s', async (_, words, exitCode, message) => {
    const result = await webhookOf('', 0).send(words);
    expect(result).toMatchObject({ exitCode, stdout: '' });
    expect(result.stderr).toMatch(/^(hookmill|error): /);
    expect(result.stderr).toMatch(message);
  });

  test('a team secret without a value', async () => {
    const { name, send } = webhookOf('', given.length - 1);
    const { stderr, exitCode } = await send([name, ...payload]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^hookmill: the team secret \S+ of the webhook hook-\d+ has no value\n$/);
  });
});

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createProgram } from '../../../../cli/main.ts';
import { schemes } from '../../../../signatures/schemes.ts';
import { successStatusOf } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';
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

const isPublicKey = ({ primitive }: (typeof schemes)[number]) =>
  primitive === 'ed25519' || primitive === 'ecdsa-p256';
const symmetric = schemes.filter(scheme => !isPublicKey(scheme));
const publicKey = schemes.filter(isPublicKey);
const given = [
  ...schemes.map(scheme => ({ scheme: scheme.id, secret: credentialsFor(scheme).secret })),
  { scheme: custom, secret: 'acme' },
  { scheme: 'github', secret: null },
];
const workspace = makeWorkspace();

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(given);
  // One clock for the daemon and the processes that send to it.
  Object.defineProperty(daemon.clock, 'nowMs', { get: Date.now });
});
afterAll(() => daemon.stop());

const names = given.map(({ scheme }) => (typeof scheme === 'string' ? scheme : 'custom'));

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

/** In this process: a process for each scheme would take half a minute. */
async function sendHere(scheme: (typeof schemes)[number]): Promise<string> {
  const { name, url, factory } = webhookOf(scheme.id);
  const words = [name, '--payload', workspace.path(payloadOf(scheme)), '--to', url, '-o', 'json'];
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const context = ['--home', daemon.home.directory, '--factory', factory];
    await createProgram().parseAsync([...context, 'send', ...words], { from: 'user' });
    return written.mock.calls.join('');
  } finally {
    written.mockRestore();
  }
}

describe('by the name of a webhook, under its scheme and team secret', () => {
  test.each(symmetric)('$id is accepted', async scheme => {
    const data = JSON.parse(await sendHere(scheme));
    const status = successStatusOf(scheme.id);
    const rows = await webhookOf(scheme.id).rows();
    expect(rows).toMatchObject([{ outcome: 'Accepted', authenticatedBy: scheme.id }]);
    // Slack would show it to a person.
    expect(data).toMatchObject({ status, deliveryId: scheme.id === 'slack-forms' ? null : rows[0]?.id });
  });

  test.each(publicKey)('$id, whose team secret is a public key, is told what is needed', async scheme => {
    await expect(sendHere(scheme)).rejects.toThrow(
      "the request cannot be signed: signing requires the sender's private key as PKCS #8 PEM",
    );
    expect(await webhookOf(scheme.id).rows()).toEqual([]);
  });
});

describe('without a name, under --scheme with the secret from standard input', () => {
  test.each([...publicKey, ...symmetric.filter(({ id }) => ['stripe', 'okta', 'square'].includes(id))])(
    '$id is accepted',
    async scheme => {
      const { url, rows } = webhookOf(scheme.id);
      const words = [
        '--scheme',
        scheme.id,
        '--to',
        url,
        '--delivery-id',
        'evt-of-mine',
        '--payload',
        payloadOf(scheme),
      ];
      const stdin = `${credentialsFor(scheme).signingSecret}\n`;
      // No home, no definition: what a sender elsewhere has.
      const { stdout, stderr, exitCode } = await workspace.hookmill('send', ...words, { stdin });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^(?:202 Accepted|200 OK)\n\{"delivery_id":"dlv_\w+"\}\n$/);
      expect((await rows())[0]).toMatchObject({ authenticatedBy: scheme.id });
    },
  );
});

test('a duplicate by the ID in its body says which field to change', async () => {
  const stripe = symmetric.find(({ id }) => id === 'stripe');
  if (!stripe) throw new Error('no scheme stripe');
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
  let separate: WebhookDaemon;
  beforeAll(async () => {
    separate = await openWebhookDaemon();
  });
  afterAll(() => separate.stop());

  const sendTwice = async (webhook: string, env: Record<string, string>, ...words: string[]) => {
    workspace.write('payload.json', '{"same":true}');
    const send = async () => {
      const given = [webhook, '--payload', 'payload.json', '-o', 'json', ...words];
      return JSON.parse((await workspace.hookmill('send', ...given, { env })).stdout);
    };
    return [await send(), await send()];
  };

  test.each([
    { authMode: 'token' },
    { authMode: 'url_token' },
    { authMode: 'token', deliveryIdHeader: 'X-Event-Id' },
    // The scheme signs this header; two values would not verify.
    {
      authMode: 'signature',
      signatureScheme: 'standard-webhooks',
      deliveryIdHeader: 'Webhook-ID',
      secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
    },
  ])('is a new delivery by its new ID, or a duplicate by its repeated one (%o)', async given => {
    const { factory, rows } = await separate.webhook(given);
    const env = { HOOKMILL_HOME: separate.workspace.home, HOOKMILL_FACTORY: factory };
    const [first, second] = await sendTwice('hook', env);
    expect([first.duplicateOf, second.duplicateOf]).toEqual([null, null]);
    const [, repeated] = await sendTwice('hook', env, '--delivery-id', 'évt-1');
    expect(repeated).toMatchObject({ status: 202, duplicateOf: repeated.deliveryId });
    const source = given.deliveryIdHeader ? 'deliveryIdHeader' : 'X-Service-Delivery-Id';
    expect(await rows()).toMatchObject([
      { outcome: 'Duplicate', duplicateOf: repeated.deliveryId },
      { outcome: 'Accepted', identity: 'évt-1', identitySource: source },
      { outcome: 'Accepted', id: second.deliveryId, identitySource: source },
      { outcome: 'Accepted', id: first.deliveryId, identitySource: source },
    ]);
  });

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

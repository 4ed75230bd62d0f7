import { createHmac } from 'node:crypto';
import { CompactEncrypt, exportSPKI, generateKeyPair, importJWK, type JWK } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { onFileFinished } from '../../../support/file-end.ts';
import { type OidcWebhook, serveOidcWebhook } from '../../../support/oidc-webhook.ts';
import { startTokenIssuer, type TokenIssuer } from '../../../support/token-issuer.ts';

/** Waits until the keys were fetched, or could not be. */
async function fetched(hook: OidcWebhook, token: string): Promise<void> {
  await eventually(async () => (await hook.post(token)).status !== 503);
}

const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const nowS = () => Math.floor(Date.now() / 1000);

/** Tokens that are not to be accepted, and the reason that the log then has. */
const lies: readonly (readonly [
  what: string,
  make: (issuer: TokenIssuer, aud: string) => Promise<string>,
  reason: RegExp,
])[] = [
  [
    'alg none',
    async (issuer, aud) => `${b64({ alg: 'none' })}.${b64({ iss: issuer.issuer, aud })}.`,
    /not a signed token/,
  ],
  [
    'alg none with a signature',
    async (issuer, aud) => `${b64({ alg: 'none', kid: issuer.keyId })}.${b64({ aud })}.AAAA`,
    /not signed with RS256, ES256, EdDSA, PS256/,
  ],
  [
    'HS256 with the public key as secret',
    async (issuer, aud) => {
      const key = await importJWK(issuer.keys[0] as JWK, 'RS256', { extractable: true });
      const pem = await exportSPKI(key as Parameters<typeof exportSPKI>[0]);
      const [, claims] = (await issuer.sign({ aud })).split('.');
      const content = `${b64({ alg: 'HS256', kid: issuer.keyId })}.${claims}`;
      return `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`;
    },
    /not signed with/,
  ],
  ['RS512', (issuer, aud) => resign(issuer, { aud }, 'RS512'), /not signed with/],
  [
    'no alg',
    async (issuer, aud) => replaceHeader(await issuer.sign({ aud }), { kid: issuer.keyId }),
    /not signed with/,
  ],
  [
    'another alg than the key has',
    (issuer, aud) => resign(issuer, { aud }, 'PS256'),
    /names a key that .* does not have/,
  ],
  [
    'another issuer',
    (issuer, aud) => issuer.sign({ aud, iss: 'https://evil.example.com' }),
    /issuer is https:\/\/evil\.example\.com, not http/,
  ],
  ['the issuer with a slash', (issuer, aud) => issuer.sign({ aud, iss: `${issuer.issuer}/` }), /issuer is/],
  ['no issuer', (issuer, aud) => issuer.sign({ aud, iss: undefined }), /issuer is missing/],
  ['a list of issuers', (issuer, aud) => issuer.sign({ aud, iss: [issuer.issuer] as never }), /issuer is \[/],
  [
    'another audience',
    issuer => issuer.sign({ aud: 'sts.amazonaws.com' }),
    /audience is sts\.amazonaws\.com, not http.*\nLet the sender ask/s,
  ],
  ['no audience', issuer => issuer.sign({ aud: undefined }), /audience is missing/],
  ['a list of other audiences', issuer => issuer.sign({ aud: ['a', 'b'] }), /audience is \["a","b"\]/],
  ['the audience with a slash', (issuer, aud) => issuer.sign({ aud: `${aud}/` }), /audience is/],
  ['the audience in upper case', (issuer, aud) => issuer.sign({ aud: aud.toUpperCase() }), /audience is/],
  ['an object as audience', (issuer, aud) => issuer.sign({ aud: { [aud]: true } as never }), /audience is/],
  [
    'expired',
    (issuer, aud) => issuer.sign({ aud, exp: nowS() - 720 }),
    /^the token expired 12 minutes ago\nLet the sender get a new token/,
  ],
  [
    'expired a moment beyond the skew',
    (issuer, aud) => issuer.sign({ aud, exp: nowS() - 61 }),
    /expired 6\d s ago/,
  ],
  ['no time of expiry', (issuer, aud) => issuer.sign({ aud, exp: undefined }), /no time at which it expires/],
  [
    'a time of expiry that is text',
    (issuer, aud) => issuer.sign({ aud, exp: `${nowS() + 300}` as never }),
    /no time at which it expires/,
  ],
  ['not valid yet', (issuer, aud) => issuer.sign({ aud, nbf: nowS() + 600 }), /valid only \d+ \w+ from now/],
  [
    'issued in the future',
    (issuer, aud) => issuer.sign({ aud, iat: nowS() + 600 }),
    /was issued \d+ \w+ from now/,
  ],
  [
    'a time of issue that is text',
    (issuer, aud) => issuer.sign({ aud, iat: 'now' as never }),
    /invalid time \(iat\)/,
  ],
  [
    'another repository',
    (issuer, aud) => issuer.sign({ aud, repository: 'acme/other' }),
    /^the claim repository is acme\/other, not acme\/shop\n/,
  ],
  [
    'the repository in upper case',
    (issuer, aud) => issuer.sign({ aud, repository: 'ACME/shop' }),
    /claim repository is/,
  ],
  ['no repository', (issuer, aud) => issuer.sign({ aud, repository: undefined }), /no claim repository/],
  ['a number as repository', (issuer, aud) => issuer.sign({ aud, repository: 7 }), /claim repository is 7/],
  [
    'an object as repository',
    (issuer, aud) => issuer.sign({ aud, repository: { 'acme/shop': 1 } }),
    /claim repository is \{/,
  ],
  [
    'a repository within a list',
    (issuer, aud) => issuer.sign({ aud, repository: [['acme/shop']] }),
    /claim repository is \[\[/,
  ],
  [
    'a claim beside the own ones',
    (issuer, aud) => issuer.sign({ aud, repository: undefined, __proto__: { repository: 'acme/shop' } }),
    /no claim repository/,
  ],
  [
    'signed by another key',
    async (issuer, aud) => issuer.sign({ aud }, {}, (await generateKeyPair('RS256')).privateKey),
    /signature is not by a key of http/,
  ],
  [
    'changed claims',
    async (issuer, aud) =>
      replaceClaims(await issuer.sign({ aud: 'other' }), {
        iss: issuer.issuer,
        aud,
        repository: 'acme/shop',
        exp: nowS() + 60,
      }),
    /signature is not by a key/,
  ],
  [
    'a key in its header',
    async (issuer, aud) => {
      const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
      const { exportJWK } = await import('jose');
      return issuer.sign(
        { aud },
        { jwk: await exportJWK(publicKey), jku: 'https://evil.example.com/keys' },
        privateKey,
      );
    },
    /signature is not by a key/,
  ],
  [
    'a certificate in its header',
    async (issuer, aud) =>
      issuer.sign(
        { aud },
        { x5u: 'https://evil.example.com', x5c: ['AAAA'] },
        (await generateKeyPair('RS256')).privateKey,
      ),
    /signature is not by a key/,
  ],
  [
    'a critical extension',
    async (issuer, aud) =>
      replaceHeader(await issuer.sign({ aud }), { alg: 'RS256', kid: issuer.keyId, crit: ['exp'], exp: 1 }),
    /requires extensions/,
  ],
  [
    'content that is not encoded',
    async (issuer, aud) =>
      replaceHeader(await issuer.sign({ aud }), {
        alg: 'RS256',
        kid: issuer.keyId,
        crit: ['b64'],
        b64: false,
      }),
    /requires extensions/,
  ],
  ['another type', (issuer, aud) => issuer.sign({ aud }, { typ: 'secevent+jwt' }), /of a type/],
  [
    'a type that is a number',
    async (issuer, aud) =>
      replaceHeader(await issuer.sign({ aud }), { alg: 'RS256', kid: issuer.keyId, typ: 1 }),
    /of a type|not a signed token/,
  ],
  ['truncated', async (issuer, aud) => (await issuer.sign({ aud })).slice(0, -20), /signature/],
  [
    'without its signature',
    async (issuer, aud) => `${(await issuer.sign({ aud })).split('.', 2).join('.')}.`,
    /not a signed token/,
  ],
  [
    'two parts',
    async (issuer, aud) => (await issuer.sign({ aud })).split('.', 2).join('.'),
    /not a signed token/,
  ],
  ['padded', async (issuer, aud) => `${await issuer.sign({ aud })}==`, /not a signed token/],
  [
    'in the alphabet of base64',
    async (issuer, aud) => (await issuer.sign({ aud })).replace(/\.[^.]+$/, '.++//'),
    /not a signed token/,
  ],
  [
    'with white space within',
    async (issuer, aud) => (await issuer.sign({ aud })).replace('.', '. '),
    /not a signed token/,
  ],
  [
    'no JSON as header',
    async (issuer, aud) => `aGVsbG8.${(await issuer.sign({ aud })).split('.').slice(1).join('.')}`,
    /not a signed token/,
  ],
  [
    'encrypted',
    async (issuer, aud) => {
      const key = await importJWK({ ...(issuer.keys[0] as JWK), alg: 'RSA-OAEP' }, 'RSA-OAEP');
      return new CompactEncrypt(Buffer.from(JSON.stringify({ aud })))
        .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM' })
        .encrypt(key);
    },
    /not a signed token/,
  ],
  ['no JSON as content', issuer => signText(issuer, 'hello'), /content of the token is not a JSON object/],
  ['a list as content', issuer => signText(issuer, '[]'), /content of the token is not a JSON object/],
  [
    'content that is not UTF-8',
    issuer => signText(issuer, Buffer.from([0x7b, 0xff, 0x7d])),
    /content of the token is not a JSON object/,
  ],
  ['a secret instead of a token', async () => 'hunter2-hunter2-hunter2', /not a signed token/],
];

async function resign(issuer: TokenIssuer, claims: object, alg: string): Promise<string> {
  const { exportJWK, SignJWT } = await import('jose');
  const key = await importJWK({ ...(await exportJWK(issuer.privateKey)), alg }, alg);
  const all = { iss: issuer.issuer, exp: nowS() + 300, repository: 'acme/shop', ...claims };
  return new SignJWT(all).setProtectedHeader({ alg, kid: issuer.keyId }).sign(key);
}

async function signText(issuer: TokenIssuer, content: string | Uint8Array): Promise<string> {
  const { CompactSign } = await import('jose');
  const header = { alg: 'RS256', kid: issuer.keyId };
  return new CompactSign(Buffer.from(content)).setProtectedHeader(header).sign(issuer.privateKey);
}

function replaceHeader(token: string, header: object): string {
  return `${b64(header)}.${token.split('.').slice(1).join('.')}`;
}

function replaceClaims(token: string, claims: object): string {
  const [header, , signature] = token.split('.');
  return `${header}.${b64(claims)}.${signature}`;
}

let issuer: TokenIssuer;
let hook: OidcWebhook;

beforeAll(async () => {
  issuer = await startTokenIssuer();
  hook = await serveOidcWebhook(issuer);
  onFileFinished(() => hook.daemon.stop());
  await fetched(hook, await issuer.sign({ aud: hook.url }));
});

test('accepts a token of the issuer for the URL of the webhook, and uses it for any number of deliveries', async () => {
  const token = await issuer.sign({ aud: hook.url });
  const headers = (id: string) => ({ authorization: `Bearer ${token}`, 'x-service-delivery-id': id });
  const [first, second] = [await hook.post(headers('one')), await hook.post(headers('two'))];
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(first.deliveryId).not.toBe(second.deliveryId);
});

test.each([
  ['a list of audiences with its own among them', { aud: (url: string) => ['other', url] }, {}],
  ['the type of access tokens', {}, { typ: 'at+jwt' }],
  ['a type in other letters', {}, { typ: 'jwt' }],
  ['times within the skew', { exp: () => nowS() - 30, nbf: () => nowS() + 30, iat: () => nowS() + 30 }, {}],
  ['no kid, if the issuer has one key', {}, { kid: undefined }],
  ['a list as the claim, one of whose elements is allowed', { repository: () => ['other', 'acme/shop'] }, {}],
])('accepts %s', async (_, claims: Record<string, (url: string) => unknown>, header: object) => {
  const made = Object.entries(claims).map(([name, make]) => [name, make(hook.url)]);
  const token = await issuer.sign({ aud: hook.url, ...Object.fromEntries(made) }, header);
  expect(await hook.post(token)).toMatchObject({ status: 202 });
});

test.each(['bearer', 'BEARER'])('takes the scheme %s, in whatever case', async scheme => {
  const token = await issuer.sign({ aud: hook.url });
  expect(await hook.post({ authorization: `${scheme} ${token}` })).toMatchObject({ status: 202 });
});

test.each(lies)('refuses a token: %s', async (_, make, reason) => {
  const token = await make(issuer, hook.url);
  const answer = await hook.post(token);
  expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
  expect(answer.body).not.toMatch(/repository|acme/);
  const last = await eventually(async () => {
    const now = await hook.lastReason();
    return reason.test(now) && now;
  });
  expect(last).toMatch(reason);
  expect(hook.daemon.logged()).not.toContain(token);
  expect(last).not.toContain(token.slice(-30));
});

test('refuses two Authorization headers, and a token of 17 KiB', async () => {
  const token = await issuer.sign({ aud: hook.url });
  const twice = await hook.post({ authorization: [`Bearer ${token}`, `Bearer ${token}`] });
  expect(twice.status).toBe(401);
  const long = await issuer.sign({ aud: hook.url, padding: 'x'.repeat(17 * 1024) });
  expect([401, 431]).toContain((await hook.post(long)).status);
});

test.each(['ES256', 'EdDSA', 'PS256'])('takes tokens that are signed with %s', async alg => {
  const other = await startTokenIssuer({ alg });
  const served = await serveOidcWebhook(other);
  const token = await other.sign({ aud: served.url });
  await fetched(served, token);
  expect(await served.post(token)).toMatchObject({ status: 202 });
  await served.daemon.stop();
});

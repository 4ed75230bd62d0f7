import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { newHome } from '../../../support/factory.ts';
import { onFileFinished } from '../../../support/file-end.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { startHostileProvider, type TokenFault } from '../../../support/hostile-provider.ts';
import { call, openManagedDaemon } from '../../../support/management.ts';
import { storeIn } from '../../../support/stored.ts';

const clientSecret = 'a-client-secret-of-32-characters';

async function startBoth() {
  const provider = await startHostileProvider(clientSecret);
  const home = newHome();
  await storeIn(home).teamSecrets.set('OIDC', clientSecret);
  const managementPort = await findFreePort();
  const managementUrl = `http://127.0.0.1:${managementPort}`;
  const signIn = {
    ...{ issuer: provider.issuer, clientId: 'hookmill', clientSecret: 'OIDC' },
    grants: [{ group: 'platform', permission: 'manage' }],
  };
  const daemon = await openManagedDaemon({ managementPort, managementUrl, signIn }, home);
  onFileFinished(daemon.stop);
  return { provider, daemon };
}

type Both = Awaited<ReturnType<typeof startBoth>>;

/** Signs in, and returns the code of the problem, or the status. */
async function signIn({ provider, daemon: { managementUrl } }: Both): Promise<string | number> {
  const begun = await call(managementUrl, 'beginSignIn', { body: {} });
  if (begun.status !== 200) return begun.json.code;
  const [cookie = ''] = [begun.headers['set-cookie']].flat()[0]?.split(';') ?? [];
  const body = { query: provider.authorize(begun.json.url), attemptKey: begun.json.attemptKey };
  const { status, json } = await call(managementUrl, 'finishSignIn', { body, headers: { cookie } });
  return json.code ?? status;
}

const longAgo = Math.floor(Date.now() / 1000) - 3_600;

const faults: Readonly<Record<string, TokenFault>> = {
  'has an empty subject': { claims: { sub: '' } },
  'has a blank subject': { claims: { sub: ' \t' } },
  'was signed by another key': { signedBy: 'another-key' },
  'nobody signed': { signedBy: 'nobody' },
  'was signed with the client secret': { signedBy: 'client-secret' },
  'is for another sign-in': { claims: { nonce: 'another' } },
  'is for no sign-in': { claims: { nonce: undefined } },
  'is for another client': { claims: { aud: 'another' } },
  'is for several clients, and was issued to another': {
    claims: { aud: ['hookmill', 'another'], azp: 'another' },
  },
  'is of another issuer': { claims: { iss: 'https://login.example' } },
  'has expired': { claims: { iat: longAgo, exp: longAgo + 60 } },
  'never expires': { claims: { exp: undefined } },
  'names nobody': { claims: { sub: undefined } },
  'names another person than UserInfo': { claims: { groups: undefined }, subjectOfUserInfo: 'eve' },
};

describe('with a provider that issues a wrong token,', () => {
  let both: Both;
  beforeAll(async () => {
    both = await startBoth();
  });

  test.for(Object.entries(faults))(
    'an ID token that %s is refused, and is not in the log',
    async ([, fault]) => {
      const { provider, daemon } = both;
      const before = daemon.logged().length;
      // An address may fail only so often in a minute.
      daemon.clock.monotonicMs += 60_000;
      provider.fault = fault;
      expect(await signIn(both)).toBe('sign-in-refused');
      provider.fault = {};
      expect(await signIn(both)).toBe(200);
      const logged = daemon.logged().slice(before);
      expect(logged).toContain('"a sign-in was refused"');
      const issued = provider.issued.splice(0);
      expect(issued).toHaveLength(6);
      for (const secret of [clientSecret, ...issued]) expect(logged).not.toContain(secret);
    },
  );
});

const nonsense: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'a page': response => response.setHeader('content-type', 'text/html').end('<h1>Maintenance</h1>'),
  'half of JSON': response => response.setHeader('content-type', 'application/json').end('{"keys":['),
  'an error of the server': response => response.writeHead(500).end(),
};

test.for(['/.well-known/openid-configuration', '/token', '/keys'])(
  'nonsense at %s is said to be a mistake of the provider, in the log too',
  async path => {
    const both = await startBoth();
    for (const [index, [what, answer]] of Object.entries(nonsense).entries()) {
      both.provider.answers.set(path, answer);
      expect(await signIn(both), what).toBe('provider-invalid');
      expect(both.daemon.logged().match(/a sign-in was refused/g)).toHaveLength(index + 1);
    }
    expect(both.daemon.logged()).not.toContain(clientSecret);
    both.provider.answers.clear();
    expect(await signIn(both)).toBe(200);
  },
);

test('a provider that never answers, at any step, is given up', async () => {
  const ends = ['/.well-known/openid-configuration', '/token', '/keys'].map(async path => {
    const both = await startBoth();
    both.provider.answers.set(path, 'none');
    return signIn(both);
  });
  expect(new Set(await Promise.all(ends))).toEqual(new Set(['provider-unreachable']));
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { onTestFinished, vi } from 'vitest';
import { findFreePort } from './free-port.ts';

export interface TestProvider {
  /** The settings of a daemon at which people sign in, on a port of its own. */
  readonly settings: { readonly signIn: object } & Record<string, unknown>;
  readonly managementUrl: string;
  readonly clientSecret: string;
  /** Every answer that it gave to the daemon and to browsers, with its tokens. */
  answers(): string;
  stop(): Promise<void>;
  /** Starts it again at the same place. */
  start(): Promise<void>;
}

/** Somebody whose name and subject are long. */
export const longLogin = 'zoe-'.repeat(60);

/** The groups of the people; each signs in with any password. */
const people: Readonly<Record<string, readonly string[]>> = {
  ada: ['platform', 'payments-readers'],
  bob: ['payments-readers'],
  eve: ['strangers'],
  [longLogin]: ['platform'],
};

/** Starts an OpenID Connect provider on another host name of this machine. By default, it stops when the test ends. */
export async function startProvider(
  given: { readonly groupsIn?: 'id-token' } = {},
  onEnd: (end: () => Promise<void> | void) => void = onTestFinished,
): Promise<TestProvider> {
  // It warns of settings that are only for tests.
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockReturnValue(undefined);
  onEnd(() => void vi.restoreAllMocks());
  const clientSecret = 'a-client-secret-for-tests';
  const managementPort = await findFreePort();
  const managementUrl = `http://127.0.0.1:${managementPort}`;
  const server = createServer();
  await once(server.listen(0, 'localhost'), 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'hookmill',
        client_secret: clientSecret,
        redirect_uris: [`${managementUrl}/sign-in`],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
    conformIdTokenClaims: given.groupsIn !== 'id-token',
    cookies: { keys: ['for tests'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: `${id}@example.com`, groups: [...(people[id] ?? [])] }),
    }),
  });
  let answers = '';
  provider.use(async (context, next) => {
    await next();
    answers += `${JSON.stringify(context.body ?? '')}\n`;
  });
  server.on('request', provider.callback());
  const stop = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  onEnd(stop);
  const start = async () => {
    await once(server.listen(port, 'localhost'), 'listening');
  };
  const signIn = {
    ...{ issuer, clientId: 'hookmill', clientSecret: 'OIDC', label: 'Acme', scopes: ['profile', 'groups'] },
    grants: [
      { group: 'platform', permission: 'manage' },
      { group: 'payments-readers', permission: 'read', factories: ['payments'] },
    ],
  };
  const settings = { managementPort, managementUrl, signIn };
  return { settings, managementUrl, clientSecret, answers: () => answers, stop, start };
}

/** Signs in at the provider as a browser does, from the URL to which it was sent. Returns the query that it comes back with. */
export async function signInAtProvider(url: string, login: string, managementUrl: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, body?: URLSearchParams): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: { cookie },
      redirect: 'manual',
      body: body ?? null,
    });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const next = answer.headers.get('location');
    if (next?.startsWith(`${managementUrl}/`)) return new URL(next).search;
    if (next !== null) return visit(new URL(next, url).href);
    const page = await answer.text();
    const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
    if (action === '') throw new Error(page);
    return visit(new URL(action, url).href, new URLSearchParams({ prompt, login, password: 'any' }));
  };
  return visit(url);
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { onFileFinished } from './file-end.ts';

const keyId = 'the-key';
const signAlgorithm = 'ES256';
type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

/** Replaces parts of a correct ID token. A claim that is undefined is left out. */
export interface TokenFault {
  readonly claims?: JWTPayload;
  /** The signer: another key under the same ID, nobody, or whoever knows the client secret. */
  readonly signedBy?: 'another-key' | 'nobody' | 'client-secret';
  readonly subjectOfUserInfo?: string;
}

export interface HostileProvider {
  readonly issuer: string;
  /** The faults of the next ID tokens. */
  fault: TokenFault;
  /** Answers in place of the provider at these paths; a path without an answer stays open. */
  readonly answers: Map<string, ((response: ServerResponse) => void) | 'none'>;
  /** The ID tokens, access tokens and codes that it issued. */
  readonly issued: string[];
  /** The query with which a browser comes back that was sent to this URL. */
  authorize(url: string): string;
}

/** Starts an OpenID Connect provider for a test file, which does what the tests say. It is right unless a fault is set. */
export async function startHostileProvider(clientSecret: string): Promise<HostileProvider> {
  const keys = await generateKeyPair(signAlgorithm, { extractable: true });
  const server = createServer((request, response) => void serve(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onFileFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const nonces = new Map<string, string>();
  const provider: HostileProvider = {
    ...{ issuer, fault: {}, answers: new Map(), issued: [] },
    authorize: url => {
      const { searchParams: asked } = new URL(url);
      const code = `code-${crypto.randomUUID()}`;
      nonces.set(code, asked.get('nonce') ?? '');
      provider.issued.push(code);
      return `?${new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer })}`;
    },
  };
  const issue = async (request: IncomingMessage) => {
    const form = new URLSearchParams(await text(request));
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims: JWTPayload = {
      ...{ iss: issuer, aud: 'hookmill', sub: 'ada', groups: ['platform'] },
      ...{ nonce: nonces.get(form.get('code') ?? ''), iat: nowSeconds, exp: nowSeconds + 60 },
      ...provider.fault.claims,
    };
    const id_token = await sign(claims, provider.fault.signedBy, keys, clientSecret);
    const access_token = `access-${crypto.randomUUID()}`;
    provider.issued.push(id_token, access_token);
    return { access_token, token_type: 'Bearer', expires_in: 60, id_token };
  };
  const documents: Readonly<Record<string, (request: IncomingMessage) => unknown>> = {
    '/.well-known/openid-configuration': () => ({
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/keys`, userinfo_endpoint: `${issuer}/me` },
      id_token_signing_alg_values_supported: [signAlgorithm],
      ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
    }),
    '/keys': async () => ({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: keyId, use: 'sig' }] }),
    '/token': issue,
    '/me': () => ({ sub: provider.fault.subjectOfUserInfo ?? 'ada', groups: ['platform'] }),
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const answer = provider.answers.get(path);
    if (answer === 'none') return;
    if (answer) return answer(response);
    const document = await documents[path]?.(request);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  };
  return provider;
}

async function sign(
  claims: JWTPayload,
  signedBy: TokenFault['signedBy'],
  { privateKey }: KeyPair,
  clientSecret: string,
): Promise<string> {
  const token = (alg: string) => new SignJWT(claims).setProtectedHeader({ alg, kid: keyId });
  switch (signedBy) {
    case 'another-key':
      return token(signAlgorithm).sign((await generateKeyPair(signAlgorithm)).privateKey);
    case 'client-secret':
      return token('HS256').sign(Buffer.from(clientSecret.padEnd(32, '-')));
    case 'nobody': {
      const [header, payload] = [{ alg: 'none' }, claims].map(part =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      return `${header}.${payload}.`;
    }
    default:
      return token(signAlgorithm).sign(privateKey);
  }
}

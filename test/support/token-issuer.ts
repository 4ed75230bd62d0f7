import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { onFileFinished } from './file-end.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An issuer of OpenID Connect tokens on loopback, which does what the test says. */
export interface TokenIssuer {
  readonly issuer: string;
  /** The settings of a daemon that lets it have its address. */
  readonly settings: { readonly oidc: object };
  /** Answers in place of the issuer at all paths. */
  fault: Answer | undefined;
  /** The paths that were asked for. */
  readonly asked: string[];
  readonly privateKey: CryptoKey;
  readonly keyId: string;
  /** The keys that it shows, as JWKs. */
  keys: object[];
  /** Signs a token: the claims of a correct one, with these in place. A claim that is undefined is left out. */
  sign(claims?: JWTPayload, header?: Partial<JWTHeaderParameters>, key?: CryptoKey): Promise<string>;
  /** Signs with a new key from now on, and shows both or only the new one. */
  rotate(shown: 'both' | 'new', alg?: string): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts an issuer for a test file. `audience` is that of the tokens that it signs. */
export async function startTokenIssuer(given: { readonly alg?: string } = {}): Promise<TokenIssuer> {
  const server = createServer((request, response) => {
    issuer.asked.push(request.url ?? '');
    if (issuer.fault) return issuer.fault(request, response);
    const document = documents[request.url ?? '']?.();
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  let alg = given.alg ?? 'RS256';
  const documents: Readonly<Record<string, () => object>> = {
    '/.well-known/openid-configuration': () => ({ issuer: url, jwks_uri: `${url}/keys` }),
    '/keys': () => ({ keys: issuer.keys }),
  };
  let count = 0;
  const makeKey = async () => {
    const pair = await generateKeyPair(alg, { extractable: true });
    const keyId = `key-${++count}`;
    return { ...pair, keyId, jwk: { ...(await exportJWK(pair.publicKey)), kid: keyId, alg, use: 'sig' } };
  };
  let current = await makeKey();
  const stop = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  onFileFinished(stop);
  const issuer: TokenIssuer = {
    issuer: url,
    settings: { oidc: { issuers: [{ issuer: url }] } },
    fault: undefined,
    asked: [],
    get privateKey() {
      return current.privateKey;
    },
    get keyId() {
      return current.keyId;
    },
    keys: [current.jwk],
    sign: (claims, header, key = current.privateKey) => {
      const now = Math.floor(Date.now() / 1000);
      const correct = { iss: url, sub: 'repo:acme/shop', iat: now, nbf: now, exp: now + 300 };
      const all = { ...correct, repository: 'acme/shop', ...claims };
      const written = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(written).setProtectedHeader({ alg, kid: current.keyId, ...header }).sign(key);
    },
    rotate: async (shown, nextAlg = alg) => {
      const before = current.jwk;
      alg = nextAlg;
      current = await makeKey();
      issuer.keys = shown === 'both' ? [before, current.jwk] : [current.jwk];
    },
    stop,
    start: async () => {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
  };
  return issuer;
}

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { ProviderError } from './provider-client.ts';

/** @limit Life of a token of a GitHub App, in seconds: GitHub refuses more than 600, and its clock may be behind. */
const tokenLifeSeconds = 540;
/** Tokens begin this long ago, so that GitHub takes them if its clock is behind, as its documentation recommends. */
const clockDriftSeconds = 60;

/**
 * Makes a function that signs a token as a GitHub App (RFC 7519, RS256)
 * (docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app,
 * 2026-11-27). `app` is its client ID or application ID, and `privateKey` is PEM: PKCS #1, as GitHub makes it, or PKCS #8.
 * The function fails with ProviderError if the key is none.
 */
export function createAppToken(app: string, privateKey: string, nowMs: () => number): () => string {
  return () => {
    const now = Math.floor(nowMs() / 1_000);
    const claims = { iat: now - clockDriftSeconds, exp: now + tokenLifeSeconds, iss: app };
    const signed = [{ alg: 'RS256', typ: 'JWT' }, claims]
      .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(signed), readKey(privateKey)).toString('base64url');
    return `${signed}.${signature}`;
  };
}

function readKey(privateKey: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(privateKey);
  } catch {
    // Told below, as a key of another kind is. The error could quote the key.
  }
  if (key?.asymmetricKeyType === 'rsa') return key;
  const remedy = 'Use a private key that GitHub made for the app, as a PEM file with RSA PRIVATE KEY';
  throw new ProviderError(
    'refused',
    `The credential of the GitHub App is not an RSA private key. ${remedy}.`,
  );
}

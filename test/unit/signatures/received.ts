import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import file from '../../../docs/corpus/signatures.json' with { type: 'json' };
import type { SignatureDescription, SignatureScheme } from '../../../signatures/description.ts';
import { findScheme } from '../../../signatures/schemes.ts';
import { type RequestToSign, signRequest } from '../../../signatures/sign.ts';
import type { SignedRequest } from '../../../signatures/signed-request.ts';

/** A request that was signed outside of this project, or a modified one that must be refused. */
export interface Vector {
  readonly scheme: string;
  readonly origin: string;
  readonly valid: boolean;
  readonly secret: string;
  readonly method?: string;
  readonly url?: string;
  readonly nowMs?: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export const vectors: readonly Vector[] = file.vectors;

/** The time and the URL of a request that has none of its own. */
export const { nowMs, url } = file.defaults;

/** Headers as node hands them to a server. */
export function received(
  headers: Readonly<Record<string, string | undefined>>,
  body: Uint8Array | string,
  request: Partial<Pick<SignedRequest, 'url' | 'method'>> = {},
): SignedRequest {
  return {
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name.toLowerCase(), [value]]],
      ),
    ),
    body: Buffer.from(body),
    url,
    method: 'POST',
    ...request,
  };
}

export function receivedVector(vector: Vector): SignedRequest {
  const { headers, body, url: signedUrl, method } = vector;
  return received(headers, body, { ...(signedUrl && { url: signedUrl }), ...(method && { method }) });
}

export function getScheme(id: string): SignatureScheme {
  const scheme = findScheme(id);
  if (!scheme) throw new Error(`no scheme ${id}`);
  return scheme;
}

/** A secret that the scheme's provider could have issued, and the secret with which its sender signs. */
export interface Credentials {
  readonly secret: string;
  readonly signingSecret: string;
}

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export function credentialsFor(description: SignatureDescription): Credentials {
  switch (description.primitive) {
    case 'ed25519':
      return {
        secret: spki(ed25519.publicKey).subarray(-32).toString(description.key.encoding),
        signingSecret: pkcs8(ed25519.privateKey),
      };
    case 'ecdsa-p256':
      return {
        secret: spki(p256.publicKey).toString(description.key.encoding),
        signingSecret: pkcs8(p256.privateKey),
      };
    case 'shared-secret':
      return both('a-long-shared-secret');
    case 'hmac': {
      const { stripPrefix = '', encoding = 'utf8' } = description.key ?? {};
      return both(stripPrefix + Buffer.from('0123456789abcdef0123456789abcdef').toString(encoding));
    }
  }
}

/** Makes a request as the scheme's provider would send it. */
export function sent(description: SignatureDescription, request: Partial<RequestToSign> = {}): SignedRequest {
  const toSign = { body: bodyFor(description), url, method: 'POST', nowMs, id: 'evt_1', ...request };
  const headers = signRequest(description, credentialsFor(description).signingSecret, toSign);
  return received(headers, toSign.body, toSign);
}

/** Makes a body, which includes the timestamp and the ID of the event if the scheme reads them there. */
export function bodyFor(
  description: SignatureDescription | SignatureScheme,
  atMs = nowMs,
  text = 'Zoë',
): Buffer {
  if ('bodyFormat' in description) {
    const { payloadField } = description;
    // Letters and digits stand for themselves in a form, whatever is flipped.
    const plain = text.replaceAll(/[^\p{L}\p{N}]/gu, 'x');
    return Buffer.from(payloadField ? `${payloadField}=${JSON.stringify({ text: plain })}` : `text=${plain}`);
  }
  const path = description.primitive === 'hmac' ? description.timestamp?.body : undefined;
  const body = { ...(path && { [path]: atMs }), text };
  if ('bodyIdentity' in description) {
    for (const field of [description.bodyIdentity?.field ?? []].flat())
      setField(body, field, `event ${text}`);
  }
  return Buffer.from(JSON.stringify(body));
}

/** Sets the value at a path such as `$.items[0].id`, and makes the objects and lists on the way. */
export function setField(root: object, path: string, value: unknown): void {
  const steps = path.match(/[\w-]+/g)?.map(step => (/^\d+$/.test(step) ? Number(step) : step)) ?? [];
  let object = root as Record<string | number, unknown>;
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    object[step] = isLast ? value : (object[step] ?? (typeof steps[index + 1] === 'number' ? [] : {}));
    object = object[step] as typeof object;
  }
}

function both(secret: string): Credentials {
  return { secret, signingSecret: secret };
}

function spki(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' });
}

function pkcs8(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

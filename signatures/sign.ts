import { hash, sign } from 'node:crypto';
import { compileContent } from './content.ts';
import type { SignatureDescription, SignedDescription } from './description.ts';
import { deriveKeys, parsePrivateKey, selectForm } from './key.ts';
import { computeHmac, formatSharedSecret, joinContent } from './matcher.ts';
import type { ContentPieces } from './signed-request.ts';
import { formatTimestamp } from './timestamp.ts';

export interface RequestToSign {
  readonly body: Buffer;
  /** The destination URL as its receiver knows it. */
  readonly url: string;
  readonly method: string;
  readonly nowMs: number;
  /** The delivery's ID, for schemes that send one. */
  readonly id: string;
}

/**
 * Makes the headers that the provider would send with a request. For a public-key scheme, `secret` is the private
 * key (see `parsePrivateKey`). Callers write a timestamp in the body themselves. Throws a TypeError for an unusable secret.
 */
export function signRequest(
  scheme: SignatureDescription,
  secret: string,
  request: RequestToSign,
): Record<string, string> {
  const description = selectForm(scheme, secret);
  if (description.primitive === 'shared-secret') {
    return {
      [description.header]: formatSharedSecret(description, secret),
      ...makeHeader(description.deliveryIdHeader, request.id),
    };
  }
  const { header, timestamp, idHeader, deliveryIdHeader, signedHeaders } = description;
  const sentAt = timestamp ? formatTimestamp(request.nowMs, timestamp.unit) : undefined;
  const headers = {
    ...signedHeaders,
    ...makeHeader(timestamp?.header, sentAt),
    ...makeHeader(idHeader, request.id),
    ...makeHeader(deliveryIdHeader, request.id),
  };
  const [content] = compileContent(description.content)(
    { ...request, headers: toReceivedHeaders(headers) },
    { timestamp: sentAt, id: request.id },
  );
  if (!content) throw new TypeError(`the request lacks a part that ${header} signs`);
  const signature = computeSignature(description, secret, content);
  return { ...headers, [header]: formatSignatureHeader(description, signature, sentAt) };
}

/**
 * Returns the URL to which a sender posts a body. One that signs the fields of forms puts the digest of a JSON body there;
 * `json` is undefined for a form.
 */
export function addressBody(
  description: SignatureDescription,
  url: string,
  json: Buffer | undefined,
): string {
  const signsForm =
    description.primitive === 'hmac' &&
    typeof description.content === 'object' &&
    description.content.canonical === 'url-and-form';
  if (!signsForm || !json) return url;
  return `${url}${url.includes('?') ? '&' : '?'}bodySHA256=${hash('sha256', json)}`;
}

function computeSignature(description: SignedDescription, secret: string, content: ContentPieces): string {
  if (description.primitive === 'hmac') {
    const derived = deriveKeys(description, secret);
    if (!derived.ok) throw new TypeError(derived.problem);
    return computeHmac(description, derived.keys[0], content);
  }
  const hash = description.primitive === 'ed25519' ? undefined : 'sha256';
  return sign(hash, joinContent(content), parsePrivateKey(description, secret)).toString(
    description.encoding,
  );
}

function formatSignatureHeader(
  { list, prefix = '', timestamp }: SignedDescription,
  signature: string,
  sentAt: string | undefined,
): string {
  if (!list) return prefix + signature;
  const item = (key = '', value: string) => `${key}${list.keyValueSeparator ?? ''}${value}`;
  const fields = (timestamp?.field ?? timestamp?.item) && sentAt ? [item(timestamp?.field, sentAt)] : [];
  return [...fields, item(list.key, signature)].join(list.separator);
}

function makeHeader(name: string | undefined, value: string | undefined): Record<string, string> {
  return name === undefined || value === undefined ? {} : { [name]: value };
}

function toReceivedHeaders(headers: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
}

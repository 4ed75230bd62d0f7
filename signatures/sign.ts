import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { type ContentPieces, compileContent } from './content.ts';
import type { SignatureDescription, SignedDescription } from './description.ts';
import { deriveKey } from './key.ts';
import { contentBytes, hmacText } from './matcher.ts';
import { sharedSecretText } from './shared-secret.ts';
import { formatTimestamp } from './timestamp.ts';

export interface RequestToSign {
  readonly body: Buffer;
  /** The URL that the request will be sent to, as its receiver knows it. */
  readonly url: string;
  readonly method: string;
  readonly nowMs: number;
  /** The delivery's id, for schemes that send one. */
  readonly id: string;
}

/**
 * The headers that the provider would send with a request. The secret of a public-key scheme is here the private
 * key, as PKCS #8 PEM. A timestamp in the body is the caller's. Throws a TypeError for an unusable secret.
 */
export function signRequest(
  description: SignatureDescription,
  secret: string,
  request: RequestToSign,
): Record<string, string> {
  if (description.primitive === 'shared-secret') {
    return {
      [description.header]: sharedSecretText(description, secret),
      ...named(description.deliveryIdHeader, request.id),
    };
  }
  const { header, timestamp, idHeader, deliveryIdHeader, signedHeaders } = description;
  const sentAt = timestamp ? formatTimestamp(request.nowMs, timestamp.unit) : undefined;
  const headers = {
    ...signedHeaders,
    ...named(timestamp?.header, sentAt),
    ...named(idHeader, request.id),
    ...named(deliveryIdHeader, request.id),
  };
  const content = compileContent(description.content)(
    { ...request, headers: distinct(headers) },
    { timestamp: sentAt, id: request.id },
  );
  if (!content) throw new TypeError(`the request lacks what ${header} signs`);
  return {
    ...headers,
    [header]: headerText(description, signatureText(description, secret, content), sentAt),
  };
}

function signatureText(description: SignedDescription, secret: string, content: ContentPieces): string {
  if (description.primitive === 'hmac') return hmacText(description, hmacKey(description, secret), content);
  const hash = description.primitive === 'ed25519' ? undefined : 'sha256';
  return sign(hash, contentBytes(content), privateKey(secret)).toString(description.encoding);
}

function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new TypeError("the sender's private key is needed, as PKCS #8 PEM", { cause });
  }
}

function hmacKey(description: SignedDescription, secret: string): KeyObject {
  const derived = deriveKey(description, secret);
  if (!derived.ok) throw new TypeError(derived.problem);
  return derived.key;
}

function headerText(description: SignedDescription, signature: string, sentAt: string | undefined): string {
  const { list, prefix = '', timestamp } = description;
  if (!list) return prefix + signature;
  const item = (key: string, value: string) => `${key}${list.keyValueSeparator}${value}`;
  const fields = timestamp?.field && sentAt ? [item(timestamp.field, sentAt)] : [];
  return [...fields, item(list.key, signature)].join(list.separator);
}

function named(header: string | undefined, value: string | undefined): Record<string, string> {
  return header === undefined || value === undefined ? {} : { [header]: value };
}

function distinct(headers: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
}

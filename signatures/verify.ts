import { compileContent } from './content.ts';
import type {
  HeaderNames,
  SharedSecretDescription,
  SignatureDescription,
  SignedDescription,
} from './description.ts';
import { deriveKeys, selectForm } from './key.ts';
import { compileMatcher, compileSharedSecret, type Matcher, type MatchFailure } from './matcher.ts';
import { compileParts, listHeaderSets, type PartsFailure } from './signature-parts.ts';
import {
  type ContentPieces,
  type RequestHeaders,
  readSingleHeader,
  type SignedRequest,
} from './signed-request.ts';
import { checkTimestamp, readBodyTimestamp, type TimestampFailure } from './timestamp.ts';

export type Verification =
  | {
      readonly ok: true;
      readonly deliveryId?: string;
      /** The content that the signature covers; empty for a shared secret, which covers nothing. */
      readonly content: ContentPieces;
    }
  | { readonly ok: false; readonly reason: VerificationFailure };

/** The reason why a request could not be verified. Never contains a secret or an expected signature. */
export type VerificationFailure =
  | { readonly code: 'secret-unusable' }
  | { readonly code: 'content-missing' }
  | PartsFailure
  | TimestampFailure
  | MatchFailure;

export type Verifier = (request: SignedRequest, nowMs: number) => Verification;

/**
 * Compiles a scheme and a secret into a verifier, so that work that does not depend on a request is done once. With
 * a secret that the scheme cannot use (see `checkSecret`), the verifier refuses every request.
 */
export function compileVerifier(scheme: SignatureDescription, secret: string): Verifier {
  const description = selectForm(scheme, secret);
  const derived = deriveKeys(description, secret);
  if (!derived.ok) return () => ({ ok: false, reason: { code: 'secret-unusable' } });
  if (description.primitive === 'shared-secret') return compileSharedSecretVerifier(description, secret);

  const match = compileMatcher(description, derived.keys);
  const attempts = listHeaderSets(description).map(names => ({
    header: names.header,
    verify: compileAttempt(description, names, match),
  }));
  return (request, nowMs) => {
    let reason: VerificationFailure = { code: 'header-missing', header: description.header };
    for (const { header, verify } of attempts) {
      if (request.headers[header] === undefined) continue;
      const result = verify(request, nowMs);
      if (result.ok) return result;
      reason = result.reason;
    }
    return { ok: false, reason };
  };
}

/** Unlike a signature, a shared secret proves nothing about the rest of the request. */
function compileSharedSecretVerifier(description: SharedSecretDescription, secret: string): Verifier {
  const header = description.header.toLowerCase();
  const deliveryIdHeader = description.deliveryIdHeader?.toLowerCase();
  const matches = compileSharedSecret(description, secret);
  return ({ headers }) => {
    const presented = readSingleHeader(headers, header);
    if (typeof presented !== 'string') return { ok: false, reason: presented };
    if (!matches(presented)) return { ok: false, reason: { code: 'signature-mismatch' } };
    return accept(readDeliveryId(headers, deliveryIdHeader), []);
  };
}

/** Verifies with one set of header names: cheap checks first; the body is parsed only after its signature matched. */
function compileAttempt(description: SignedDescription, names: HeaderNames, match: Matcher): Verifier {
  const { timestamp } = description;
  const readParts = compileParts(description, names);
  const readContent = compileContent(description.content);

  return (request, nowMs) => {
    const parts = readParts(request.headers);
    if (!parts.ok) return parts;
    if (timestamp && timestamp.body === undefined) {
      const reason = checkTimestamp(parts.timestamp, timestamp, nowMs);
      if (reason) return { ok: false, reason };
    }

    const [first, ...others] = readContent(request, parts);
    if (!first) return { ok: false, reason: { code: 'content-missing' } };
    const mismatch = match(parts.signatures, first);
    const content = mismatch ? others.find(other => !match(parts.signatures, other)) : first;
    if (!content) return { ok: false, reason: mismatch as MatchFailure };

    if (timestamp?.body !== undefined) {
      const reason = checkTimestamp(readBodyTimestamp(request.body, timestamp.body), timestamp, nowMs);
      if (reason) return { ok: false, reason };
    }
    return accept(
      names.idHeader === undefined ? readDeliveryId(request.headers, names.deliveryIdHeader) : parts.id,
      content,
    );
  };
}

function accept(deliveryId: string | undefined, content: ContentPieces): Verification {
  return deliveryId === undefined ? { ok: true, content } : { ok: true, content, deliveryId };
}

/** Reads the sender's delivery ID, if the header is there exactly once. */
function readDeliveryId(headers: RequestHeaders, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : readSingleHeader(headers, name);
  return typeof value === 'string' ? value : undefined;
}

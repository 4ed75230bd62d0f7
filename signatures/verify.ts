import { compileContent } from './content.ts';
import type { SignatureDescription, SignedDescription } from './description.ts';
import { deriveKey } from './key.ts';
import { compileMatcher, type Matcher } from './matcher.ts';
import { compileSharedSecret } from './shared-secret.ts';
import { compileParts, deliveryId, type HeaderSet, headerSets } from './signed-parts.ts';
import { bodyTimestamp, timestampFailure } from './timestamp.ts';

/** A request as it came. Nothing of it has been decoded, and nothing is by verifying it. */
export interface SignedRequest {
  /** By lower-case name, each occurrence by itself, values in latin1: node's `headersDistinct`. */
  readonly headers: RequestHeaders;
  readonly body: Buffer;
  /** The public URL as the sender addressed it. */
  readonly url: string;
  readonly method: string;
}

export type RequestHeaders = Readonly<Record<string, readonly string[] | undefined>>;

export type Verification =
  | { readonly ok: true; readonly deliveryId?: string }
  | { readonly ok: false; readonly reason: VerificationFailure };

/** Why a request is not its sender's. Never holds a secret or an expected signature. */
export type VerificationFailure =
  | { readonly code: 'secret-unusable' }
  | { readonly code: 'header-missing'; readonly header: string }
  | { readonly code: 'header-repeated'; readonly header: string }
  | { readonly code: 'signature-malformed' }
  | { readonly code: 'signatures-too-many' }
  | { readonly code: 'signature-mismatch' }
  | { readonly code: 'content-missing' }
  | { readonly code: 'timestamp-missing' }
  | { readonly code: 'timestamp-malformed' }
  | { readonly code: 'timestamp-too-old'; readonly seconds: number }
  | { readonly code: 'timestamp-ahead'; readonly seconds: number };

export type Verifier = (request: SignedRequest, nowMs: number) => Verification;

/**
 * Readies a scheme and a secret for requests; what does not depend on a request is done here, once. A secret that
 * the scheme cannot use (see `checkSecret`) makes a verifier that refuses everything.
 */
export function compileVerifier(description: SignatureDescription, secret: string): Verifier {
  const derived = deriveKey(description, secret);
  if (!derived.ok) return () => ({ ok: false, reason: { code: 'secret-unusable' } });
  if (description.primitive === 'shared-secret') return compileSharedSecret(description, secret);

  const match = compileMatcher(description, derived.key);
  const attempts = headerSets(description).map(names => ({
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

/** What is wrong with a secret for this scheme, without its value; undefined if it can verify. */
export function checkSecret(description: SignatureDescription, secret: string): string | undefined {
  const derived = deriveKey(description, secret);
  return derived.ok ? undefined : derived.problem;
}

/** Verification under one set of header names: cheap checks first, the body read only once it is its sender's. */
function compileAttempt(description: SignedDescription, names: HeaderSet, match: Matcher): Verifier {
  const { timestamp } = description;
  const readParts = compileParts(description, names);
  const readContent = compileContent(description.content);

  return (request, nowMs) => {
    const parts = readParts(request.headers);
    if (!parts.ok) return parts;
    if (timestamp && timestamp.body === undefined) {
      const reason = timestampFailure(parts.timestamp, timestamp, nowMs);
      if (reason) return { ok: false, reason };
    }

    const content = readContent(request, parts);
    const mismatch = content ? match(parts.signatures, content) : contentMissing;
    if (mismatch) return { ok: false, reason: mismatch };

    if (timestamp?.body !== undefined) {
      const reason = timestampFailure(bodyTimestamp(request.body, timestamp.body), timestamp, nowMs);
      if (reason) return { ok: false, reason };
    }
    return accept(
      names.idHeader === undefined ? deliveryId(request.headers, names.deliveryIdHeader) : parts.id,
    );
  };
}

const contentMissing: VerificationFailure = { code: 'content-missing' };

function accept(deliveryId: string | undefined): Verification {
  return deliveryId === undefined ? { ok: true } : { ok: true, deliveryId };
}

import {
  type HmacDescription,
  hmacEncodings,
  hmacHashes,
  type SecretEncoding,
  type SignatureDescription,
  type SignatureScheme,
  type SignedDescription,
  secretEncodings,
} from './description.ts';
import { checkSecret } from './key.ts';
import { standardWebhooks } from './schemes/shapes.ts';
import { schemes } from './schemes.ts';
import type { SignedRequest } from './signed-request.ts';
import { compileVerifier, type VerificationFailure } from './verify.ts';

/**
 * Explains a failed verification to the webhook's owner, never to the sender, without the secret or a signature. Tries
 * the usual mistakes one at a time. That computes up to a few dozen signatures of the body, so call it only within the
 * rate limit for failed attempts.
 */
export function explainFailure(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
  nowMs: number,
): string {
  const result = compileVerifier(description, secret)(request, nowMs);
  if (result.ok) return 'the signature matches';
  const { reason } = result;
  if (reason.code === 'secret-unusable') {
    return checkSecret(description, secret) ?? explainReason(reason);
  }
  if (reason.code === 'timestamp-too-old' || reason.code === 'timestamp-ahead') {
    const matches = verifiesAtAnyTime({ description, secret, request });
    return `${explainReason(reason)}; the signature ${matches ? 'itself matches' : 'does not match either'}`;
  }
  for (const trial of generateTrials(description, secret, request)) {
    if (verifiesAtAnyTime(trial)) return `the signature would match ${trial.when}`;
  }
  const [other] = reason.code === 'header-missing' ? findPresentSchemes(request) : [];
  return other
    ? `${explainReason(reason)}; the request has ${other.header}, which signatureScheme: ${other.id} uses`
    : explainReason(reason);
}

interface Attempt {
  readonly description: SignatureDescription;
  readonly secret: string;
  readonly request: SignedRequest;
}

/** An attempt with one possible mistake corrected. */
interface Trial extends Attempt {
  readonly when: string;
}

function* generateTrials(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
): Generator<Trial> {
  const given = { description, secret, request };
  if (secret.trim() !== secret) {
    yield { ...given, secret: secret.trim(), when: 'without the white space around the team secret' };
  }
  if (description.primitive !== 'shared-secret') {
    for (const [body, when] of listOtherBodies(request))
      yield { ...given, request: { ...request, body }, when };
    for (const [url, when] of listOtherUrls(description, request)) {
      yield { ...given, request: { ...request, url }, when };
    }
  }
  if (description.primitive === 'hmac') {
    for (const [form, when] of listOtherForms(description)) yield { ...given, description: form, when };
    for (const [key, when] of listOtherKeys(description, secret)) yield { ...given, ...key, when };
  }
  for (const scheme of findPresentSchemes(request)) {
    yield { ...given, description: scheme, when: `with signatureScheme: ${scheme.id} (${scheme.provider})` };
  }
}

/** Finds the schemes whose signature header the request has. */
function findPresentSchemes({ headers }: SignedRequest): SignatureScheme[] {
  return schemes.filter(scheme => headers[scheme.header.toLowerCase()] !== undefined);
}

function listOtherBodies({ body }: SignedRequest): [body: Buffer, when: string][] {
  const trimmed = Buffer.from(body.toString('latin1').trimEnd(), 'latin1');
  const others: [Buffer, string][] = [
    [trimmed, 'for the body without its trailing white space, which was probably added in transit'],
  ];
  try {
    const serialised = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    others.push([serialised, 'for the same JSON in compact form: the sender or a proxy reformats the body']);
  } catch {
    // The body is not JSON, or is nested too deeply to serialise: no sender signed it in compact form.
  }
  return others;
}

function listOtherUrls(
  { content }: SignedDescription,
  { url }: SignedRequest,
): [url: string, when: string][] {
  if (typeof content === 'string' && !content.includes('{url}')) return [];
  return [
    [url.replace(/^https:/, 'http:'), 'for an http URL: check the base URL'],
    [url.replace(/^http:/, 'https:'), 'for an https URL: check the base URL'],
    [`${url}/`, 'for a URL with a trailing slash: correct the URL at the provider'],
  ];
}

function listOtherForms(description: HmacDescription): [form: HmacDescription, when: string][] {
  const { encoding, hash, prefix } = description;
  const forms: [HmacDescription, string][] = [];
  for (const other of hmacEncodings) {
    if (other === encoding) continue;
    forms.push([{ ...description, encoding: other }, `in ${other} instead of ${encoding}`]);
  }
  for (const other of hmacHashes) {
    if (other === hash) continue;
    const when = `as HMAC-${other.toUpperCase()} instead of HMAC-${hash.toUpperCase()}`;
    forms.push([{ ...description, hash: other }, when]);
  }
  if (prefix) forms.push([{ ...description, prefix: '' }, `without the prefix ${prefix}`]);
  return forms;
}

function listOtherKeys(
  description: HmacDescription,
  secret: string,
): [key: Partial<Attempt>, when: string][] {
  const encoding = description.key?.encoding ?? 'utf8';
  const { stripPrefix } = standardWebhooks.key;
  const keys: [Partial<Attempt>, string][] = [];
  for (const other of secretEncodings) {
    const how = other === 'utf8' ? 'used as is, without decoding' : `decoded from ${other}`;
    if (other !== encoding) {
      keys.push([{ description: withKey(description, other) }, `with the secret ${how}`]);
    }
    if (secret.startsWith(stripPrefix)) {
      const bare = { description: withKey(description, other), secret: secret.slice(stripPrefix.length) };
      keys.push([bare, `with the secret after ${stripPrefix} ${how}`]);
    }
  }
  return keys;
}

function withKey(description: HmacDescription, encoding: SecretEncoding): HmacDescription {
  return { ...description, key: { encoding } };
}

function verifiesAtAnyTime({ description, secret, request }: Attempt): boolean {
  if (description.primitive === 'shared-secret' || !description.timestamp) {
    return compileVerifier(description, secret)(request, 0).ok;
  }
  const timestamp = { ...description.timestamp, toleranceSeconds: Number.POSITIVE_INFINITY };
  return compileVerifier({ ...description, timestamp }, secret)(request, 0).ok;
}

function explainReason(reason: VerificationFailure): string {
  switch (reason.code) {
    case 'secret-unusable':
      return 'the signature scheme cannot use this secret';
    case 'header-missing':
      return `the header ${reason.header} is missing: the sender does not sign, or has no secret configured`;
    case 'header-repeated':
      return `the header ${reason.header} was sent more than once`;
    case 'signature-malformed':
      return "the signature header does not have the scheme's format";
    case 'signatures-too-many':
      return 'the signature header has too many items';
    case 'signature-mismatch':
      return 'the signature does not match: wrong secret, or the body was modified in transit';
    case 'content-missing':
      return 'the signature does not cover the required headers, or a header that it covers is missing';
    case 'timestamp-missing':
      return 'the signature has no timestamp';
    case 'timestamp-malformed':
      return "the timestamp does not have the scheme's format";
    case 'timestamp-too-old':
      return `the timestamp is ${reason.seconds} s old: a replay, a late retry or a wrong clock`;
    case 'timestamp-ahead':
      return `the timestamp is ${reason.seconds} s in the future: check both clocks`;
  }
}

import { describeFailure } from './describe-failure.ts';
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
import type { Explanation } from './explanation.ts';
import { checkSecret } from './key.ts';
import { isWellFormed } from './matcher.ts';
import { standardWebhooks } from './schemes/shapes.ts';
import { schemes } from './schemes.ts';
import { compileParts, listHeaderSets } from './signature-parts.ts';
import type { SignedRequest } from './signed-request.ts';
import { compileVerifier, type VerificationFailure } from './verify.ts';

/** Schemes whose signatures have one form, so that no request can tell them apart. */
type SchemeForm = readonly [SignatureScheme, ...SignatureScheme[]];

/** All schemes, grouped by form. */
const schemeForms: readonly SchemeForm[] = [...Map.groupBy(schemes, describeForm).values()].flatMap(
  ([first, ...others]) => (first ? [[first, ...others] as const] : []),
);

/** @limit Most bytes that one explanation hashes (1 MiB), which takes 2 ms: all trials for a body of 40 KiB, or four for the largest one. */
const explainedBytesMax = 1024 * 1024;
/** @limit Bytes that each trial counts besides its content (8 KiB): its key and verifier take as long to make. */
const trialBytes = 8 * 1024;
/** @limit Largest body that an explanation writes in compact form, in bytes (64 KiB): a larger one could take over 2 ms. */
const compactedBytesMax = 64 * 1024;

/**
 * Explains a failed verification to the webhook's owner, never to the sender, without the secret or a signature. Tries
 * the usual mistakes one at a time, for a few ms at most; a larger body is tried with fewer of them.
 */
export function explainFailure(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
  reason: VerificationFailure,
): Explanation {
  const described = describeFailure(reason);
  if (reason.code === 'secret-unusable') {
    return { ...described, cause: checkSecret(description, secret) ?? described.cause };
  }
  const verifies = createTrialBudget();
  if (reason.code === 'timestamp-too-old' || reason.code === 'timestamp-ahead') {
    const matches = verifies({ description, secret, request });
    const verdict = matches ? 'itself matches' : 'does not match either';
    const { remedy } = matches ? described : describeFailure({ code: 'signature-mismatch' });
    return { cause: `${described.cause}; the signature ${verdict}`, remedy };
  }
  for (const trial of generateTrials(description, secret, request)) {
    if (verifies(trial)) return { cause: `the signature would match ${trial.when}`, remedy: trial.remedy };
  }
  const present = findPresentForms(request);
  const matching = present.filter(([scheme]) => verifies({ description: scheme, secret, request }));
  if (matching.length > 0) {
    const name = nameSchemes(matching.flat());
    return { cause: `the signature would match with ${name}`, remedy: `Write ${name} into its file` };
  }
  if (reason.code !== 'header-missing') return described;
  const other = explainOtherHeaders(description, request, present.flat());
  return other ? { ...other, cause: `${described.cause}; ${other.cause}` } : described;
}

/** Makes a function that tries an attempt as long as the explanation may hash more bytes; false after that. */
function createTrialBudget(): (attempt: Attempt) => boolean {
  let bytesLeft = explainedBytesMax;
  return attempt => {
    bytesLeft -= attempt.request.body.length + trialBytes;
    return bytesLeft >= 0 && verifiesAtAnyTime(attempt);
  };
}

function explainOtherHeaders(
  description: SignatureDescription,
  request: SignedRequest,
  present: readonly SignatureScheme[],
): Explanation | undefined {
  const older = description.primitive === 'hmac' ? description.older : undefined;
  if (older && request.headers[older.header.toLowerCase()]?.[0]?.startsWith(older.prefix)) {
    return {
      cause: `the request has ${older.header}, the sender's older signature, which is not accepted`,
      remedy: `Let the sender send ${description.header}`,
    };
  }
  // Many senders without a signature use this header too.
  const telling = present.filter(({ header }) => header !== 'Authorization');
  if (telling.length === 0) return undefined;
  const headers = [...new Set(telling.map(({ header }) => header))].join(' and ');
  const name = nameSchemes(telling);
  return {
    cause: `the request has ${headers}, as with ${name}`,
    remedy: `If it is this sender, write ${name} into its file`,
  };
}

/** @limit Most signature schemes that an explanation names: with more, the first one stands for all that sign alike. */
const namedSchemesMax = 5;

/** Names all schemes that a request fits, because nothing shows which provider sent it. */
function nameSchemes(schemes: readonly SignatureScheme[]): string {
  const [first] = schemes;
  if (schemes.length === 1) return `signatureScheme: ${first?.id} (${first?.provider})`;
  if (schemes.length > namedSchemesMax) return `signatureScheme: ${first?.id}, or another that signs alike`;
  const ids = schemes.map(({ id }) => id);
  return `signatureScheme: ${ids.slice(0, -1).join(', ')} or ${ids.at(-1)}`;
}

interface Attempt {
  readonly description: SignatureDescription;
  readonly secret: string;
  readonly request: SignedRequest;
}

/** An attempt with one possible mistake corrected. */
interface Trial extends Attempt {
  readonly when: string;
  readonly remedy: string;
}

type Other<T> = readonly [other: T, when: string, remedy: string];

function* generateTrials(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
): Generator<Trial> {
  const given = { description, secret, request };
  if (secret.trim() !== secret) {
    const when = 'without the white space around the team secret';
    yield {
      ...given,
      secret: secret.trim(),
      when,
      remedy: 'Store the team secret again, without the white space',
    };
  }
  if (description.primitive !== 'shared-secret') {
    for (const [body, when, remedy] of listOtherBodies(request))
      yield { ...given, request: { ...request, body }, when, remedy };
    for (const [url, when, remedy] of listOtherUrls(description, request)) {
      yield { ...given, request: { ...request, url }, when, remedy };
    }
  }
  if (description.primitive === 'hmac') {
    if (description.older) {
      const { header, hash } = description.older;
      const when = `as HMAC-${hash.toUpperCase()} in ${header}, the sender's older signature; hookmill requires ${description.header}`;
      const remedy = `Let the sender send ${description.header}`;
      yield { ...given, description: { ...description, ...description.older }, when, remedy };
    }
    for (const [form, when] of listOtherForms(description))
      yield { ...given, description: form, when, remedy: otherForm };
    for (const [key, when] of listOtherKeys(description, secret))
      yield { ...given, ...key, when, remedy: otherKey };
  }
}

/** Finds the schemes whose signature the request seems to have, grouped by form. */
function findPresentForms({ headers }: SignedRequest): SchemeForm[] {
  return schemeForms.filter(([scheme]) => {
    const header = headers[scheme.header.toLowerCase()]?.[0];
    if (header === undefined) return false;
    if (scheme.primitive === 'shared-secret') return header.startsWith(scheme.prefix ?? '');
    return listHeaderSets(scheme)
      .slice(0, 1)
      .map(names => compileParts(scheme, names)(headers))
      .some(parts => parts.ok && parts.signatures.some(signature => isWellFormed(scheme, signature)));
  });
}

const otherForm =
  'Choose the `signatureScheme` that signs like this, or describe how the sender signs in its place';
const otherKey =
  'Store the team secret as the sender shows it, or choose the `signatureScheme` that decodes it like this';

function listOtherBodies({ body }: SignedRequest): Other<Buffer>[] {
  const others: Other<Buffer | undefined>[] = [
    [
      trimEnd(body),
      'for the body without its trailing white space, which was probably added in transit',
      'Let no proxy add to the body',
    ],
    [
      compact(body),
      'for the same JSON in compact form: the sender or a proxy reformats the body',
      'Let neither a proxy nor the sender reformat the body once it is signed',
    ],
  ];
  return others.flatMap(([other, ...rest]) => (other && !other.equals(body) ? [[other, ...rest]] : []));
}

function trimEnd(body: Buffer): Buffer {
  return body.subarray(0, body.toString('latin1').trimEnd().length);
}

// A string, whether or not it ends, or white space outside of strings. It takes linear time on any text.
const stringOrSpace = /("[^"\\]*(?:\\.[^"\\]*)*"?)|[ \t\r\n]+/gs;

/** Removes the white space between the tokens of JSON. Nothing is parsed, because the sender is a stranger. */
function compact(body: Buffer): Buffer | undefined {
  if (body.length > compactedBytesMax) return undefined;
  return Buffer.from(body.toString('latin1').replace(stringOrSpace, '$1'), 'latin1');
}

const baseUrl = 'Set `baseUrl` to the URL that the sender posts to, in the settings of the daemon';

function listOtherUrls({ content }: SignedDescription, { url }: SignedRequest): Other<string>[] {
  if (typeof content === 'string' && !content.includes('{url}')) return [];
  return [
    [url.replace(/^https:/, 'http:'), 'for an http URL: check the base URL', baseUrl],
    [url.replace(/^http:/, 'https:'), 'for an https URL: check the base URL', baseUrl],
    [
      `${url}/`,
      'for a URL with a trailing slash: correct the URL at the provider',
      'Remove the slash at the end of the URL at the sender',
    ],
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

/** Describes everything that decides whether a signature matches. */
function describeForm(scheme: SignatureScheme): string {
  const {
    id,
    provider,
    kind,
    page,
    secretLocation,
    secretCommand,
    note,
    noIdentity,
    bodyIdentity,
    success,
    retries,
    eventHeaders,
    checked,
    ...description
  } = scheme;
  const { handshake, deliveryIdHeader, bodyFormat, payloadField, ...form } = description;
  return JSON.stringify(Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1)));
}

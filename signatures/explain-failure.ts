import type {
  HmacDescription,
  SignatureDescription,
  SignatureScheme,
  SignedDescription,
} from './description.ts';
import { schemes } from './schemes.ts';
import { checkSecret, compileVerifier, type SignedRequest, type VerificationFailure } from './verify.ts';

/**
 * Why a signature fails, for the webhook's owner and never for the sender. Holds neither the secret nor a signature.
 * Tries the usual mistakes, one at a time: a few dozen signatures of the body at most, so it belongs behind the budget
 * of failed attempts.
 */
export function diagnoseSignature(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
  nowMs: number,
): string {
  const result = compileVerifier(description, secret)(request, nowMs);
  if (result.ok) return 'the signature matches';
  const { reason } = result;
  if (reason.code === 'secret-unusable') {
    return checkSecret(description, secret) ?? 'the secret cannot be used';
  }
  if (reason.code === 'timestamp-too-old' || reason.code === 'timestamp-ahead') {
    const matches = verifies({ description, secret, request });
    return `${explain(reason)}; the signature itself ${matches ? 'matches' : 'does not match either'}`;
  }
  for (const trial of trials(description, secret, request)) {
    if (verifies(trial)) return `the signature would match ${trial.when}`;
  }
  const [other] = reason.code === 'header-missing' ? schemesOf(request) : [];
  return other
    ? `${explain(reason)}; it has ${other.header}, as signatureScheme: ${other.id}`
    : explain(reason);
}

interface Attempt {
  readonly description: SignatureDescription;
  readonly secret: string;
  readonly request: SignedRequest;
}

/** One mistake undone. */
interface Trial extends Attempt {
  readonly when: string;
}

function* trials(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
): Generator<Trial> {
  const given = { description, secret, request };
  if (secret.trim() !== secret) {
    yield { ...given, secret: secret.trim(), when: "without the white space at the secret's ends" };
  }
  if (description.primitive !== 'shared-secret') {
    yield* otherBodies(request).map(([body, when]) => ({ ...given, request: { ...request, body }, when }));
    yield* otherUrls(description, request).map(([url, when]) => ({
      ...given,
      request: { ...request, url },
      when,
    }));
  }
  if (description.primitive === 'hmac') {
    yield* otherForms(description).map(([form, when]) => ({ ...given, description: form, when }));
    yield* otherKeys(description, secret).map(([other, when]) => ({ ...given, ...other, when }));
  }
  for (const scheme of schemesOf(request)) {
    yield { ...given, description: scheme, when: `under signatureScheme: ${scheme.id} (${scheme.provider})` };
  }
}

/** The schemes whose header the request has. */
function schemesOf({ headers }: SignedRequest): SignatureScheme[] {
  return schemes.filter(scheme => headers[scheme.header.toLowerCase()] !== undefined);
}

function otherBodies({ body }: SignedRequest): [body: Buffer, when: string][] {
  const trimmed = Buffer.from(body.toString('latin1').trimEnd(), 'latin1');
  const others: [Buffer, string][] = [
    [trimmed, 'over the body without the white space at its end: something on the way adds it'],
  ];
  try {
    const serialised = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    others.push([
      serialised,
      'over the JSON written anew: the sender, or something on the way, rewrites the body',
    ]);
  } catch {
    // Not JSON, or nested too deep to write: then nobody signed it written anew.
  }
  return others;
}

function otherUrls({ content }: SignedDescription, { url }: SignedRequest): [url: string, when: string][] {
  if (typeof content === 'string' && !content.includes('{url}')) return [];
  return [
    [url.replace(/^https:/, 'http:'), 'for a URL that begins with http: check the base URL'],
    [url.replace(/^http:/, 'https:'), 'for a URL that begins with https: check the base URL'],
    [`${url}/`, 'for a URL that ends with a slash: the provider has another URL on file'],
  ];
}

function otherForms(description: HmacDescription): [form: HmacDescription, when: string][] {
  const { encoding, hash, prefix } = description;
  const forms: [HmacDescription, string][] = [];
  for (const other of ['hex', 'base64', 'base64url'] as const) {
    if (other !== encoding) forms.push([{ ...description, encoding: other }, `in ${other}, not ${encoding}`]);
  }
  for (const other of ['sha1', 'sha256', 'sha512'] as const) {
    if (other !== hash) forms.push([{ ...description, hash: other }, `as HMAC-${other.toUpperCase()}`]);
  }
  if (prefix) forms.push([{ ...description, prefix: '' }, `without the prefix ${prefix}`]);
  return forms;
}

function otherKeys(description: HmacDescription, secret: string): [other: Partial<Attempt>, when: string][] {
  const encoding = description.key?.encoding ?? 'utf8';
  const whsec = secret.startsWith('whsec_');
  const keys: [Partial<Attempt>, string][] = [];
  for (const other of ['utf8', 'base64', 'hex'] as const) {
    const how = other === 'utf8' ? 'taken as it stands, not decoded' : `decoded from ${other}`;
    if (other !== encoding)
      keys.push([{ description: withKey(description, other) }, `with the secret ${how}`]);
    if (whsec) {
      const bare = { description: withKey(description, other), secret: secret.slice('whsec_'.length) };
      keys.push([bare, `with the secret less its whsec_, ${how}`]);
    }
  }
  return keys;
}

function withKey(description: HmacDescription, encoding: 'utf8' | 'base64' | 'hex'): HmacDescription {
  return { ...description, key: { encoding } };
}

/** Whether an attempt verifies at any time. */
function verifies({ description, secret, request }: Attempt): boolean {
  if (description.primitive === 'shared-secret' || !description.timestamp) {
    return compileVerifier(description, secret)(request, 0).ok;
  }
  const timestamp = { ...description.timestamp, toleranceSeconds: Number.POSITIVE_INFINITY };
  return compileVerifier({ ...description, timestamp }, secret)(request, 0).ok;
}

function explain(reason: VerificationFailure): string {
  switch (reason.code) {
    case 'secret-unusable':
      return 'the secret cannot be used';
    case 'header-missing':
      return `the header ${reason.header} is missing: the sender does not sign, or has no secret set`;
    case 'header-repeated':
      return `the header ${reason.header} stands there more than once`;
    case 'signature-malformed':
      return "the signature header does not have the scheme's form";
    case 'signatures-too-many':
      return 'the signature header holds too many signatures';
    case 'signature-mismatch':
      return 'the signature does not match: the secret is another, or the body was changed on the way';
    case 'content-missing':
      return 'the request lacks what the scheme signs';
    case 'timestamp-missing':
      return 'the signature has no timestamp';
    case 'timestamp-malformed':
      return "the timestamp is not of the scheme's form";
    case 'timestamp-too-old':
      return `the timestamp is ${reason.seconds} s old: a replay, a late retry, or a clock that differs`;
    case 'timestamp-ahead':
      return `the timestamp is ${reason.seconds} s ahead: a clock differs`;
  }
}

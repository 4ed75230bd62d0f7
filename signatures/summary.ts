import { describeCapturedRequest } from './captured-request.ts';
import type { KeyDerivation, SignatureDescription, SignatureScheme } from './description.ts';
import { getHandshakeMethod } from './handshake.ts';

export interface SummaryLine {
  readonly label: string;
  readonly text: string;
}

/** Summarises a scheme for an engineer who sets it up, in plain text. */
export function summariseScheme(scheme: SignatureScheme): readonly SummaryLine[] {
  return [
    makeLine('Header', formatHeaders(scheme)),
    makeLine('Algorithm', formatAlgorithm(scheme)),
    makeLine('Signature', formatSignature(scheme)),
    makeLine('Signed content', formatContent(scheme)),
    makeLine('Timestamp', formatTimestampPlace(scheme)),
    makeLine('Replay window', formatReplayWindow(scheme)),
    makeLine('Delivery identity', formatIdentity(scheme)),
    makeLine('Why this identity', formatIdentityReason(scheme)),
    makeLine('Answer', formatSuccess(scheme)),
    makeLine('Retries', formatRetries(scheme)),
    makeLine('Event headers', scheme.eventHeaders?.join(', ')),
    makeLine('Captured request', describeCapturedRequest(scheme)),
    makeLine('Secret', scheme.secretLocation),
    makeLine('Key', formatKey(scheme)),
    makeLine('Handshake', formatHandshake(scheme)),
    makeLine('Body', formatBody(scheme)),
    makeLine('Note', scheme.note),
    makeLine('Page', scheme.page),
    makeLine('Last checked', `${scheme.checked.on}, against ${scheme.checked.against}`),
  ].flatMap(found => found ?? []);
}

export function formatAlgorithm(description: SignatureDescription): string {
  switch (description.primitive) {
    case 'hmac':
      return `HMAC-${description.hash.toUpperCase()}`;
    case 'ed25519':
      return 'Ed25519';
    case 'ecdsa-p256':
      return 'ECDSA P-256';
    case 'shared-secret':
      return 'none (shared secret)';
  }
}

/** Formats the largest age of a signed timestamp. */
export function formatReplayWindow(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret' || !description.timestamp) return 'none';
  const { toleranceSeconds } = description.timestamp;
  return toleranceSeconds === undefined ? 'none' : `${toleranceSeconds} s`;
}

/** Names the value by which a retry is recognised. */
export function formatIdentity(scheme: SignatureScheme): string {
  const idHeader = scheme.primitive === 'shared-secret' ? undefined : scheme.idHeader;
  if (idHeader !== undefined) return `${idHeader} (signed)`;
  if (scheme.deliveryIdHeader !== undefined) return `${scheme.deliveryIdHeader} (not signed)`;
  const { field, hashWithout } = scheme.bodyIdentity ?? {};
  if (field !== undefined) return `${[field].flat().join(' with ')} in the body`;
  return hashWithout === undefined ? 'a hash of the body' : `a hash of the body without ${hashWithout}`;
}

/** Says why a retry is recognised by the body, and not by a header that seems to be an ID. */
function formatIdentityReason({ noIdentity, bodyIdentity }: SignatureScheme): string | undefined {
  if (!bodyIdentity) return noIdentity;
  const { reason, source } = bodyIdentity;
  return `${noIdentity ? `${noIdentity}; ` : ''}${reason} (${source.join(', ')})`;
}

/** Names of one header that are listed; more are numbered. */
const namesMax = 4;

function formatHeaders(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret') return description.header;
  const names = [description.header, ...(description.alternatives ?? []).map(({ header }) => header)];
  return names.length <= namesMax ? names.join(' or ') : `${names[0]} to ${names.at(-1)}`;
}

function formatSignature(description: SignatureDescription): string {
  const { prefix = '', encoding } = description;
  if (description.primitive === 'shared-secret') {
    return `${prefix}<the secret${encoding === 'base64' ? ' in base64' : ''}>`;
  }
  const { list, timestamp } = description;
  const value = `<${encoding}>`;
  if (!list) return `${prefix}${value}`;
  const { key = '', keyValueSeparator = '', separator } = list;
  const field = timestamp?.field ?? (timestamp?.item && '');
  const timestampItem = field === undefined ? [] : [`${field}${keyValueSeparator}<timestamp>`];
  const signatures = `${key}${keyValueSeparator}${value}`;
  // Without a key, the form does not show that there may be several.
  return [...timestampItem, list.key ? signatures : `${signatures}[${separator}${value}…]`].join(separator);
}

const canonicalContents = {
  contentful: 'method, path, the headers that a header lists, and the body',
  'url-and-form':
    'the URL, then the name and value of each form field, by name; of a JSON body, its SHA-256 in the URL',
} as const;

function formatContent(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret') return 'nothing';
  const { content, idHeader } = description;
  if (typeof content !== 'string') return canonicalContents[content.canonical];
  return idHeader ? content.replace('{id}', `{${idHeader}}`) : content;
}

const units = {
  s: 'seconds',
  ms: 'milliseconds',
  iso8601: 'ISO 8601',
  'iso8601-utc': 'ISO 8601 (UTC, without a zone)',
} as const;

function formatTimestampPlace(description: SignatureDescription): string | undefined {
  if (description.primitive === 'shared-secret' || !description.timestamp) return undefined;
  const { header, field, item, body, unit } = description.timestamp;
  const place = header ?? (body ? `${body} in the body` : item ? `the ${item} item` : `field ${field}`);
  return `${place}, in ${units[unit]}`;
}

function formatKey(description: SignatureDescription): string | undefined {
  if (description.primitive === 'shared-secret') return undefined;
  if (description.primitive !== 'hmac') return `the provider's public key, in ${description.key.encoding}`;
  const derivations = [description.key ?? utf8Key, ...(description.otherKeys ?? [])];
  const { asymmetric } = description;
  return [
    ...derivations.map(formatKeyDerivation),
    ...(asymmetric ? [`the sender's public key (Ed25519), after ${asymmetric.key.publicPrefix}`] : []),
  ].join(', or ');
}

const utf8Key: KeyDerivation = { encoding: 'utf8' };

function formatKeyDerivation({ stripPrefix, unicodeForm, encoding }: KeyDerivation): string {
  if (encoding === 'utf8') return `the secret's UTF-8 bytes${unicodeForm ? `, after ${unicodeForm}` : ''}`;
  return `the secret${stripPrefix ? ` after ${stripPrefix}` : ''}, decoded from ${encoding}`;
}

function formatBody({ bodyFormat, payloadField }: SignatureScheme): string | undefined {
  if (bodyFormat === undefined) return undefined;
  return payloadField === undefined
    ? 'a form'
    : `a form; the payload is the JSON in its field ${payloadField}`;
}

function formatRetries({ retries }: SignatureScheme): string {
  if (!retries) return "see the provider's documentation";
  return `${retries.text} (${retries.source.join(', ')})`;
}

function formatSuccess({ success }: SignatureScheme): string | undefined {
  return (
    success &&
    `${success.status}${success.isEmpty ? ' with an empty body' : ''}, because ${success.reason} (${success.source.join(', ')})`
  );
}

function formatHandshake(scheme: SignatureScheme): string | undefined {
  const method = getHandshakeMethod(scheme);
  return method && `the provider sends a ${method} request before it delivers; hookmill answers it`;
}

function makeLine(label: string, text: string | undefined): SummaryLine | undefined {
  return text === undefined ? undefined : { label, text };
}

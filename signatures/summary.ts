import type { KeyDerivation, SignatureDescription, SignatureScheme } from './description.ts';
import { hasGetHandshake } from './handshake.ts';

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
    makeLine('Secret', scheme.secretLocation),
    makeLine('Key', formatKey(scheme)),
    makeLine('Handshake', formatHandshake(scheme)),
    makeLine('Note', scheme.note),
    makeLine('Page', scheme.page),
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
export function formatIdentity(description: SignatureDescription): string {
  const idHeader = description.primitive === 'shared-secret' ? undefined : description.idHeader;
  return idHeader ?? description.deliveryIdHeader ?? 'a hash of the body';
}

function formatHeaders(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret') return description.header;
  const names = [description.header, ...(description.alternatives ?? []).map(({ header }) => header)];
  return names.join(' or ');
}

function formatSignature(description: SignatureDescription): string {
  const { prefix = '', encoding } = description;
  if (description.primitive === 'shared-secret') {
    return `${prefix}<the secret${encoding === 'base64' ? ' in base64' : ''}>`;
  }
  const { list, timestamp } = description;
  const value = `<${encoding}>`;
  const form = list ? `${list.key}${list.keyValueSeparator}${value}` : `${prefix}${value}`;
  const field = list && timestamp?.field ? `${timestamp.field}${list.keyValueSeparator}<timestamp>` : '';
  return [field, form].filter(Boolean).join(list?.separator);
}

function formatContent(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret') return 'nothing';
  const { content, idHeader } = description;
  if (typeof content !== 'string') return 'method, path, the headers that a header lists, and the body';
  return idHeader ? content.replace('{id}', `{${idHeader}}`) : content;
}

const units = { s: 'seconds', ms: 'milliseconds', iso8601: 'ISO 8601' } as const;

function formatTimestampPlace(description: SignatureDescription): string | undefined {
  if (description.primitive === 'shared-secret' || !description.timestamp) return undefined;
  const { header, field, body, unit } = description.timestamp;
  const place = header ?? (body === undefined ? `field ${field}` : `${body} in the body`);
  return `${place}, in ${units[unit]}`;
}

function formatKey(description: SignatureDescription): string | undefined {
  if (description.primitive === 'shared-secret') return undefined;
  if (description.primitive !== 'hmac') return `the provider's public key, in ${description.key.encoding}`;
  return formatKeyDerivation(description.key ?? { encoding: 'utf8' });
}

function formatKeyDerivation({ stripPrefix, encoding }: KeyDerivation): string {
  if (encoding === 'utf8') return "the secret's UTF-8 bytes";
  return `the secret${stripPrefix ? ` after ${stripPrefix}` : ''}, decoded from ${encoding}`;
}

function formatHandshake(scheme: SignatureScheme): string | undefined {
  if (!scheme.handshake) return undefined;
  const method = hasGetHandshake(scheme) ? 'GET' : 'POST';
  return `the provider sends a ${method} request before it delivers; hookmill answers it`;
}

function makeLine(label: string, text: string | undefined): SummaryLine | undefined {
  return text === undefined ? undefined : { label, text };
}

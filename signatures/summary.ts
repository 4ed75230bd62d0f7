import type { KeyDerivation, SignatureDescription, SignatureScheme } from './description.ts';
import { hasGetHandshake } from './handshake.ts';

export interface SummaryLine {
  readonly label: string;
  readonly text: string;
}

/** What an engineer asks about a scheme, in plain text, in the order of asking. */
export function summarise(scheme: SignatureScheme): readonly SummaryLine[] {
  return [
    line('Header', headers(scheme)),
    line('Algorithm', algorithm(scheme)),
    line('Signature', signature(scheme)),
    line('Signed content', signedContent(scheme)),
    line('Timestamp', timestamp(scheme)),
    line('Replay window', replayWindow(scheme)),
    line('Delivery identity', identity(scheme)),
    line('Secret', scheme.secretLocation),
    line('Key', key(scheme)),
    line('Handshake', handshake(scheme)),
    line('Note', scheme.note),
    line('Page', scheme.page),
  ].flatMap(found => found ?? []);
}

/** The algorithm in a word. */
export function algorithm(description: SignatureDescription): string {
  switch (description.primitive) {
    case 'hmac':
      return `HMAC-${description.hash.toUpperCase()}`;
    case 'ed25519':
      return 'Ed25519';
    case 'ecdsa-p256':
      return 'ECDSA P-256';
    case 'shared-secret':
      return 'none: the secret itself';
  }
}

/** How long a signed timestamp is accepted. */
export function replayWindow(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret' || !description.timestamp) return 'none';
  const { toleranceSeconds } = description.timestamp;
  return toleranceSeconds === undefined ? 'none' : `${toleranceSeconds} s`;
}

/** What tells a retry from a new delivery. */
export function identity(description: SignatureDescription): string {
  const idHeader = description.primitive === 'shared-secret' ? undefined : description.idHeader;
  return idHeader ?? description.deliveryIdHeader ?? 'a hash of the body';
}

function headers(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret') return description.header;
  const names = [description.header, ...(description.alternatives ?? []).map(({ header }) => header)];
  return names.join(' or ');
}

function signature(description: SignatureDescription): string {
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

function signedContent(description: SignatureDescription): string {
  if (description.primitive === 'shared-secret') return 'nothing';
  const { content, idHeader } = description;
  if (typeof content !== 'string') return 'method, path, the headers that a header names, and the body';
  return idHeader ? content.replace('{id}', `{${idHeader}}`) : content;
}

const units = { s: 'seconds', ms: 'milliseconds', iso8601: 'ISO 8601' } as const;

function timestamp(description: SignatureDescription): string | undefined {
  if (description.primitive === 'shared-secret' || !description.timestamp) return undefined;
  const { header, field, body, unit } = description.timestamp;
  const place = header ?? (body === undefined ? `the field ${field}` : `${body} in the body`);
  return `${place}, in ${units[unit]}`;
}

function key(description: SignatureDescription): string | undefined {
  if (description.primitive === 'shared-secret') return undefined;
  if (description.primitive !== 'hmac') return `the provider's public key, in ${description.key.encoding}`;
  return keyDerivation(description.key ?? { encoding: 'utf8' });
}

function keyDerivation({ stripPrefix, encoding }: KeyDerivation): string {
  if (encoding === 'utf8') return 'the secret as it stands';
  return `the secret${stripPrefix ? ` less ${stripPrefix}` : ''}, decoded from ${encoding}`;
}

function handshake(scheme: SignatureScheme): string | undefined {
  if (!scheme.handshake) return undefined;
  const method = hasGetHandshake(scheme) ? 'GET' : 'POST';
  return `the provider asks by ${method} before it delivers; hookmill answers`;
}

function line(label: string, text: string | undefined): SummaryLine | undefined {
  return text === undefined ? undefined : { label, text };
}

import { hash } from 'node:crypto';
import { createTextFinder } from '../json/find-json-text.ts';
import { findScheme } from '../signatures/schemes.ts';
import type { SchemeReference } from './definitions/custom-scheme.ts';
import type { WebhookKeys } from './definitions/webhook-definition.ts';
import type { IdentitySource } from './delivery.ts';
import { parseFieldPath, readField } from './field-path.ts';
import { decodeHeaderValue, readHeaderValue, type SentHeaders } from './header-value.ts';
import { parseDurationMs } from './time-units.ts';

/** @limit Longest delivery identity kept as it is, in bytes; a longer one is stored as its hash. */
const identityBytesMax = 256;

export interface Identity {
  /** Absent with the source `none`: the delivery is its own. */
  readonly identity?: string;
  readonly identitySource: IdentitySource;
  /** The time for which another delivery with this identity is the same one, in ms; absent: as long as the log keeps it. */
  readonly sameForMs?: number;
  /**
   * The hash of the body, if the identity comes from the content. A delivery that was logged before anybody named the
   * field has it as its identity, and a body has one identity only, so this is a duplicate of it.
   */
  readonly bodyIdentity?: string;
}

/** The keys of a webhook that decide how its deliveries are identified. */
export interface IdentifiedWebhook {
  readonly signatureScheme?: SchemeReference | undefined;
  readonly deliveryIdHeader?: string | undefined;
  readonly deliveryIdField?: string | readonly string[] | undefined;
  readonly identity?: WebhookKeys['identity'];
}

export interface IdentifiedRequest {
  readonly headers: SentHeaders;
  readonly body: Uint8Array;
  /** The parsed body. */
  readonly payload: unknown;
  /** Returns the JSON text of the payload, in which numbers have all their digits. */
  readonly toJson: () => string;
  /** The ID in the header of the signature scheme. */
  readonly schemeDeliveryId: string | undefined;
}

/**
 * Compiles how the deliveries of a webhook are identified: those with equal identities from the same source are
 * duplicates. In order of preference: the header or field that the webhook names, the header of its signature scheme,
 * the scheme's field, `X-Service-Delivery-Id`, a hash of the body, unless the webhook says otherwise. A blank or missing ID
 * is passed over. The scheme's field is signed, so it stands before a header that anybody can set.
 */
export function compileIdentity(webhook: IdentifiedWebhook): (request: IdentifiedRequest) => Identity {
  const { signatureScheme, deliveryIdHeader } = webhook;
  const header = deliveryIdHeader?.toLowerCase();
  const readOwnField = compileField(webhook.deliveryIdField);
  const { field, hashWithout } = findScheme(signatureScheme)?.bodyIdentity ?? {};
  const readSchemeField = compileField(field);
  const ofBody = compileBodyIdentity(webhook.identity, hashWithout);
  return ({ headers, body, payload, toJson, schemeDeliveryId }) =>
    ofHeader(header && readHeaderValue(headers, header), 'deliveryIdHeader') ??
    ofContent(readOwnField?.(payload, toJson), 'deliveryIdField', body) ??
    ofHeader(schemeDeliveryId, 'scheme') ??
    ofContent(readSchemeField?.(payload, toJson), 'schemeField', body) ??
    ofHeader(readHeaderValue(headers, 'x-service-delivery-id'), 'X-Service-Delivery-Id') ??
    ofBody(body);
}

/** Compiles the identity of deliveries without an ID. */
function compileBodyIdentity(
  identity: IdentifiedWebhook['identity'],
  hashWithout: string | undefined,
): (body: Uint8Array) => Identity {
  if (identity === 'none') return () => ({ identitySource: 'none' });
  const hashContent = hashWithout === undefined ? hashBody : compileHashWithout(hashWithout);
  const identitySource = 'body';
  if (identity !== undefined) {
    const sameForMs = parseDurationMs(identity.sameBody) ?? 0;
    return body => ({ identity: hashContent(body), identitySource, sameForMs });
  }
  return hashContent === hashBody
    ? body => ({ identity: hashBody(body), identitySource })
    : body => ({ identity: hashContent(body), identitySource, bodyIdentity: hashBody(body) });
}

function ofHeader(value: string | undefined, identitySource: IdentitySource): Identity | undefined {
  // Node has removed the white space around it.
  return value ? { identity: toHeaderIdentity(value), identitySource } : undefined;
}

function ofContent(
  value: string | undefined,
  identitySource: IdentitySource,
  body: Uint8Array,
): Identity | undefined {
  return value === undefined ? undefined : { identity: value, identitySource, bodyIdentity: hashBody(body) };
}

function hashBody(body: Uint8Array): string {
  return `body-sha256:${hash('sha256', body)}`;
}

type FieldReader = (payload: unknown, toJson: () => string) => string | undefined;

/** Compiles a path, or a list of paths that are all needed. */
function compileField(field: string | readonly string[] | undefined): FieldReader | undefined {
  if (field === undefined) return undefined;
  const paths = [field].flat().map(text => parseFieldPath(text) ?? []);
  const [only] = paths;
  if (only !== undefined && paths.length === 1) {
    return (payload, toJson) => {
      const id = readId(payload, only, toJson);
      return id === undefined ? undefined : toFieldIdentity(id);
    };
  }
  return (payload, toJson) => {
    const ids = paths.map(path => readId(payload, path, toJson));
    // Framed by its length, no text can run into the next one.
    return ids.every(id => id !== undefined)
      ? toFieldIdentity(ids.map(id => `${id.length}:${id}`).join(''))
      : undefined;
  };
}

/** Reads an ID: a string that is not blank, or a whole number that no parser has rounded. */
function readId(
  payload: unknown,
  path: readonly (string | number)[],
  toJson: () => string,
): string | undefined {
  const value = readField(payload, path);
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined;
  const isRounded =
    Math.abs(value) >= fractionsLostFrom && !isWritten(value, createTextFinder(toJson())(path));
  return isRounded ? undefined : String(value);
}

/** From here on, a parser may round a fraction of four digits to a whole number. */
const fractionsLostFrom = 2 ** 39;

/** Whether a text stands for exactly this whole number. An exponent is not followed. */
function isWritten(value: number, text: string | undefined): boolean {
  return text === undefined || text.replace(/\.0+$/, '') === String(value);
}

const hashPrefix = 'sha256:';

/**
 * An identity is the text of an ID. One that is too long, cannot be stored as text, or looks like a hash is hashed, so
 * different IDs never have the same identity.
 */
function toIdentityText(text: string | undefined, toBytes: () => Buffer): string {
  const isKept =
    text !== undefined &&
    Buffer.byteLength(text) <= identityBytesMax &&
    !text.startsWith(hashPrefix) &&
    !text.includes('\0');
  return isKept ? text : `${hashPrefix}${hash('sha256', toBytes())}`;
}

function toHeaderIdentity(latin1: string): string {
  const text = latin1.length <= identityBytesMax ? decodeHeaderValue(latin1) : undefined;
  return toIdentityText(text, () => Buffer.from(latin1, 'latin1'));
}

function toFieldIdentity(id: string): string {
  return toIdentityText(id.isWellFormed() ? id : undefined, () => Buffer.from(id, 'utf16le'));
}

/**
 * Compiles a hash of the body without the numbers and booleans of one key, wherever it stands: a retry counts there, or
 * says that it is one. The key never matches inside of a string, in which quotes are escaped.
 */
function compileHashWithout(key: string): (body: Uint8Array) => string {
  const counted = new RegExp(String.raw`("${key}"\s*:)\s*(?:-?\d+|true|false)`, 'g');
  return body => {
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
    return `body-without-${key}-sha256:${hash('sha256', Buffer.from(text.replace(counted, '$1'), 'latin1'))}`;
  };
}

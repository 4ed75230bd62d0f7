import type { HeaderNames, SignatureDescription, SignatureHeaders, SignatureList } from './description.ts';
import { type HeaderFailure, type RequestHeaders, readSingleHeader } from './signed-request.ts';

// Other senders and proxies put credentials into headers with such names: with one of these words anywhere, or with a
// shorter one that stands alone.
const anywhere =
  /authori[sz]ation|authentication|bearer|client[-_]?cert|cookie|credential|csrf|hmac|jwt|passw|passphrase|secret|signature|token|verif-hash|xsrf/;

const keys = /(access|account|api|app|auth|functions|master|private|shared|signing|subscription)[-_]?key/;

const alone = /(^|[-_])(auth|otp|pin|session([-_]?id)?|sig|sign)$/;

/** The parts of a signature as a request's headers present them, not yet verified. */
export interface SignatureParts {
  readonly ok: true;
  readonly signatures: readonly string[];
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
}

export type PartsFailure =
  | HeaderFailure
  | { readonly code: 'signature-malformed' }
  | { readonly code: 'signatures-too-many' };

interface Refused {
  readonly ok: false;
  readonly reason: PartsFailure;
}

export type PartsReader = (headers: RequestHeaders) => SignatureParts | Refused;

/** Lists the sets of header names in lower case: a description's own names, then their alternatives. */
export function listHeaderSets(description: SignatureHeaders): readonly HeaderNames[] {
  const { header, timestamp, idHeader, deliveryIdHeader, alternatives = [] } = description;
  const own = { header, timestampHeader: timestamp?.header, idHeader, deliveryIdHeader };
  return [own, ...alternatives].map(names => ({
    header: names.header.toLowerCase(),
    timestampHeader: names.timestampHeader?.toLowerCase(),
    idHeader: names.idHeader?.toLowerCase(),
    deliveryIdHeader: names.deliveryIdHeader?.toLowerCase(),
  }));
}

/** Compiles a function that reads a signature's parts with one set of header names. */
export function compileParts(description: SignatureHeaders, names: HeaderNames): PartsReader {
  const { header, timestampHeader, idHeader } = names;
  const readSignatures = compileSignatureHeader(description);
  return headers => {
    const text = readSingleHeader(headers, header);
    if (typeof text !== 'string') return { ok: false, reason: text };
    const presented = readSignatures(text);
    if (!presented.ok) return presented;

    const timestamp = timestampHeader ? readSingleHeader(headers, timestampHeader) : presented.timestamp;
    if (typeof timestamp === 'object') return { ok: false, reason: timestamp };
    const id = idHeader ? readSingleHeader(headers, idHeader) : undefined;
    if (typeof id === 'object') return { ok: false, reason: id };
    return { ok: true, signatures: presented.signatures, timestamp, id };
  };
}

/** The content of a signature header: its signatures, and its timestamp if that is one of its fields. */
type PresentedSignatures =
  | { readonly ok: true; readonly signatures: readonly string[]; readonly timestamp?: string }
  | Refused;

const malformed: Refused = { ok: false, reason: { code: 'signature-malformed' } };
const tooMany: Refused = { ok: false, reason: { code: 'signatures-too-many' } };

function compileSignatureHeader({
  list,
  prefix = '',
  timestamp,
}: SignatureHeaders): (text: string) => PresentedSignatures {
  if (list && isKeyed(list)) return text => readKeyedList(text, list, timestamp?.field);
  if (list) return text => readBareList(text, list.separator, timestamp?.item !== undefined);
  return text =>
    text.startsWith(prefix) ? { ok: true, signatures: [text.slice(prefix.length)] } : malformed;
}

type KeyedList = Required<SignatureList>;

function isKeyed(list: SignatureList): list is KeyedList {
  return list.key !== undefined && list.keyValueSeparator !== undefined;
}

/** @limit Most signatures read from one header: senders write one for each active secret, and a rotation has two or three. */
const signaturesMax = 16;

/** @limit Most items read from one signature header: senders write one or two besides the signatures. */
const signatureItemsMax = 20;

function readKeyedList(
  text: string,
  { separator, keyValueSeparator, key: signatureKey }: KeyedList,
  timestampField: string | undefined,
): PresentedSignatures {
  const items = text.split(separator, signatureItemsMax + 1);
  if (items.length > signatureItemsMax) return tooMany;
  const signatures: string[] = [];
  let timestamp: string | undefined;
  for (const item of items) {
    const at = item.indexOf(keyValueSeparator);
    if (at < 0) continue;
    const key = item.slice(0, at).trim();
    const value = item.slice(at + keyValueSeparator.length).trim();
    if (key === signatureKey) signatures.push(value);
    else if (key === timestampField) {
      if (timestamp !== undefined) return malformed;
      timestamp = value;
    }
  }
  if (signatures.length > signaturesMax) return tooMany;
  return timestamp === undefined ? { ok: true, signatures } : { ok: true, signatures, timestamp };
}

function readBareList(text: string, separator: string, hasTimestamp: boolean): PresentedSignatures {
  const items = text.split(separator, signaturesMax + 2).map(item => item.trim());
  const timestamp = hasTimestamp ? items.shift() : undefined;
  if (items.length > signaturesMax) return tooMany;
  return timestamp === undefined
    ? { ok: true, signatures: items }
    : { ok: true, signatures: items, timestamp };
}

/** Lists the headers in which a scheme's sender puts a signature, or the secret itself, in lower case. */
export function listCredentialHeaders(description: SignatureDescription): readonly string[] {
  const names = [description.header];
  if ('alternatives' in description) names.push(...(description.alternatives ?? []).map(one => one.header));
  if ('older' in description && description.older) names.push(description.older.header);
  return names.map(name => name.toLowerCase());
}

/** Whether the name of a header, in lower case, says that it carries a credential or a signature. */
export function isCredentialName(name: string): boolean {
  return [anywhere, keys, alone].some(pattern => pattern.test(name));
}

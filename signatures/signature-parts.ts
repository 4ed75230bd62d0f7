import type { HeaderNames, SignatureHeaders, SignatureList, SignatureTimestamp } from './description.ts';
import { type HeaderFailure, type RequestHeaders, readSingleHeader } from './signed-request.ts';

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
  if (list) return text => readList(text, list, timestamp);
  return text =>
    text.startsWith(prefix) ? { ok: true, signatures: [text.slice(prefix.length)] } : malformed;
}

/** @limit Most signatures read from one header: senders write one for each active secret, and a rotation has two or three. */
const signaturesMax = 16;

/** @limit Most items read from one signature header: senders write one or two besides the signatures. */
const signatureItemsMax = 20;

function readList(
  text: string,
  list: SignatureList,
  timestampPlace: SignatureTimestamp | undefined,
): PresentedSignatures {
  const items = text.split(list.separator, signatureItemsMax + 1);
  if (items.length > signatureItemsMax) return tooMany;
  const signatures: string[] = [];
  let timestamp: string | undefined;
  for (const [index, item] of items.entries()) {
    const { key, value } = readItem(item, list.keyValueSeparator);
    const isTimestamp =
      key === undefined ? index === 0 && timestampPlace?.item === 'first' : key === timestampPlace?.field;
    if (isTimestamp) {
      if (timestamp !== undefined) return malformed;
      timestamp = value;
    } else if (key === list.key) signatures.push(value);
  }
  if (signatures.length > signaturesMax) return tooMany;
  return timestamp === undefined ? { ok: true, signatures } : { ok: true, signatures, timestamp };
}

/** An item without its separator has an empty key, so it is ignored. */
function readItem(item: string, separator: string | undefined): { key?: string; value: string } {
  if (separator === undefined) return { value: item.trim() };
  const at = item.indexOf(separator);
  return at < 0
    ? { key: '', value: item }
    : { key: item.slice(0, at).trim(), value: item.slice(at + separator.length).trim() };
}

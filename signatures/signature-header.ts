import type { SignatureHeaders, SignatureList } from './description.ts';

/** @limit Most signatures read from one header: senders write one for each active secret, and a rotation has two or three. */
const signaturesMax = 16;

/** What a signature header says: the signatures in it, and its timestamp where that is one of its fields. */
export type PresentedSignatures =
  | { readonly ok: true; readonly signatures: readonly string[]; readonly timestamp?: string }
  | { readonly ok: false; readonly code: 'signature-malformed' | 'signatures-too-many' };

export type SignatureHeaderReader = (text: string) => PresentedSignatures;

/** Readies the reading of a scheme's signature header. Its work is bounded by `signaturesMax`. */
export function compileSignatureHeader({
  list,
  prefix = '',
  timestamp,
}: SignatureHeaders): SignatureHeaderReader {
  if (list) return text => readList(text, list, timestamp?.field);
  return text =>
    text.startsWith(prefix) ? { ok: true, signatures: [text.slice(prefix.length)] } : malformed;
}

const malformed = { ok: false, code: 'signature-malformed' } as const satisfies PresentedSignatures;

// Senders write one or two items that are no signatures.
const itemsMax = signaturesMax + 4;

function readList(
  text: string,
  list: SignatureList,
  timestampField: string | undefined,
): PresentedSignatures {
  const items = text.split(list.separator, itemsMax + 1);
  if (items.length > itemsMax) return { ok: false, code: 'signatures-too-many' };
  const signatures: string[] = [];
  let timestamp: string | undefined;
  for (const item of items) {
    const at = item.indexOf(list.keyValueSeparator);
    if (at < 0) continue;
    const key = item.slice(0, at).trim();
    const value = item.slice(at + list.keyValueSeparator.length).trim();
    if (key === list.key) signatures.push(value);
    else if (key === timestampField) {
      if (timestamp !== undefined) return malformed;
      timestamp = value;
    }
  }
  if (signatures.length > signaturesMax) return { ok: false, code: 'signatures-too-many' };
  return timestamp === undefined ? { ok: true, signatures } : { ok: true, signatures, timestamp };
}

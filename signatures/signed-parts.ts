import type { HeaderNames, SignedDescription } from './description.ts';
import { compileSignatureHeader } from './signature-header.ts';
import type { RequestHeaders, VerificationFailure } from './verify.ts';

/** What a request's headers say about its signature, as they say it. */
export interface SignedParts {
  readonly ok: true;
  readonly signatures: readonly string[];
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
}

export type PartsReader = (
  headers: RequestHeaders,
) => SignedParts | { readonly ok: false; readonly reason: VerificationFailure };

/** Header names that belong together, in lower case. */
export type HeaderSet = HeaderNames;

/** A description's own header names, then their alternatives. */
export function headerSets(description: SignedDescription): readonly HeaderSet[] {
  const { header, timestamp, idHeader, deliveryIdHeader, alternatives = [] } = description;
  const own = { header, timestampHeader: timestamp?.header, idHeader, deliveryIdHeader };
  return [own, ...alternatives].map(names => ({
    header: names.header.toLowerCase(),
    timestampHeader: names.timestampHeader?.toLowerCase(),
    idHeader: names.idHeader?.toLowerCase(),
    deliveryIdHeader: names.deliveryIdHeader?.toLowerCase(),
  }));
}

/** Readies the reading of a signature's parts from the headers of one set. */
export function compileParts(description: SignedDescription, names: HeaderSet): PartsReader {
  const { header, timestampHeader, idHeader } = names;
  const readSignatures = compileSignatureHeader(description);
  return headers => {
    const text = singleHeader(headers, header);
    if (typeof text !== 'string') return { ok: false, reason: text };
    const presented = readSignatures(text);
    if (!presented.ok) return { ok: false, reason: { code: presented.code } };

    const timestamp = timestampHeader ? singleHeader(headers, timestampHeader) : presented.timestamp;
    if (typeof timestamp === 'object') return { ok: false, reason: timestamp };
    const id = idHeader ? singleHeader(headers, idHeader) : undefined;
    if (typeof id === 'object') return { ok: false, reason: id };
    return { ok: true, signatures: presented.signatures, timestamp, id };
  };
}

/** A header's one value. A repeated header is refused: which of its values was meant is a guess. */
export function singleHeader(headers: RequestHeaders, name: string): string | VerificationFailure {
  const values = headers[name];
  const value = values?.[0];
  if (!values || !value) return { code: 'header-missing', header: name };
  return values.length === 1 ? value : { code: 'header-repeated', header: name };
}

/** The sender's delivery id, if it is there once. */
export function deliveryId(headers: RequestHeaders, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : singleHeader(headers, name);
  return typeof value === 'string' ? value : undefined;
}

/** A request as it arrived. Nothing in it has been decoded, and verifying it decodes nothing. */
export interface SignedRequest {
  /** The values by lower-case name; each occurrence is a separate latin1 value, as in node's `headersDistinct`. */
  readonly headers: RequestHeaders;
  readonly body: Buffer;
  /** The public URL to which the sender addressed it. */
  readonly url: string;
  readonly method: string;
}

export type RequestHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** The bytes that a signature covers, in order. A string represents its latin1 bytes, as header values do in node. */
export type ContentPieces = readonly (string | Buffer)[];

export type HeaderFailure =
  | { readonly code: 'header-missing'; readonly header: string }
  | { readonly code: 'header-repeated'; readonly header: string };

/** Reads the only value of a header. A repeated header is refused, because choosing a value would be a guess. */
export function readSingleHeader(headers: RequestHeaders, name: string): string | HeaderFailure {
  const values = headers[name];
  const value = values?.[0];
  if (!values || !value) return { code: 'header-missing', header: name };
  return values.length === 1 ? value : { code: 'header-repeated', header: name };
}

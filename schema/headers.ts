/** @limit Most headers that `keepHeaders` lists: with the fixed ones, a delivery keeps at most 16. */
export const keepHeadersMax = 8;

/** @limit Most characters kept of one event header, the rest is cut off: with 16 headers, a delivery keeps at most 4 KiB of values. */
export const eventHeaderCharsMax = 256;

/** The request headers that are kept of a delivery, with their names in lower case. Never credentials or signatures. */
export type EventHeaders = Readonly<Record<string, string>>;

/** The event header by which runs find the trace of their delivery's request (W3C Trace Context). hookmill itself adds it while it traces. */
export const traceHeader = 'hookmill-traceparent';

/** The same names in lower case, as request headers are looked up. */
export function withLowerNames<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** @limit Longest name of a header in a definition, in characters: the names that senders use are far shorter. */
const headerNameCharsMax = 128;

/** The name of a header in a definition: a token, as RFC 9110 section 5.6.2 says. */
export const headerNamePattern = new RegExp(`^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${headerNameCharsMax}}$`);

/** Says what is wrong with the name of a header; undefined if it is valid. */
export function findHeaderNameMistake(
  name: string,
  example: string,
): { readonly message: string; readonly hint: string } | undefined {
  if (headerNamePattern.test(name)) return undefined;
  const hint = `write only the name of the header, as in ${example}`;
  return { message: `"${name}" is not a header name`, hint };
}

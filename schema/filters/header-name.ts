/** @limit Most characters kept of one event header, the rest is cut off: with 16 headers, a delivery keeps at most 4 KiB of values. */
export const eventHeaderCharsMax = 256;

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

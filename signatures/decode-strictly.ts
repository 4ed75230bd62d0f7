/** Decodes text that is canonically encoded from start to end; undefined for any other text, and for empty text. */
export function decodeStrictly(text: string, encoding: 'hex' | 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const canonical = encoding === 'hex' ? text.toLowerCase() : text;
  return bytes.length > 0 && bytes.toString(encoding) === canonical ? bytes : undefined;
}

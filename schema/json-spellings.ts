/**
 * The spellings that a text may have in a JSON document: as it is, with the escapes that JSON requires, and with those
 * that some encoders add for characters beyond ASCII and for slashes.
 */
export function listJsonSpellings(text: string): readonly string[] {
  const required = JSON.stringify(text).slice(1, -1);
  const inAscii = (toHex: (hex: string) => string) =>
    required.replace(/[\u0080-\uffff]/g, unit => {
      return `\\u${toHex(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`;
    });
  const spellings = [text, required, inAscii(hex => hex), inAscii(hex => hex.toUpperCase())];
  return [...new Set([...spellings, ...spellings.map(spelling => spelling.replaceAll('/', '\\/'))])];
}

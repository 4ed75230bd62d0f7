const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** @limit Most levels that formatted JSON indents; deeper ones stay on one line, or nested brackets would grow by their square. */
const indentedLevelsMax = 40;

/** Breaks JSON into lines without parsing it: long numbers and duplicate keys stay exactly as they are. */
export function formatJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let previous = '';
  const breakLine = () => {
    if (depth <= indentedLevelsMax) parts.push('\n', '  '.repeat(depth));
  };
  for (const [token] of text.matchAll(tokens)) {
    const isClosing = token === '}' || token === ']';
    if (isClosing) depth -= 1;
    if (isClosing ? !isOpening(previous) : isOpening(previous) || previous === ',') breakLine();
    if (isOpening(token)) depth += 1;
    parts.push(token === ':' ? ': ' : token);
    previous = token;
  }
  return parts.join('');
}

function isOpening(token: string): boolean {
  return token === '{' || token === '[';
}

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

/** Renders a value from JSON again, with sorted keys. Equal values have the same text, and so the same digest. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** Recursive, because `JSON.stringify` is slow if it must ask for each value. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const sortedValue = sortKeys(Reflect.get(value, key));
    if (key !== '__proto__') sorted[key] = sortedValue;
    else Object.defineProperty(sorted, key, { value: sortedValue, enumerable: true });
  }
  return sorted;
}

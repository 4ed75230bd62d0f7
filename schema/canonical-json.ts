/** Renders a value as JSON with sorted keys. Equal values have the same text, and so the same digest. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => sortKeys(part));
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

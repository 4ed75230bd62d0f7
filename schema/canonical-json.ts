/** A value as JSON with sorted keys: values that are equal as JSON have the same text, so it can be digested. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => sortKeys(part));
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

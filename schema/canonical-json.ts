/** Renders a value from JSON again, with sorted keys. Equal values have the same text, and so the same digest. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** Recursive, because `JSON.stringify` is slow if it must ask for each value. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  // Without a prototype, so that `__proto__` is a key like any other.
  const sorted: Record<string, unknown> = { __proto__: null };
  for (const key of Object.keys(value).sort()) sorted[key] = sortKeys(Reflect.get(value, key));
  return sorted;
}

/** Renders a value from JSON again, with sorted keys. Equal values have the same text, and so the same digest. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** Recursive, because `JSON.stringify` is slow if it must ask for each value. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sortKeys(Reflect.get(value, key))]),
  );
}

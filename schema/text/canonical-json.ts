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

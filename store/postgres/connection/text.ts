/**
 * Makes text that PostgreSQL can store: its texts contain no NUL, which becomes the symbol for it. Senders choose
 * identities, so they may contain anything.
 */
export function toStorableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
}

/** Makes the parameters of a statement, which may come from anybody, storable: so one with a NUL finds what is stored of it. */
export function toStorableValues(values: readonly unknown[]): unknown[] {
  return values.map(toStorable);
}

/** Turns objects into arrays, one for each property, as `unnest` takes them. What is absent becomes null. */
export function toColumns<T extends object>(
  rows: readonly (T | undefined)[],
  names: readonly (keyof T)[],
): unknown[][] {
  return names.map(name => rows.map(row => toStorable(row?.[name] ?? null)));
}

function toStorable(value: unknown): unknown {
  return typeof value === 'string' ? toStorableText(value) : value;
}

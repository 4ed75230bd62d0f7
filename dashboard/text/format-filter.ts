/** Formats a payload filter as people write it: one field per line, its list of values beside it. */
export function formatFilter(payload: object): string {
  return formatFields(payload, '');
}

function formatFields(value: object, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(value).map(
    ([key, each]) => `${inner}${JSON.stringify(key)}: ${formatValue(each, inner)}`,
  );
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
}

function formatValue(value: unknown, indent: string): string {
  if (Array.isArray(value)) return `[${value.map(each => JSON.stringify(each)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [only, ...others] = Object.entries(value);
  const isOperator = only && others.length === 0 && (Array.isArray(only[1]) || typeof only[1] !== 'object');
  return isOperator
    ? `{ ${JSON.stringify(only[0])}: ${formatValue(only[1], '')} }`
    : formatFields(value, indent);
}

import { renderFlowValue, renderWord } from '../../schema/changes/flow-value.ts';

/** Formats a filter as definition files have it: YAML with one field per line, its list of values beside it. */
export function formatFilter(filter: object): string {
  return formatFields(filter, '').join('\n') || '{}';
}

function formatFields(filter: object, indent: string): string[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const line = `${indent}${renderWord(key)}:`;
    if (isNested(value)) return [line, ...formatFields(value, `${indent}  `)];
    return [`${line} ${renderFlowValue(value)}`];
  });
}

/** Whether a value is an object with fields; an operator stays on its line. */
function isNested(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const [first, ...others] = Object.values(value);
  const isOperator = others.length === 0 && (Array.isArray(first) || typeof first !== 'object');
  return !isOperator;
}

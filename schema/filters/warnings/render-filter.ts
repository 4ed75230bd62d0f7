import { type Fields, isObject } from '../clause.ts';
import { renderFlow } from '../payload-filter.ts';

/** @limit Most values of a list that a hint about a payload filter quotes: enough to recognise it. */
const quotedValuesMax = 5;

/** Renders a filter in YAML's flow style, without the braces around it. Cuts what is long. */
export function renderFilter(filter: Fields): string {
  return Object.entries(filter)
    .map(([key, value]) => `${renderFlow(key)}: ${renderValue(value)}`)
    .join(', ');
}

function renderValue(value: unknown): string {
  if (isObject(value)) return `{ ${renderFilter(value)} }`;
  if (!Array.isArray(value)) return renderFlow(value);
  const shown = value.slice(0, quotedValuesMax).map(renderFlow);
  return `[${[...shown, ...(value.length > quotedValuesMax ? ['…'] : [])].join(', ')}]`;
}

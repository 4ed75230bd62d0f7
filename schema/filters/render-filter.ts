import { truncate } from '../diagnostics.ts';
import { type Fields, isObject } from './clause.ts';

/** @limit Most values of a list that a hint about a payload filter quotes: enough to recognise it. */
const quotedValuesMax = 5;

/** @limit Most characters of a key or value that a message about a payload filter quotes: enough to recognise it. */
const quotedCharsMax = 60;

/** Renders a filter in YAML's flow style, without the braces around it. Cuts what is long. */
export function renderFilter(filter: Fields): string {
  return Object.entries(filter)
    .map(([key, value]) => `${renderFlow(key)}: ${renderValue(value)}`)
    .join(', ');
}

/** Renders the value of a key. */
export function renderValue(value: unknown): string {
  if (isObject(value)) return `{ ${renderFilter(value)} }`;
  if (!Array.isArray(value)) return renderFlow(value);
  const shown = value.slice(0, quotedValuesMax).map(renderFlow);
  return `[${[...shown, ...(value.length > quotedValuesMax ? ['…'] : [])].join(', ')}]`;
}

/** Renders a scalar in YAML's flow style. */
export function renderFlow(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  if (/^[$a-z_][\w-]*$/i.test(value) && !/^(true|false|null)$/i.test(value))
    return truncate(value, quotedCharsMax);
  return truncate(JSON.stringify(value), quotedCharsMax);
}

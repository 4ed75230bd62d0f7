import { isObject } from '../filters/clause.ts';

/**
 * Renders a value of a definition on one line, as YAML's flow style: `[failed, error]`, `{ exists: true }`. Two values
 * that are not equal never have the same text.
 */
export function renderFlowValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderFlowValue).join(', ')}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).map(
      ([key, part]) => `${renderWord(key)}: ${renderFlowValue(part)}`,
    );
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return typeof value === 'string' ? renderWord(value) : String(value);
}

/** Renders a string without quotes if YAML reads it as the same string. */
export function renderWord(text: string): string {
  const isPlain = /^[A-Za-z_](?:[\w ./-]*[\w./-])?$/.test(text) && !/^(?:true|false|null)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

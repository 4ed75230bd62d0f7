import { parseJsonText } from '../json/parse-json-text.ts';

/** Reads a text as JSON; undefined if it is not JSON. */
export function readJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

import { findStringEnd, parseJsonText } from '../../json/parse-json-text.ts';
import type { FormFormat } from '../delivery.ts';

/**
 * Reads what can be read of a payload from the beginning of its body: the first `bytesMax` bytes, or less if that is all of it.
 * Undefined if that is nothing.
 */
export function readBeginning(
  beginning: Uint8Array | undefined,
  form: FormFormat | undefined,
  bytesMax: number,
): unknown {
  if (!beginning) return undefined;
  const isCut = beginning.length >= bytesMax;
  // A character of which the end is missing is left out.
  const text = new TextDecoder().decode(beginning, { stream: isCut });
  if (!form) return parse(text, isCut);
  const fields = new URLSearchParams(text);
  if (form.payloadField !== undefined) return parse(fields.get(form.payloadField) ?? '', isCut);
  return Object.fromEntries(fields);
}

function parse(text: string, isCut: boolean): unknown {
  try {
    return parseJsonText(isCut ? closeCutJson(text) : text);
  } catch {
    return undefined;
  }
}

const structure = /["[\]{},]/g;

/**
 * Makes JSON of the beginning of a JSON text: drops the value in which it was cut, and closes what is open around it. Returns
 * an empty text if nothing was complete. The beginning of a text that is not JSON may give no JSON.
 */
export function closeCutJson(beginning: string): string {
  const closing: string[] = [];
  /** The end of what is complete: after an opening or a closing bracket, or before a comma. */
  let end = 0;
  structure.lastIndex = 0;
  for (let found = structure.exec(beginning); found; found = structure.exec(beginning)) {
    const [character] = found;
    if (character === '"') {
      const after = findStringEnd(beginning, found.index);
      if (after === 0) break;
      structure.lastIndex = after;
      continue;
    }
    if (character === '{' || character === '[') closing.push(character === '{' ? '}' : ']');
    else if (character !== ',') closing.pop();
    end = character === ',' ? found.index : found.index + 1;
  }
  return beginning.slice(0, end) + closing.reverse().join('');
}

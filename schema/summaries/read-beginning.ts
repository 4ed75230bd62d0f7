import { closeCutJson } from '../../json/close-cut-json.ts';
import { parseJsonText } from '../../json/parse-json-text.ts';
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

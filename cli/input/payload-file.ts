import { parseJsonText } from '../../json/parse-json-text.ts';
import type { EventHeaders } from '../../schema/event-headers.ts';
import { CommandError } from '../exit-status.ts';
import type { HeaderLines } from './header-option.ts';
import { readInputFile } from './read-input-file.ts';

/** Reads a file that stands for a delivery: its bytes, and the JSON in them. Fails if the ingress would reject it. */
export async function readPayloadFile(
  file: string,
): Promise<{ readonly bytes: Buffer; readonly payload: unknown }> {
  const bytes = await readInputFile(file, 'the payload');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { bytes, payload: parseJsonText(text) };
  } catch {
    throw new CommandError(`${file} is not JSON in UTF-8: the ingress would reject it`);
  }
}

/** Joins header lines of the same name into one value, as the ingress does. */
export function toEventHeaders(lines: HeaderLines = []): EventHeaders {
  const grouped = Map.groupBy(lines, ([name]) => name.toLowerCase());
  return Object.fromEntries(
    [...grouped].map(([name, same]) => [name, same.map(([, value]) => value).join(', ')]),
  );
}

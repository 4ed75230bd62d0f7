import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../schema/definitions/json-source.ts';

/**
 * Says why a body is not JSON: what it looks like, or where the first mistake is. Repeats nothing of it, because only
 * metadata is kept of a rejected delivery.
 */
export function explainInvalidJson(body: Buffer, contentType = ''): string {
  if (body.length === 0) return 'the body is empty';
  if (/x-www-form-urlencoded|form-data/i.test(contentType))
    return 'the body is a form; set the sender to send JSON (application/json)';
  if (body[0] === 0x1f && body[1] === 0x8b)
    return 'the body is compressed; set the sender to send it as it is';
  if (!isUtf8(body)) return 'the body is not text in UTF-8';
  const text = body.toString('utf8');
  if (text.startsWith('\ufeff')) return 'the body starts with a byte order mark';
  if (/^\s*</.test(text)) return 'the body looks like XML or HTML; set the sender to send JSON';
  const parsed = parseJson('', text);
  if (parsed.ok) return 'the body is not JSON';
  const { line, column } = parsed.range.start;
  const expected = parsed.expected.replace('the file', 'the body');
  return `the body is not JSON: ${expected} is expected at line ${line}, column ${column}`;
}

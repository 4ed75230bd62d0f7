import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../../schema/definitions/json-source.ts';
import type { FormFormat } from '../../schema/delivery.ts';
import { notForm, readFormPayload } from '../../schema/payloads/form-payload.ts';
import type { Explanation } from '../../signatures/explanation.ts';

/**
 * Says why a body has no payload: what it looks like, or where the first mistake is. Repeats nothing of it, because only
 * metadata is kept of a rejected delivery. `form` is the format that the webhook expects; undefined for JSON.
 */
export function explainInvalidBody(
  body: Buffer,
  headers: IncomingHttpHeaders,
  form?: FormFormat,
): Explanation {
  const { 'content-type': contentType = '' } = headers;
  if (body.length === 0) return { cause: 'the body is empty', remedy: undefined };
  if (/form-data/i.test(contentType)) {
    return {
      cause: 'the body is a multipart form',
      remedy: 'Set the sender to send JSON (application/json)',
    };
  }
  if (form) return explainForm(body, form);
  return explainFormAsJson(body, contentType) ?? { cause: explainJson(body), remedy: undefined };
}

/** Why a compressed body has no payload. */
export const compressedBody: Explanation = {
  cause: 'the body is compressed; set the sender to send it as it is',
  remedy: undefined,
};

/** Whether the sender says that it compressed a body, or the body starts as one of gzip does (RFC 1952, section 2.3.1). */
export function isCompressed(
  body: Buffer,
  { 'content-encoding': coding = 'identity' }: IncomingHttpHeaders,
): boolean {
  return coding.toLowerCase() !== 'identity' || (body[0] === 0x1f && body[1] === 0x8b);
}

function explainForm(body: Buffer, form: FormFormat): Explanation {
  const read = readFormPayload(body, form);
  if (read.ok) return { cause: 'the body is a form', remedy: undefined };
  const { problem: cause } = read;
  if (cause === notForm) return { cause, remedy: 'Write `bodyFormat: json` into the file of the webhook' };
  if (form.payloadField === undefined) return { cause, remedy: 'Set the sender to send a form in UTF-8' };
  const remedy = 'Correct `payloadField`, or remove it: then the fields are the payload';
  return { cause, remedy };
}

/** Explains a body that is a form where JSON is expected, as its content type or its look tells; undefined if it is no form. */
function explainFormAsJson(body: Buffer, contentType: string): Explanation | undefined {
  const looksLikeForm = /^[\w.~*+%[\]-]+=[^\s<>{}"]*$/.test(body.toString('latin1'));
  if (!looksLikeForm && !/x-www-form-urlencoded/i.test(contentType)) return undefined;
  const lines = readFormPayload(body, { payloadField }).ok
    ? `\`bodyFormat: form\` and \`payloadField: ${payloadField}\``
    : '`bodyFormat: form`';
  return {
    cause: 'the body is a form',
    remedy: `Set the sender to send JSON (application/json), or write ${lines} into the file of the webhook`,
  };
}

/** The field in which GitHub and Slack send JSON. */
const payloadField = 'payload';

function explainJson(body: Buffer): string {
  if (!isUtf8(body)) return 'the body is not text in UTF-8';
  const text = body.toString('utf8');
  if (/^\s*</.test(text)) return 'the body looks like XML or HTML; set the sender to send JSON';
  const parsed = parseJson('', text);
  if (parsed.ok) return 'the body is not JSON';
  const { line, column } = parsed.range.start;
  const expected = parsed.expected.replace('the file', 'the body');
  return `the body is not JSON: ${expected} is expected at line ${line}, column ${column}`;
}

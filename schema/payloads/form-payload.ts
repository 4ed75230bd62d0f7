import { dropByteOrderMark, parseJsonText, readJson } from '../../json/parse-json-text.ts';
import { type FormField, formFieldsMax, readForm } from '../../signatures/read-form.ts';
import type { FormFormat } from '../delivery.ts';

/** The payload that a form has, also as JSON text; or the reason why it has none, which repeats nothing of the form. */
export type FormPayload =
  | { readonly ok: true; readonly value: unknown; readonly toJson: () => string }
  | { readonly ok: false; readonly problem: string };

/** The reason that says most about the sender. */
export const notForm = 'the body is JSON, not a form';

/**
 * Reads the payload of a form: an object with a string for each name, and a list of strings for a name that is repeated;
 * or the JSON in its one field of the name `payloadField`, unchanged. A form without fields has no payload. Neither has a
 * body that is a JSON object or list, although the standard reads it as a form with one strange name.
 */
export function readFormPayload(given: Buffer, { payloadField }: FormFormat): FormPayload {
  const body = dropMark(given);
  if (/^\s*[[{]/.test(body.toString('latin1', 0, 64)) && readJson(body.toString()) !== undefined) {
    return { ok: false, problem: notForm };
  }
  const form = readForm(body);
  if (!form.ok) return form;
  if (form.fields.length === 0) return { ok: false, problem: 'the form has no fields' };
  if (payloadField !== undefined) return readField(form.fields, payloadField);
  const value = groupFields(form.fields);
  return { ok: true, value, toJson: () => JSON.stringify(value) };
}

const byteOrderMark = Buffer.from('\ufeff');

/** Returns the bytes of a text in UTF-8 without a byte order mark. */
function dropMark(body: Buffer): Buffer {
  const { length } = byteOrderMark;
  return body.subarray(0, length).equals(byteOrderMark) ? body.subarray(length) : body;
}

/** Returns the payload of an accepted body as JSON in UTF-8, without a byte order mark. */
export function toPayload(body: Uint8Array, format: FormFormat | undefined): Uint8Array {
  if (!format) return body[0] === byteOrderMark[0] ? dropMark(Buffer.from(body)) : body;
  const read = readFormPayload(Buffer.from(body), format);
  if (!read.ok) throw new Error(`the accepted form has no payload: ${read.problem}`);
  return Buffer.from(read.toJson());
}

/**
 * Makes a form of a payload, the reverse of `readFormPayload`. Numbers, booleans and null become text. Undefined if the
 * payload has what no form can have: an object in a field, or no fields.
 */
export function makeForm(json: string, { payloadField }: FormFormat): string | undefined {
  if (payloadField !== undefined) return new URLSearchParams([[payloadField, json]]).toString();
  const payload = parseJsonText(json);
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  const fields = Object.entries(payload).flatMap(([name, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown) => [name, one] as const),
  );
  if (fields.length === 0 || fields.length > formFieldsMax) return undefined;
  if (fields.some(([, value]) => typeof value === 'object' && value !== null)) return undefined;
  const texts = fields.map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(texts).toString();
}

function readField(fields: readonly FormField[], name: string): FormPayload {
  const [json, ...others] = fields.flatMap(([other, value]) => (other === name ? [value] : []));
  // The name is the webhook's own, so the reason may repeat it.
  if (json === undefined) return { ok: false, problem: `the form has no field ${name}` };
  if (others.length > 0) return { ok: false, problem: `the form has several fields ${name}` };
  const value = readJson(json);
  return value === undefined
    ? { ok: false, problem: `the field ${name} of the form is not JSON` }
    : { ok: true, value, toJson: () => dropByteOrderMark(json) };
}

/** `fromEntries` makes own properties, whatever their names are. */
function groupFields(fields: readonly FormField[]): Readonly<Record<string, string | readonly string[]>> {
  const byName = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries(
    [...byName].map(([name, group]) => {
      const values = group.map(([, value]) => value);
      return [name, values[1] === undefined ? values.join() : values];
    }),
  );
}

import { isUtf8 } from 'node:buffer';

/** @limit Most fields of a form, each occurrence of a name counted: Slack, Twilio and GitHub send fewer than 50. */
export const formFieldsMax = 1_000;

/** The fields of a form in their order, or the reason why a body is none. The reason repeats nothing of the body. */
export type FormRead =
  | { readonly ok: true; readonly fields: readonly FormField[] }
  | { readonly ok: false; readonly problem: string };

export type FormField = readonly [name: string, value: string];

/**
 * Reads a body as `application/x-www-form-urlencoded`, by the parser of the WHATWG's URL standard (section 5.1): a broken
 * percent sequence stays as it is. Other than there, names and values that are not UTF-8 are refused, because a
 * replacement character would make different bodies alike.
 */
export function readForm(body: Buffer): FormRead {
  const fields: FormField[] = [];
  for (const [pair] of body.toString('latin1').matchAll(/[^&]+/g)) {
    if (fields.length === formFieldsMax) {
      return { ok: false, problem: `the form has more than ${formFieldsMax} fields` };
    }
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      return { ok: false, problem: `field ${fields.length + 1} of the form is not text in UTF-8` };
    }
    fields.push([name, value]);
  }
  return { ok: true, fields };
}

function decode(latin1: string): string | undefined {
  const bytes = Buffer.from(
    latin1
      .replaceAll('+', ' ')
      .replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

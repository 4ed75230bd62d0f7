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
 * percent sequence stays as it is. Other than there, what is not UTF-8 is refused, the body itself and what it encodes: a
 * replacement character would make different bodies alike.
 */
export function readForm(body: Buffer): FormRead {
  if (!isUtf8(body)) return { ok: false, problem: 'the form is not text in UTF-8' };
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

/** Decodes a name or a value, given in Latin-1: a character is a byte. Undefined if it is not UTF-8. */
function decode(latin1: string): string | undefined {
  const encoded = Buffer.from(latin1, 'latin1');
  const bytes = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded[at] as number;
    const escaped =
      byte === percent ? decodeHex(encoded[at + 1]) * 16 + decodeHex(encoded[at + 2]) : Number.NaN;
    const isEscaped = !Number.isNaN(escaped);
    bytes[length++] = isEscaped ? escaped : byte === plus ? space : byte;
    if (isEscaped) at += 2;
  }
  const decoded = bytes.subarray(0, length);
  return isUtf8(decoded) ? decoded.toString() : undefined;
}

const [percent, plus, space] = [0x25, 0x2b, 0x20];

/** The value of a hexadecimal digit, given as a byte; otherwise NaN. */
function decodeHex(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN;
}

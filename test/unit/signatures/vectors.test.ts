import { describe, expect, it } from 'vitest';
import type { SignatureScheme, SignedDescription } from '../../../signatures/description.ts';
import { schemes } from '../../../signatures/schemes.ts';
import { signRequest } from '../../../signatures/sign.ts';
import { compileParts, listHeaderSets } from '../../../signatures/signature-parts.ts';
import type { SignedRequest } from '../../../signatures/signed-request.ts';
import { formatTimestamp } from '../../../signatures/timestamp.ts';
import { compileVerifier } from '../../../signatures/verify.ts';
import { getScheme, nowMs, receivedVector, type Vector, vectors } from './received.ts';

const numbered = vectors.map((vector, index) => ({ ...vector, index }));
const accepted = numbered.filter(({ valid }) => valid);

describe('a vector', () => {
  it.each(numbered)('of $scheme: $valid for $origin ($index)', vector => {
    expect(verifies(vector, receivedVector(vector))).toBe(vector.valid);
  });

  it.each(schemes)('of $id is accepted', ({ id }) => {
    expect(accepted.some(({ scheme }) => scheme === id)).toBe(true);
  });

  it.each(accepted)('of $scheme is refused with another secret ($index)', vector => {
    const request = receivedVector(vector);
    const { secret } = vector;
    const at = Math.floor(secret.length / 2);
    const other = `${secret.slice(0, at)}${secret[at] === 'a' ? 'b' : 'a'}${secret.slice(at + 1)}`;
    expect(verifies({ ...vector, secret: other }, request)).toBe(false);
  });

  it.each(accepted)('of $scheme is refused with other signatures ($index)', vector => {
    const scheme = getScheme(vector.scheme);
    // A signature is a long run of letters and digits; a shared secret may be short.
    const long = scheme.primitive === 'shared-secret' ? /\S+$/g : /[0-9A-Za-z+/_-]{20,}/g;
    let request = receivedVector(vector);
    for (const { header } of headerSets(scheme)) {
      const value = request.headers[header]?.[0];
      if (value === undefined) continue;
      const changed = value.replaceAll(long, run => (run[0] === 'a' ? 'b' : 'a') + run.slice(1));
      expect(changed).not.toBe(value);
      request = withHeader(request, header, changed);
    }
    expect(verifies(vector, request)).toBe(false);
  });

  it.each(accepted.filter(isSigned))('of $scheme is refused with another body ($index)', vector => {
    const request = receivedVector(vector);
    expect(verifies(vector, { ...request, body: Buffer.from(`${vector.body} `) })).toBe(false);
  });

  it.each(accepted.filter(hasTimestamp))('of $scheme is refused with another time ($index)', vector => {
    const { header, field } = timestampOf(vector) ?? {};
    const request = receivedVector(vector);
    for (const names of headerSets(getScheme(vector.scheme))) {
      const name = header === undefined ? names.header : (names.timestampHeader ?? '');
      const value = request.headers[name]?.[0];
      if (value === undefined) continue;
      // A digit of the time; in a list, the digits after its key, or the first digits.
      const place = header !== undefined ? /\d(?=\D*$)/ : new RegExp(`(?<=${field ?? '^'}=?\\d+)\\d(?!\\d)`);
      const changed = value.replace(place, digit => String((Number(digit) + 1) % 10));
      expect(changed).not.toBe(value);
      expect(verifies(vector, withHeader(request, name, changed))).toBe(false);
    }
  });

  it.each(accepted.filter(hasId))('of $scheme is refused with another ID ($index)', vector => {
    const request = receivedVector(vector);
    for (const { idHeader = '' } of headerSets(getScheme(vector.scheme))) {
      const value = request.headers[idHeader]?.[0];
      if (value === undefined) continue;
      expect(verifies(vector, withHeader(request, idHeader, `${value}x`))).toBe(false);
    }
  });

  it.each(accepted.filter(hasWindow))('of $scheme is refused past its window ($index)', vector => {
    const seconds = timestampOf(vector)?.toleranceSeconds ?? 0;
    const late = { ...vector, nowMs: (vector.nowMs ?? nowMs) + 2 * (seconds + 1) * 1000 };
    expect(verifies(late, receivedVector(late))).toBe(false);
  });
});

describe('what is signed here is what the sender signed', () => {
  it.each(schemes.filter(isReproducible))('for $id', scheme => {
    const own = accepted.filter(vector => vector.scheme === scheme.id);
    expect(own.some(vector => reproduces(scheme, vector))).toBe(true);
  });
});

/** Signs a vector's request at its time, and compares the result with the sender's signature. */
function reproduces(scheme: SignedDescription, vector: Vector): boolean {
  const request = receivedVector(vector);
  const sent = listHeaderSets(scheme)
    .map(names => compileParts(scheme, names)(request.headers))
    .find(parts => parts.ok);
  if (!sent) return false;
  const sentMs = parseSent(sent.timestamp, scheme.timestamp?.unit);
  const id = sent.id ?? '';
  const signed = signRequest(scheme, vector.secret, { ...request, nowMs: sentMs, id });
  const [names] = listHeaderSets(scheme);
  const parts = names && compileParts(scheme, names)(receivedVector({ ...vector, headers: signed }).headers);
  return parts?.ok === true && parts.signatures.every(signature => sent.signatures.includes(signature));
}

function parseSent(text: string | undefined, unit = 's'): number {
  if (text === undefined) return nowMs;
  if (unit === 's') return Number(text) * 1000;
  return unit === 'ms' ? Number(text) : Date.parse(unit === 'iso8601' ? text : `${text}Z`);
}

/** Public-key senders keep their keys; Contentful signs a list of headers; a time in text has several forms. */
function isReproducible(scheme: SignatureScheme): scheme is SignatureScheme & SignedDescription {
  if (scheme.primitive !== 'hmac' || typeof scheme.content !== 'string') return false;
  const times = vectors
    .filter(vector => vector.scheme === scheme.id && scheme.timestamp?.header !== undefined)
    .map(vector => receivedVector(vector).headers[scheme.timestamp?.header?.toLowerCase() ?? '']?.[0] ?? '');
  const { unit = 's' } = scheme.timestamp ?? {};
  return times.every(time => formatTimestamp(parseSent(time, unit), unit) === time);
}

function verifies(vector: Vector, request: SignedRequest): boolean {
  return compileVerifier(getScheme(vector.scheme), vector.secret)(request, vector.nowMs ?? nowMs).ok;
}

function withHeader(request: SignedRequest, name: string, value: string): SignedRequest {
  return { ...request, headers: { ...request.headers, [name]: [value] } };
}

function headerSets(scheme: SignatureScheme) {
  return scheme.primitive === 'shared-secret'
    ? [{ header: scheme.header.toLowerCase() }].map(({ header }) => ({
        header,
        timestampHeader: undefined,
        idHeader: undefined,
      }))
    : listHeaderSets(scheme);
}

function timestampOf({ scheme }: Vector) {
  const description = getScheme(scheme);
  return description.primitive === 'shared-secret' ? undefined : description.timestamp;
}

function isSigned({ scheme }: Vector): boolean {
  return getScheme(scheme).primitive !== 'shared-secret';
}

function hasTimestamp(vector: Vector): boolean {
  const timestamp = timestampOf(vector);
  return timestamp !== undefined && timestamp.body === undefined;
}

function hasId({ scheme }: Vector): boolean {
  const description = getScheme(scheme);
  return description.primitive !== 'shared-secret' && description.idHeader !== undefined;
}

function hasWindow(vector: Vector): boolean {
  return timestampOf(vector)?.toleranceSeconds !== undefined;
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  sortableId,
  sortableIdRandomBytes,
  uidPattern,
  uidRandomBytes,
  webhookUid,
} from '../../schema/ids.ts';

test('makes a UID of the form that the ingress accepts from nearly all randomness', () => {
  const random = fc.uint8Array({ minLength: uidRandomBytes, maxLength: uidRandomBytes });
  fc.assert(
    fc.property(random, bytes => {
      // Bytes of 252 and more are passed over; that 41 of 64 are so does not happen.
      fc.pre(bytes.filter(byte => byte < 252).length >= 24);
      expect(webhookUid(bytes)).toMatch(uidPattern);
    }),
  );
});

test('refuses to make a UID of too little randomness', () => {
  expect(() => webhookUid(new Uint8Array(23))).toThrow(RangeError);
  expect(() => webhookUid(new Uint8Array(64).fill(255))).toThrow(RangeError);
});

test('makes each character of a UID equally likely', () => {
  const counts = new Map<string, number>();
  for (let byte = 0; byte < 252; byte++) {
    const character = webhookUid(new Uint8Array(24).fill(byte)).slice(3, 4);
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(36);
  expect(new Set(counts.values())).toEqual(new Set([7]));
});

test('makes ids that sort by their time, whatever their randomness', () => {
  const time = fc.nat({ max: 32 ** 10 - 1 });
  const random = fc.uint8Array({ minLength: sortableIdRandomBytes, maxLength: sortableIdRandomBytes });
  fc.assert(
    fc.property(time, time, random, random, (a, b, randomA, randomB) => {
      fc.pre(a < b);
      expect(sortableId('dlv', a, randomA) < sortableId('dlv', b, randomB)).toBe(true);
    }),
  );
});

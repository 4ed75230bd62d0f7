import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createSortableId,
  createUid,
  readSortableIdTime,
  sortableIdRandomBytes,
  uidPattern,
  uidRandomBytes,
} from '../../../schema/ids.ts';

test('makes a UID in the form that the ingress accepts', () => {
  const random = fc.uint8Array({ minLength: uidRandomBytes, maxLength: uidRandomBytes });
  fc.assert(
    fc.property(random, bytes => {
      // Bytes from 252 on are skipped. In practice, 41 of 64 never are.
      fc.pre(bytes.filter(byte => byte < 252).length >= 24);
      expect(createUid(bytes)).toMatch(uidPattern);
    }),
  );
});

test('refuses to make a UID of too little randomness', () => {
  expect(() => createUid(new Uint8Array(23))).toThrow(RangeError);
  expect(() => createUid(new Uint8Array(64).fill(255))).toThrow(RangeError);
});

test('makes each character of a UID equally likely', () => {
  const counts = new Map<string, number>();
  for (let byte = 0; byte < 252; byte++) {
    const character = createUid(new Uint8Array(24).fill(byte)).slice(3, 4);
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
      expect(createSortableId('dlv', a, randomA) < createSortableId('dlv', b, randomB)).toBe(true);
    }),
  );
});

test('writes the time as a ULID does, in lower case', () => {
  // The example of ulid/spec and of its reference implementation.
  const id = createSortableId('dlv', 1_469_918_176_385, new Uint8Array(sortableIdRandomBytes));
  expect(id).toBe('dlv_01aryz6s410000000000000000');
});

test('reads the time back from an id, and none from anything else', () => {
  const time = fc.nat({ max: 2 ** 48 - 1 });
  const random = fc.uint8Array({ minLength: sortableIdRandomBytes, maxLength: sortableIdRandomBytes });
  fc.assert(
    fc.property(time, random, (atMs, bytes) => {
      expect(readSortableIdTime(createSortableId('dlv', atMs, bytes))).toBe(atMs);
    }),
  );
  for (const other of ['', 'dlv_', 'wh_0123456789abcdefghijklmn', 'dlv_01ARYZ6S410000000000000000', 'evt-1'])
    expect(readSortableIdTime(other)).toBeUndefined();
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, escapeGlob, findGlobMistake } from '../../../../schema/filters/glob.ts';
import { naivelyLike } from './naive-match.ts';

const matches = (glob: string, text: string) => compileGlob(glob)(text);

describe('a pattern', () => {
  test('matches as one that is tried character by character', () => {
    const glob = fc.string({ unit: fc.constantFrom('*', '*', 'a', 'b'), maxLength: 7 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 7 });
    fc.assert(
      fc.property(glob, text, (glob, text) => {
        expect(matches(glob, text)).toBe(naivelyLike(glob, text));
      }),
      { numRuns: 5_000 },
    );
  });

  test('that is escaped matches exactly its text', () => {
    const text = fc.string({ unit: fc.constantFrom('*', '\\', 'a', 'b'), maxLength: 6 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(findGlobMistake(escapeGlob(one))).toBeUndefined();
        expect(matches(escapeGlob(one), other)).toBe(one === other);
      }),
    );
  });

  test.for([
    [String.raw`v\d+`, 'filter/invalid', String.raw`double it: 'v\\d+'`],
    [String.raw`C:\temp\*`, 'filter/invalid', String.raw`double it: 'C:\\temp\*'`],
    ['a\\', 'filter/invalid', String.raw`double it: 'a\\'`],
    ['a*'.repeat(65), 'filter/too-large', 'let one * stand'],
    ['a'.repeat(251), 'filter/too-large', 'let one * stand'],
  ] as const)('%s is refused', ([glob, code, hint]) => {
    expect(findGlobMistake(glob)).toMatchObject({ code, hint: expect.stringContaining(hint) });
  });

  test('may have 250 characters and 64 stars', () => {
    expect(findGlobMistake('a'.repeat(250))).toBeUndefined();
    expect(findGlobMistake('a*'.repeat(64))).toBeUndefined();
  });
});

test.for(hostileMatches())('a text of 256 KB costs a few searches of it: %s', ([_, glob, text, verdict]) => {
  expect(findGlobMistake(glob)).toBeUndefined();
  const searches = countSearches(() => expect(matches(glob, text)).toBe(verdict));
  // Each piece is searched for once, and no search begins before the end of the one before.
  expect(searches.calls).toBeLessThanOrEqual(64);
  expect(searches.characters).toBeLessThanOrEqual(text.length);
});

function hostileMatches(): [string, string, string, boolean][] {
  const text = 'a'.repeat(262_144);
  return [
    ['64 stars and a last b', `${'a*'.repeat(64)}b`, text, false],
    ['64 stars, and b in the middle', `${'a*'.repeat(32)}b${'*a'.repeat(32)}`, text, false],
    ['64 stars that match', `${'a*'.repeat(64)}a`, text, true],
    ['a piece that nearly matches everywhere', '*aaab*', text, false],
    ['a long piece that nearly matches everywhere', `*${'a'.repeat(124)}b${'a'.repeat(120)}*`, text, false],
    ['64 pieces that are far apart', '*b'.repeat(64), `${'a'.repeat(4_000)}b`.repeat(64), true],
  ];
}

/** Counts the calls of `indexOf`, and the characters that they pass over or search to the end. */
function countSearches(act: () => void) {
  const found = { calls: 0, characters: 0 };
  const { indexOf } = String.prototype;
  String.prototype.indexOf = function (this: string, piece: string, from = 0) {
    const at = indexOf.call(this, piece, from);
    found.calls++;
    found.characters += (at < 0 ? this.length : at + piece.length) - from;
    return at;
  };
  try {
    act();
  } finally {
    String.prototype.indexOf = indexOf;
  }
  return found;
}

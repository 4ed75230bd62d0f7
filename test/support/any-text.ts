import fc from 'fast-check';

/** Any code point, small ones more often. fast-check's own unit of them first puts a million of them into a map. */
const codePoint = fc
  .nat({ max: 0x10_ffff - 0x800 })
  .map(number => String.fromCodePoint(number < 0xd800 ? number : number + 0x800));

/** Generates text of any code points. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: codePoint, maxLength });
}

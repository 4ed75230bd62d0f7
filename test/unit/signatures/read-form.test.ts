import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readForm } from '../../../signatures/read-form.ts';
import { anyText } from '../../support/any-text.ts';

const read = (body: string | Uint8Array) => {
  const form = readForm(Buffer.from(body));
  return form.ok ? form.fields : form.problem;
};

describe('readForm', () => {
  it.each([
    ['a=1&b=2', ['a', '1'], ['b', '2']],
    ['&&a=1&&', ['a', '1']],
    ['a', ['a', '']],
    ['=', ['', '']],
    ['=1', ['', '1']],
    ['a=b=c', ['a', 'b=c']],
    ['a+b=c+d%2B', ['a b', 'c d+']],
    ['a[]=1&a%5B%5D=2', ['a[]', '1'], ['a[]', '2']],
    ['a=%&b=%4&c=%zz&d=%u0041', ['a', '%'], ['b', '%4'], ['c', '%zz'], ['d', '%u0041']],
    ['a=%2541', ['a', '%41']],
    ['a=%00&b=\0', ['a', '\0'], ['b', '\0']],
    ['a=Zo%C3%AB&b=Zo%c3%ab&c=Zoë', ['a', 'Zoë'], ['b', 'Zoë'], ['c', 'Zoë']],
    ['%EF%BB%BFa=1', ['\ufeffa', '1']],
    ['__proto__=1&constructor=2', ['__proto__', '1'], ['constructor', '2']],
    [''],
  ])('reads %j', (body, ...fields) => {
    expect(read(body)).toEqual(fields);
  });

  it.each([
    ['a byte that is never UTF-8', 'a=%FF'],
    ['an overlong form', 'a=%C0%AF'],
    ['a surrogate', 'a=%ED%A0%80'],
    ['half of a character', 'a=%C3'],
    ['a name', '%FF=a'],
  ])('refuses what is not UTF-8: %s', (_, body) => {
    expect(read(body)).toBe('field 1 of the form is not text in UTF-8');
  });

  it.each([
    ['a byte that is never UTF-8', Buffer.from([0x61, 0x3d, 0xff])],
    [
      'half of a character, of which the other half is encoded',
      Buffer.from([0x61, 0x3d, 0xc3, 0x25, 0x41, 0x42]),
    ],
  ])('refuses bytes that are not UTF-8: %s', (_, body) => {
    expect(read(body)).toBe('the form is not text in UTF-8');
  });

  it('reads 1,000 fields, and refuses one more', () => {
    expect(read('a=1&'.repeat(1_000))).toHaveLength(1_000);
    expect(read('a=1&'.repeat(1_001))).toBe('the form has more than 1000 fields');
  });

  it('finds no field in 256 KiB of separators', () => {
    expect(read('&'.repeat(256 * 1024))).toEqual([]);
  });

  it('reads what URLSearchParams reads, if it is UTF-8', () => {
    const piece = fc.oneof(
      // Node's own reader misreads other characters beside a broken percent sequence.
      fc.string({ maxLength: 8, unit: 'binary-ascii' }),
      fc.constantFrom('&', '=', '+', '%', '%2', '%26', '%3D', '%25', '%C3%AB', ';', '[]', '\0'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), pieces => {
        const body = pieces.join('');
        const expected = [...new URLSearchParams(`&${body}`)];
        const fields = read(body);
        if (typeof fields === 'string') expect(JSON.stringify(expected)).toContain('\ufffd');
        else expect(fields).toEqual(expected);
      }),
    );
  });

  it('reads what URLSearchParams writes', () => {
    const text = anyText(20).map(value => value.toWellFormed());
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 10 }), fields => {
        expect(read(new URLSearchParams(fields).toString())).toEqual(fields);
      }),
    );
  });
});

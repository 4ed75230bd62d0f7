import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PayloadFilter, Scalar } from '../../../../schema/filters/clause.ts';
import { payloadFilterSchema } from '../../../../schema/filters/payload-filter.ts';
import { explainPayloadFilter } from '../../../../schema/filters/payload-filter-explain.ts';
import { compilePayloadFilter } from '../../../../schema/filters/payload-filter-match.ts';
import { payloadCases } from './filter-cases.ts';
import { naivelyMatches } from './naive-match.ts';
import { filters, hostilePayloads, payloads } from './payload-filter-arbitraries.ts';

describe('compilePayloadFilter', () => {
  it('matches every payload without a filter', () => {
    fc.assert(fc.property(payloads, payload => compilePayloadFilter(undefined)(payload)));
  });

  it.each(payloadCases)('judges $filter on $payload: $matches', ({ filter, payload, matches, clauses }) => {
    const parsed = payloadFilterSchema.parse(filter);
    expect(compilePayloadFilter(parsed)(JSON.parse(payload))).toBe(matches);
    const explained = explainPayloadFilter(parsed, JSON.parse(payload));
    expect(explained.map(({ path, operator, holds }) => ({ path, operator, holds }))).toEqual(clauses);
  });

  it('matches a filter of many keys as filters of each key do', () => {
    const field = fc.constantFrom(...'abcdefghijklmn', '__proto__');
    const scalar = fc.constantFrom<Scalar>('x', 0, null);
    const clause = fc.oneof(
      fc.array(scalar, { minLength: 1, maxLength: 3 }),
      fc.record({ not_in: fc.array(scalar, { maxLength: 1 }) }),
      fc.record({ exists: fc.boolean() }),
    );
    const many = fc
      .uniqueArray(fc.tuple(field, clause), { selector: ([name]) => name, minLength: 9 })
      .map(entries => Object.fromEntries(entries));
    // Half of the elements answer all that is asked, so that the verdicts are of both kinds.
    const element = fc.array(fc.tuple(field, scalar)).map(entries => Object.fromEntries(entries));
    fc.assert(
      fc.property(many, fc.array(fc.oneof(element, scalar)), fc.boolean(), (filter, elements, answered) => {
        const answer = Object.fromEntries(
          Object.entries(filter).flatMap(([name, asked]) =>
            Array.isArray(asked)
              ? [[name, asked[0]]]
              : 'exists' in asked && asked.exists
                ? [[name, 'y']]
                : [],
          ),
        );
        const array = answered ? [...elements, answer] : elements;
        const alone = Object.entries(filter).map(entry => Object.fromEntries([entry]));
        const isObject = (one: unknown) => typeof one === 'object' && one !== null;
        const expected = array.some(one => isObject(one) && alone.every(each => naivelyMatches(each, one)));
        expect(compilePayloadFilter({ at: filter })({ at: array })).toBe(expected);
      }),
      {
        numRuns: 3000,
        examples: [[Object.fromEntries([...'abcdefghi'].map(name => [name, { exists: false }])), [], false]],
      },
    );
  });

  it('treats every field of a value that is no object as missing, for any number of keys', () => {
    const keys = (value: PayloadFilter[string]) =>
      Object.fromEntries([...'abcdefghi'].map(key => [key, value]));
    for (const payload of [1, null, 'x', [], [[{}]], [1]]) {
      expect(compilePayloadFilter(keys({ not_in: ['x'] }))(payload)).toBe(true);
      expect(compilePayloadFilter(keys({ exists: true }))(payload)).toBe(false);
    }
  });

  it('matches the same after the filter was stored as JSON and read again', () => {
    fc.assert(
      fc.property(filters, payloads, (filter, payload) => {
        const readBack = payloadFilterSchema.parse(
          JSON.parse(JSON.stringify(payloadFilterSchema.parse(filter))),
        );
        expect(compilePayloadFilter(readBack)(payload)).toBe(naivelyMatches(filter, payload));
      }),
    );
  });

  it('refuses a filter that never passed the schema rather than guess', () => {
    const bare = JSON.parse('{"action": "opened"}');
    expect(() => compilePayloadFilter(bare)).toThrow(TypeError);
  });

  describe.each(hostilePayloads)('on %s', (_title, body) => {
    const payload = JSON.parse(body);

    it.each<[string, PayloadFilter, boolean]>([
      ['in', { a: ['x'] }, false],
      ['not_in', { a: { not_in: ['x'] } }, true],
      ['like', { a: { $like: ['y*', '*y*'] } }, false],
      ['not_like', { a: { $not_like: ['*y'] } }, true],
      ['compare', { a: { $compare: { below: 0 } } }, false],
      ['nested to the bound', nest(15, { a: ['x'] }), false],
      ['none', { a: { $none: { a: ['x'] } } }, true],
    ])('does not throw: %s', (_operator, filter, verdict) => {
      expect(compilePayloadFilter(filter)(payload)).toBe(verdict);
      expect(explainPayloadFilter(filter, payload).every(clause => clause.holds)).toBe(verdict);
    });
  });
});

function nest(levels: number, innermost: PayloadFilter): PayloadFilter {
  let filter = innermost;
  for (let level = 0; level < levels; level++) filter = { a: filter };
  return filter;
}

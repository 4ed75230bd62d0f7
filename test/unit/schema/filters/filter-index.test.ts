import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeTrigger } from '../../../../schema/definitions/judge-trigger.ts';
import type { PayloadFilter } from '../../../../schema/filters/clause.ts';
import { compileFilterIndex } from '../../../../schema/filters/filter-index.ts';
import type { HeaderFilter } from '../../../../schema/filters/header-filter.ts';
import { compilePayloadFilter } from '../../../../schema/filters/payload-filter-match.ts';

// More than a few: the index looks fields up one by one up to four of them, and past it the payload's own fields.
const field = fc.constantFrom('a', 'b', '__proto__', 'c', 'd', 'e', 'f');
const scalar = fc.constantFrom<string | number | boolean | null>('x', 'y', 0, 1, true, null);
const { filter } = fc.letrec<{ filter: PayloadFilter; value: PayloadFilter[string] }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.array(scalar, { maxLength: 3 }),
    fc.record({ not_in: fc.array(scalar, { maxLength: 2 }) }),
    fc.record({ exists: fc.boolean() }),
    fc.record({ $like: fc.array(fc.constantFrom('x*', '*', 'y'), { maxLength: 2 }) }),
    fc.record({ $not_like: fc.array(fc.constantFrom('x*', '*', 'y'), { maxLength: 2 }) }),
    fc.constantFrom<PayloadFilter[string]>({ $compare: { at_least: 1 } }, { $compare: { below: 1 } }),
    fc.record({ not_in: fc.array(scalar, { maxLength: 2 }), $like: fc.constant(['x*', 'y']) }),
    fc.record({ $none: tie('filter') }),
    tie('filter'),
  ),
  filter: fc
    .array(fc.tuple(field, tie('value')), { maxLength: 3 })
    .map(entries => Object.fromEntries(entries)),
}));
const { payload } = fc.letrec(tie => ({
  payload: fc.oneof(
    { depthSize: 'medium' },
    scalar,
    fc.array(tie('payload'), { maxLength: 3 }),
    fc.array(fc.tuple(field, tie('payload')), { maxLength: 3 }).map(entries => Object.fromEntries(entries)),
  ),
}));

describe('compileFilterIndex', () => {
  it('names exactly the filters that match by themselves', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(filter, { nil: undefined }), { maxLength: 24 }),
        payload,
        (filters, value) => {
          const named = filters.map((filter, index) => ({ name: `automation-${index}`, filter }));
          const expected = named
            .filter(({ filter }) => compilePayloadFilter(filter)(value))
            .map(({ name }) => name);
          expect([...compileFilterIndex(named)(value)].sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('names exactly the filters whose headers match too, whatever the payload calls its fields', () => {
    const name = fc.constantFrom('X-A', 'x-b', 'Payload', 'Headers', '__proto__', 'in');
    const values = fc.array(fc.constantFrom('x', 'y', ''), { minLength: 1, maxLength: 2 });
    const range = fc.constantFrom<HeaderFilter[string]>(
      { $compare: { at_least: 1 } },
      { $compare: { below: 2 }, $not_like: ['1.*'] },
    );
    const pattern = fc.constantFrom<HeaderFilter[string]>({ $like: ['x*', '1*'] }, { $not_like: ['*y'] });
    const exists = fc.record({ exists: fc.boolean() });
    const condition = fc.oneof(values, fc.record({ not_in: values }), exists, pattern, range);
    const headerFilter = fc.dictionary(name, condition, { maxKeys: 3, noNullPrototype: true });
    const lowerName = fc.constantFrom('x-a', 'x-b', 'payload', 'headers', 'in');
    const sent = fc.dictionary(lowerName, fc.constantFrom('x', 'y', 'z', '', '1', '1.5', '01'), {
      noNullPrototype: true,
    });
    const named = fc.record({
      filter: fc.option(filter, { nil: undefined }),
      headers: fc.option(headerFilter, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(named, { maxLength: 24 }), payload, sent, (filters, value, headers) => {
        const all = filters.map((one, index) => ({ name: `automation-${index}`, ...one }));
        const uid = 'wh_0123456789abcdefghijklmn';
        const expected = all.filter(one => {
          const trigger = { filter: { webhook_ids: [uid], payload: one.filter, headers: one.headers } };
          return judgeTrigger(trigger as never, { payload: value, headers }).wouldTrigger;
        });
        const found = compileFilterIndex(all)(value, headers);
        expect([...found].sort()).toEqual(expected.map(({ name }) => name).sort());
      }),
      { numRuns: 3_000 },
    );
  });

  it('matches each payload by itself, whatever the one before excluded', () => {
    const match = compileFilterIndex([
      { name: 'not-x', filter: { a: { not_in: ['x'] } } },
      { name: 'without-b', filter: { b: { exists: false } } },
      { name: 'x', filter: { a: ['x'] } },
    ]);
    expect(match({ a: 'x', b: null })).toEqual(['x']);
    expect(match({ a: 'y' })).toEqual(['not-x', 'without-b']);
    expect(match({ a: 'x', b: null })).toEqual(['x']);
  });

  it('rules nothing out by one element of an array where another may satisfy the filter', () => {
    const match = compileFilterIndex([{ name: 'any', filter: { items: { sku: { not_in: ['x'] } } } }]);
    expect(match({ items: [{ sku: 'x' }, { sku: 'y' }] })).toEqual(['any']);
    expect(match({ items: [{ sku: 'x' }] })).toEqual([]);
    expect(match([{ items: { sku: 'x' } }, { items: { sku: 'y' } }])).toEqual(['any']);
  });

  it('names an automation once, however many of its filters match', () => {
    const match = compileFilterIndex([
      { name: 'triage', filter: { a: ['x'] } },
      { name: 'triage', filter: undefined },
      { name: 'triage', filter: { a: ['x'] } },
    ]);
    expect(match({ a: 'x' })).toEqual(['triage']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PayloadFilter } from '../../../../schema/filters/clause.ts';
import { examineClauses, explainPayloadFilter } from '../../../../schema/filters/payload-filter-explain.ts';
import { compilePayloadFilter } from '../../../../schema/filters/payload-filter-match.ts';
import { filters, payloads } from './payload-filter-arbitraries.ts';

describe('explainPayloadFilter', () => {
  it('shows for each clause what was allowed and what the payload has', () => {
    const filter = {
      action: ['created', 'reopened'],
      issue: { level: { not_in: ['info', null] }, muted: { exists: false } },
    };
    expect(explainPayloadFilter(filter, { action: 'closed', issue: { level: 'error' } })).toEqual([
      {
        path: '$.action',
        operator: 'in',
        allowed: '["created", "reopened"]',
        found: '"closed"',
        holds: false,
      },
      { path: '$.issue.level', operator: 'not_in', allowed: '["info", null]', found: '"error"', holds: true },
      { path: '$.issue.muted', operator: 'exists', allowed: 'false', found: 'missing', holds: true },
    ]);
  });

  it.each<[string, PayloadFilter, unknown, object]>([
    [
      'a range',
      { n: { $compare: { at_least: 5, below: 10 } } },
      12,
      { operator: '$compare', allowed: 'at least 5 and below 10', found: '12' },
    ],
    [
      'a string of digits',
      { n: { $compare: { at_most: 10 } } },
      '7',
      {
        note: 'only numbers are compared, and "7" is a string',
      },
    ],
    [
      'a list without numbers',
      { n: { $compare: { at_most: 10 } } },
      [true],
      { note: 'only numbers are compared' },
    ],
    ['a number', { n: { $like: ['1*'] } }, 12, { note: 'only strings match patterns' }],
    [
      'the nearest pattern',
      { n: { $like: ['v*', 'refs/tags/*', 'ref'] } },
      'refs/heads/x',
      {
        allowed: '["v*", "refs/tags/*", "ref"]',
        note: '"ref" is only a part of the text, which "*ref*" would match',
      },
    ],
    [
      'as far as it matches',
      { n: { $like: ['v*', 'refs/tags/*'] } },
      ['x', 'refs/heads/x'],
      {
        note: '"refs/tags/*" matches as far as "refs/"',
      },
    ],
    [
      'another case',
      { n: { $like: ['x*', 'Release/*'] } },
      'release/1',
      {
        note: '"Release/*" differs only in upper and lower case',
      },
    ],
    [
      'a part',
      { n: { $like: ['tags/*'] } },
      'refs/tags/1',
      {
        note: '"tags/*" is only a part of the text, which "*tags/*" would match',
      },
    ],
  ])('says how near a value came: %s', (_, filter, n, expected) => {
    expect(explainPayloadFilter(filter, { n })).toMatchObject([{ holds: false, ...expected }]);
  });

  it('says no more where both sides say it all', () => {
    for (const [clause, n] of [
      [{ $like: ['a*'] }, 'b'],
      [{ $like: ['a*'] }, undefined],
      [{ $not_like: ['a*'] }, 'a'],
      [{ $compare: { above: 1 } }, 1],
      [{ $compare: { above: 1 } }, undefined],
      [{ $like: ['a*'] }, 'ab'],
    ] as const)
      expect(explainPayloadFilter({ n: clause }, { n })[0]).not.toHaveProperty('note');
  });

  it('has nothing to say without a filter', () => {
    expect(explainPayloadFilter(undefined, { a: 1 })).toEqual([]);
  });

  it('finds the element that satisfies all clauses at any position, and the nearest miss among the first thousand', () => {
    const items = Array(5_000).fill({ sku: 'x' });
    const filter = { items: { sku: ['a'], qty: [1] } };
    const explain = (at: number, item: object) =>
      explainPayloadFilter(filter, { items: items.with(at, item) }).map(({ path, holds }) => [path, holds]);
    expect(explain(4_999, { sku: 'a', qty: 1 })).toEqual([
      ['$.items', true],
      ['$.items[4999].sku', true],
      ['$.items[4999].qty', true],
    ]);
    expect(explain(999, { sku: 'a' })[1]).toEqual(['$.items[999].sku', true]);
    expect(explain(1_000, { sku: 'a' })[1]).toEqual(['$.items[0].sku', false]);
  });

  it('shows of an array the element that satisfies the most clauses', () => {
    const filter = { items: { sku: ['a'], size: { not_in: [1] } } };
    const allowed = 'one element that satisfies every clause';
    expect(
      explainPayloadFilter(filter, { items: [{ size: 1 }, { sku: 'a', size: 1 }, { sku: 'a', size: 1 }] }),
    ).toEqual([
      { path: '$.items', operator: 'any_element', allowed, found: '[1] of 3', holds: false },
      { path: '$.items[1].sku', operator: 'in', allowed: '["a"]', found: '"a"', holds: true },
      { path: '$.items[1].size', operator: 'not_in', allowed: '[1]', found: '1', holds: false },
    ]);
    expect(explainPayloadFilter(filter, { items: [{ sku: 'b' }, { sku: 'a' }] })).toEqual([
      { path: '$.items', operator: 'any_element', allowed, found: '[1] of 2', holds: true },
      { path: '$.items[1].sku', operator: 'in', allowed: '["a"]', found: '"a"', holds: true },
      { path: '$.items[1].size', operator: 'not_in', allowed: '[1]', found: 'missing', holds: true },
    ]);
    expect(explainPayloadFilter(filter, { items: [] })).toEqual([
      { path: '$.items', operator: 'object', allowed: 'needed', found: '[]', holds: false },
    ]);
  });

  it('shows of nested fields without an object only that', () => {
    const filter: PayloadFilter = { issue: { user: { login: { not_in: ['bot'] } }, level: ['error'] } };
    const object = { operator: 'object', allowed: 'needed', holds: false };
    const explain = (payload: unknown) => explainPayloadFilter(filter, payload);
    expect(explain({})).toEqual([{ path: '$.issue', found: 'missing', ...object }]);
    expect(explain({ issue: 'x' })).toEqual([{ path: '$.issue', found: '"x"', ...object }]);
    expect(explain({ issue: [1, { level: 'error' }] })).toMatchObject([
      { path: '$.issue', found: '[1] of 2', holds: false },
      { path: '$.issue[1].user', found: 'missing', ...object },
      { path: '$.issue[1].level', holds: true },
    ]);
    expect(explainPayloadFilter({ a: {} }, { a: [{}] })).toMatchObject([{ path: '$.a', holds: true }]);
  });

  it('shows of $none which element of a list matches, and nothing of its values', () => {
    const filter: PayloadFilter = { labels: { exists: true, $none: { name: ['wip'] } } };
    const explain = (labels: unknown) => explainPayloadFilter(filter, { labels })[1];
    const none = { path: '$.labels', operator: '$none', allowed: '{"name": ["wip"]}' };
    expect(explain([{ name: 'bug' }, { name: 'wip' }])).toEqual({ ...none, found: '[1] of 2', holds: false });
    expect(explain([{ name: 'bug' }])).toEqual({ ...none, found: 'none of 1', holds: true });
    expect(explain(undefined)).toEqual({ ...none, found: 'missing', holds: true });
  });

  it('examines the same clauses of any payload, and all hold exactly if it matches', () => {
    fc.assert(
      fc.property(filters, payloads, (filter, payload) => {
        const keysOf = (value: unknown) => examineClauses(filter, value).map(({ keys }) => keys);
        expect(keysOf(payload)).toEqual(keysOf(undefined));
        const holds = examineClauses(filter, payload).every(clause => clause.holds);
        expect(holds).toBe(compilePayloadFilter(filter)(payload));
      }),
    );
  });

  it('names places so that no two are confused', () => {
    const filter = {
      'a.b': [1],
      a: { b: [1] },
      '': [1],
      '0': [1],
      '"]': [1],
      'a\n': [1],
      ['__proto__']: [1],
    };
    const paths = (payload: unknown) => explainPayloadFilter(filter, payload).map(outcome => outcome.path);
    expect(paths({ a: {} })).toEqual([
      '$["0"]',
      '$["a.b"]',
      '$.a.b',
      '$[""]',
      '$["\\"]"]',
      '$["a\\n"]',
      '$.__proto__',
    ]);
    expect(paths([{}])).toContain('$[0]["0"]');
  });

  it('agrees with the compiled filter: all clauses hold exactly if it matches', () => {
    fc.assert(
      fc.property(filters, payloads, (filter, payload) => {
        const outcomes = explainPayloadFilter(filter, payload);
        expect(outcomes.every(outcome => outcome.holds)).toBe(compilePayloadFilter(filter)(payload));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ['a long string', 'x'.repeat(100_000), `"${'x'.repeat(199)}…`],
    ['a long array', Array(100_000).fill(1), `${'[1, '}${'1, '.repeat(65)}1…`],
    ['a deep array', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)), `${'['.repeat(200)}…`],
    [
      'a deep object',
      JSON.parse(`${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`),
      `${'{"a": '.repeat(33)}{"…`,
    ],
    ['a small object', { a: [1, { 'b"': null }], c: 'd\n' }, '{"a": [1, {"b\\"": null}], "c": "d\\n"}'],
    ['an empty array', [], '[]'],
    ['a number beyond all doubles', JSON.parse('-1e400'), '-Infinity'],
    ['an integer that was rounded', JSON.parse('9007199254740993'), '≈9007199254740992'],
    ['a negative zero', -0, '0'],
  ])('shows an excerpt of %s', (_title, value, found) => {
    expect(explainPayloadFilter({ a: { exists: true } }, { a: value })[0]?.found).toBe(found);
  });
});

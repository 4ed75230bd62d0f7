import { describe, expect, test } from 'vitest';
import { judgeTrigger } from '../../../../schema/definitions/judge-trigger.ts';
import { parseAutomation } from '../../../../schema/definitions/parse-automation.ts';
import { headerCases } from './filter-cases.ts';

const uid = 'wh_0123456789abcdefghijklmn';

function parse(headers: string) {
  const text = `prompt: Act.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook_ids: [${uid}]
      headers: ${headers}
`;
  return parseAutomation('act', 'automations/act.yaml', Buffer.from(text));
}

function judge(headers: string, sent: Record<string, string>) {
  const { definition, diagnostics } = parse(headers);
  expect(diagnostics).toEqual([]);
  const [trigger] = definition?.triggers ?? [];
  if (!trigger) throw new Error('no trigger');
  return judgeTrigger(trigger, { payload: {}, headers: sent });
}

describe('a header filter', () => {
  test.each(headerCases)('$headerFilter and $headers: $matches', one => {
    const judged = judge(JSON.stringify(one.headerFilter), one.headers);
    expect(judged).toMatchObject({ wouldTrigger: one.matches, headers: { holds: one.matches } });
    expect(judged.headers?.clauses).toMatchObject(one.clauses);
  });

  test('is explained header by header, by the names that it uses', () => {
    const { headers } = judge('{ X-GitHub-Event: [pull_request], X-Tenant: { exists: true } }', {
      'x-github-event': 'push',
    });
    expect(headers).toEqual({
      holds: false,
      clauses: [
        {
          path: 'X-GitHub-Event',
          operator: 'in',
          allowed: '["pull_request"]',
          found: '"push"',
          holds: false,
        },
        { path: 'X-Tenant', operator: 'exists', allowed: 'true', found: 'missing', holds: false },
      ],
    });
  });

  test('explains why a header is not in a range, or matches no pattern', () => {
    const { headers } = judge('{ X-Retry: { $compare: { above: 2 } }, X-Ref: { $like: ["refs/tags/*"] } }', {
      'x-retry': '2',
      'x-ref': 'refs/heads/main',
    });
    expect(headers?.clauses).toEqual([
      { path: 'X-Retry', operator: '$compare', allowed: 'above 2', found: '"2"', holds: false },
      {
        path: 'X-Ref',
        operator: '$like',
        allowed: '["refs/tags/*"]',
        found: '"refs/heads/main"',
        holds: false,
        note: '"refs/tags/*" matches as far as "refs/"',
      },
    ]);
    const noNumber = judge('{ X-Retry: { $compare: { above: 2 } } }', { 'x-retry': 'often' });
    expect(noNumber.headers?.clauses).toMatchObject([{ note: 'only numbers are compared' }]);
  });

  test('of a trigger that has none leaves the verdict as it was', () => {
    const filter = { webhook_ids: [uid], payload: { a: ['x'] } };
    expect(judgeTrigger({ filter }, { payload: { a: 'x' }, headers: { b: 'y' } })).not.toHaveProperty(
      'headers',
    );
  });
});

describe('a mistake in a header filter is reported where it stands', () => {
  test.each([
    ['push', 'a header filter must be an object whose keys name headers', /headers: \{ X-GitHub-Event/],
    ['{}', 'the header filter names no header', /or remove the key/],
    ['{ X-A: push }', 'X-A must be a list of allowed values', /write X-A: \["push"\]/],
    ['{ X-A: 1 }', 'X-A must be a list of allowed values', /write X-A: \["1"\]/],
    ['{ X-A: null }', 'X-A must be a list of allowed values', /write X-A: \{ exists: false \}/],
    ['{ X-A: [1] }', 'the value of a header is always a string', /put it in quotes/],
    ['{ X-A: [true] }', 'the value of a header is always a string', /put it in quotes/],
    ['{ X-A: [[a]] }', 'the value of a header is always a string', /one flat list/],
    ['{ X-A: [] }', 'the list is empty', /exists: true/],
    ['{ X-A: { in: [] } }', 'the list is empty', /exists: true/],
    ['{ X-A: { not_in: [2] } }', 'the value of a header is always a string', /put it in quotes/],
    ['{ X-A: { notin: [a] } }', 'X-A must be a list of allowed values, or operators:', /not_in: \[a\]/],
    ['{ X-A: { $in: [a] } }', 'X-A must be a list of allowed values, or operators:', /write X-A: \[a\]/],
    [
      '{ X-A: { regex: [^a] } }',
      'X-A must be a list of allowed values, or operators:',
      /write X-A: \{ \$like: \["a\*"\] \}/,
    ],
    [
      '{ X-A: { gt: 5 } }',
      'X-A must be a list of allowed values, or operators:',
      /write X-A: \{ \$compare: \{ above: 5 \} \}/,
    ],
    [
      '{ X-A: { like: a* } }',
      'X-A must be a list of allowed values, or operators:',
      /write X-A: \{ \$like: \["a\*"\] \}/,
    ],
    ['{ X-A: { $like: a* } }', '$like has an operand of a wrong type', /write a list of patterns/],
    ['{ X-A: { $like: [] } }', 'the list is empty', /exists: true/],
    ['{ X-A: { $like: [1] } }', 'a pattern is a string', /compare/],
    ['{ X-A: { $none: { a: [b] } } }', '$none is for lists of objects', /not_in/],
    ['{ X-A: { in: [a], like: [b] } }', '"like" is no operator', /write \$like/],
    ['{ X-A: { $like: [" a*"] } }', 'a header has no white space around its value', /write "a\*"/],
    ["{ X-A: { $not_like: ['\\d'] } }", 'a \\ in a pattern stands only before', /no regular expression/],
    ['{ X-A: { $compare: { at_least: "5" } } }', 'at_least must be a number', /at_least: 5/],
    ['{ X-A: { $compare: { at_least: 5, below: 5 } } }', 'the bounds contradict each other', /below 5/],
    [
      '{ X-A: { exists: "yes" } }',
      'X-A must be a list of allowed values, or operators:',
      /X-A: \{ exists: true \}/,
    ],
    ['{ X-A: [a], x-a: [b] }', 'x-a and X-A are the same header', /write one of them/],
    ['{ "X A": [a] }', '"X A" is not a header name', /write only the name/],
    ['{ "X-A:": [a] }', '"X-A:" is not a header name', /write only the name/],
    ['{ X-A: [" a"] }', 'a header has no white space around its value', /write "a"/],
    [`{ X-A: [${'a'.repeat(257)}] }`, 'at most 256 characters of a header are kept', /another header/],
  ])('%s', (headers, message, hint) => {
    const { definition, diagnostics } = parse(headers);
    expect(definition).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        code: expect.stringMatching(/^filter\/(invalid|operator-misused)$/),
        severity: 'error',
        range: { start: { line: 7 } },
      },
    ]);
    expect(diagnostics[0]?.message).toContain(message);
    expect(diagnostics[0]?.hint).toMatch(hint);
  });

  test('operators that cannot hold together', () => {
    expect(parse('{ X-A: { in: [a], not_in: [a] } }').diagnostics).toMatchObject([
      { code: 'filter/contradiction', severity: 'error' },
    ]);
  });

  test('a pattern in a plain list is a warning, with the line to write', () => {
    const { definition, diagnostics } = parse('{ X-Ref: { in: ["release/*"], not_in: [main] } }');
    expect(definition).toBeDefined();
    expect(diagnostics).toMatchObject([
      {
        code: 'filter/pattern',
        severity: 'warning',
        hint: 'write X-Ref: { not_in: [main], $like: ["release/*"] }',
      },
    ]);
  });

  test('too many headers, or values', () => {
    const many = Array.from({ length: 17 }, (_, index) => `X-${index}: [a]`).join(', ');
    expect(parse(`{ ${many} }`).diagnostics).toMatchObject([{ code: 'filter/too-large' }]);
    expect(parse(`{ X-A: [${'a, '.repeat(101)}] }`).diagnostics).toMatchObject([
      { code: 'filter/too-large' },
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { payloadFilterSchema } from '../../../../schema/filters/payload-filter.ts';
import { judgeByObservation } from '../../../../schema/payloads/judge-by-observation.ts';
import {
  createObservationBudget,
  createObserver,
  type Observation,
} from '../../../../schema/payloads/observation.ts';

function observe(payloads: readonly unknown[], budget = createObservationBudget()): Observation {
  const { observation, add } = createObserver(budget);
  for (const payload of payloads) add(payload);
  return observation;
}

function judge(filter: string, payloads: readonly unknown[]) {
  return judgeByObservation(payloadFilterSchema.parse(parse(filter)), observe(payloads));
}

const issue = (index: number) => ({
  action: 'created',
  number: index,
  issue: {
    ...(index > 1 && { level: index % 2 ? 'error' : 'warning' }),
    labels: [{ name: 'bug' }],
    muted: false,
  },
  tags: ['a', 'b'],
  assignee: null,
});
const issues = Array.from({ length: 200 }, (_, index) => issue(index));

describe('a filter that no delivery fits', () => {
  test.for([
    [
      '{ issue: { levle: [error] } }',
      'filter/field-not-sent',
      '$.issue.levle occurs in none of the last 200 deliveries; $.issue.level in 198',
      true,
    ],
    [
      '{ issue: { Level: { not_in: [error] } } }',
      'filter/field-not-sent',
      '$.issue.Level occurs in none of the last 200 deliveries; $.issue.level in 198',
      true,
    ],
    [
      '{ level: [error] }',
      'filter/field-not-sent',
      '$.level occurs in none of the last 200 deliveries; $.issue.level in 198',
      true,
    ],
    [
      '{ issue: { label: { name: [bug] } } }',
      'filter/field-not-sent',
      '$.issue.label occurs in none of the last 200 deliveries; $.issue.labels in 200',
      true,
    ],
    [
      '{ release: { exists: true } }',
      'filter/field-not-sent',
      '$.release occurs in none of the last 200 deliveries',
      false,
    ],
    [
      '{ action: [deleted] }',
      'filter/value-not-sent',
      '$.action is "deleted" in none of the last 200 deliveries; it is always "created"',
      false,
    ],
    [
      '{ issue: { level: [fatal, critical] } }',
      'filter/value-not-sent',
      '$.issue.level is "fatal" or "critical" in none of the last 200 deliveries; it is one of "warning", "error"',
      false,
    ],
    [
      '{ action: [Created] }',
      'filter/value-not-sent',
      '$.action is "Created" in none of the last 200 deliveries, but "created" in some',
      true,
    ],
    [
      '{ issue: { labels: { name: [bgu] } } }',
      'filter/value-not-sent',
      '$.issue.labels.name is "bgu" in none of the last 200 deliveries, but "bug" in some',
      true,
    ],
    [
      '{ number: ["1"] }',
      'filter/type-not-sent',
      '$.number: "1" is asked for, but numbers were sent, such as 0',
      true,
    ],
    [
      '{ number: { not_in: ["1"] } }',
      'filter/type-not-sent',
      '$.number: "1" is asked for, but numbers were sent, such as 0',
      true,
    ],
    [
      '{ issue: { muted: ["false"] } }',
      'filter/type-not-sent',
      '$.issue.muted: "false" is asked for, but booleans were sent, such as false',
      true,
    ],
    [
      '{ action: [1] }',
      'filter/type-not-sent',
      '$.action: 1 is asked for, but strings were sent, such as "created"',
      true,
    ],
    ['{ issue: [bug] }', 'filter/type-not-sent', '$.issue: "bug" is asked for, but objects were sent', true],
    [
      '{ issue: { level: { $like: ["fatal*", "c*"] } } }',
      'filter/value-not-sent',
      '$.issue.level matches "fatal*" or "c*" in none of the last 200 deliveries; it is one of "warning", "error"',
      false,
    ],
    [
      '{ kind: { $like: ["fatal*"] } }',
      'filter/field-not-sent',
      '$.kind occurs in none of the last 200 deliveries',
      false,
    ],
    [
      '{ size: { $compare: { above: 1 } } }',
      'filter/field-not-sent',
      '$.size occurs in none of the last 200 deliveries',
      false,
    ],
    [
      '{ number: { $like: ["1*"] } }',
      'filter/type-not-sent',
      '$.number: a string is asked for, but numbers were sent, such as 0',
      true,
    ],
    [
      '{ number: { $not_like: ["1*"] } }',
      'filter/type-not-sent',
      '$.number: a string is asked for, but numbers were sent, such as 0',
      true,
    ],
    [
      '{ action: { $compare: { above: 1 } } }',
      'filter/type-not-sent',
      '$.action: a number is asked for, but strings were sent, such as "created"',
      true,
    ],
    [
      '{ action: { exists: false } }',
      'filter/value-not-sent',
      '$.action occurs in each of the last 200 deliveries',
      false,
    ],
  ] as const)('%s: %s', ([filter, code, message, isCertain]) => {
    expect(judge(filter, issues)).toMatchObject([{ code, message, isCertain }]);
  });

  test('gets the value in the type that was sent as hint', () => {
    expect(judge('{ number: ["1", "2"] }', issues)[0]?.hint).toContain('write [1, 2]');
    expect(judge('{ issue: { muted: ["false"] } }', issues)[0]?.hint).toContain('write [false]');
  });
});

describe('a filter that some delivery fits, or that is a guard', () => {
  test.for([
    '{ action: [created] }',
    '{ action: [created, deleted] }',
    '{ action: { not_in: [deleted] } }',
    '{ issue: { level: [error] } }',
    '{ issue: { level: { exists: false } } }',
    '{ issue: { labels: { name: [bug] } } }',
    '{ tags: [a] }',
    '{ tags: { not_in: [c] } }',
    '{ number: [1000] }',
    '{ assignee: [bot] }',
    '{ assignee: [null] }',
    '{ draft: { exists: false } }',
    '{ issue: { level: { $like: ["err*"] } } }',
    '{ issue: { level: { $not_like: ["fatal*"] } } }',
    '{ tags: { $like: ["b*"] } }',
    '{ number: { $compare: { at_least: 5 } } }',
    '{ number: { $compare: { at_least: 5000 } } }',
    '{ assignee: { $like: ["bot*"] } }',
    '{ sender: { $not_like: ["bot*"] } }',
    '{ sender: { not_in: [bot] } }',
    '{ issue: { labels: { $none: { name: [wip] } } } }',
    '{ issue: { labels: { name: [bug], color: { not_in: [red] } } } }',
    '{ issue: { level: { not_in: [fatal] }, muted: { not_in: [true] } } }',
    '{}',
  ])('%s', filter => {
    expect(judge(filter, issues)).toEqual([]);
  });
});

test.for([
  ['{ issue: { labels: { name: { not_in: [wip] } } } }', 'write labels: { $none: { name: [wip] } }'],
  [
    '{ issue: { labels: { name: { $not_like: ["wip*"] } } } }',
    'write labels: { $none: { name: { $like: ["wip*"] } } }',
  ],
  [
    '{ issue: { labels: { by: { login: { not_in: [bot] } } } } }',
    'write labels: { $none: { by: { login: [bot] } } }',
  ],
  [
    '{ issue: { labels: { name: { not_in: [wip], $not_like: ["x*"] } } } }',
    'write what no element may be below $none',
  ],
])('%s only excludes, so one other element is enough', ([filter = '', hint]) => {
  const payloads = issues.map(one => ({
    ...one,
    issue: { labels: [{ name: 'bug', by: { login: 'ada' } }] },
  }));
  expect(judge(filter, payloads.slice(0, 1))).toEqual([
    {
      code: 'filter/any-element',
      path: ['issue', 'labels'],
      message: '$.issue.labels is a list, and one element that is not excluded is enough to match',
      hint,
      isCertain: true,
    },
  ]);
});

test('a rare event is not reported after fewer than three deliveries, a slip is', () => {
  expect(judge('{ action: [deleted], release: { exists: true } }', issues.slice(0, 2))).toEqual([]);
  expect(judge('{ number: ["0"] }', issues.slice(0, 1))).toHaveLength(1);
  expect(judge('{ a: [1] }', [])).toEqual([]);
});

test('a range in which none of a few numbers is', () => {
  const sizes = [1, 2, 2].map(size => ({ size }));
  expect(judge('{ size: { $compare: { above: 2 } } }', sizes)).toMatchObject([
    { message: '$.size is above 2 in none of the last 3 deliveries; it is one of 2, 1' },
  ]);
  expect(judge('{ size: { $compare: { above: 1 } } }', sizes)).toEqual([]);
});

test('fields that were too many to remember are not reported as missing', () => {
  const map = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]));
  expect(judge('{ map: { k499: [499], other: [1] } }', [{ map }, { map }, { map }])).toEqual([]);
});

test('values of secret fields, and texts that look like credentials, are in no message', () => {
  const payloads = Array.from({ length: 9 }, () => ({
    token: 'abc',
    code: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  }));
  const found = judge('{ token: [x], code: [x] }', payloads);
  expect(found).toHaveLength(2);
  expect(JSON.stringify(found)).not.toMatch(/abc|ghp_/);
});

test('observation ends with its budget, and counts only what it saw', () => {
  const budget = { visits: 100, paths: 10 };
  const observation = observe(issues, budget);
  expect(observation.deliveries).toBeLessThan(20);
  expect(observation.root.fields.get('action')?.deliveries).toBe(observation.deliveries);
  expect(observation.deliveries).toBeGreaterThan(0);
  expect(budget.visits).toBeLessThanOrEqual(0);
});

import { describe, expect, it } from 'vitest';
import {
  checkFixture,
  diagnoseFixture,
  parseFilterFixture,
} from '../../../../schema/definitions/filter-fixture.ts';
import { payloadFilterSchema } from '../../../../schema/filters/payload-filter.ts';

const file = 'automations/triage.fixtures/created.json';
const [errors, payments] = ['wh_aaaaaaaaaaaaaaaaaaaaaaaa', 'wh_bbbbbbbbbbbbbbbbbbbbbbbb'];

describe('parseFilterFixture', () => {
  it.each([
    ['{"expect": "trigger", "payload": {"__proto__": 1}}'],
    ['{"expect": "no-trigger", "payload": null}'],
    [`{"expect": "no-trigger", "webhook": "${errors}", "payload": [1]}`],
  ])('reads %s', text => {
    const parsed = parseFilterFixture(file, text);
    expect(parsed.ok && JSON.stringify(parsed.fixture)).toBe(JSON.stringify(JSON.parse(text)));
  });

  it.each([
    ['{', '1:2', 'invalid JSON: expected a key in double quotes or }'],
    ['{"expect": "trigger",\n}', '2:1', 'invalid JSON: expected a key in double quotes'],
    ['{"expect" "trigger"}', '1:11', 'invalid JSON: expected a colon'],
    ['{"payload": [1 2]}', '1:16', 'invalid JSON: expected a comma or the closing bracket'],
    ['{"payload": [1,]}', '1:16', 'invalid JSON: expected a value'],
    ["{'payload': 1}", '1:2', 'invalid JSON: expected a key in double quotes or }'],
    ['{"payload": "\t"}', '1:13', 'invalid JSON: expected a value'],
    ['{"payload": 01}', '1:14', 'invalid JSON: expected a comma or the closing bracket'],
    ['{} {}', '1:4', 'invalid JSON: expected the end of the file'],
    ['', '1:1', 'invalid JSON: expected a value'],
    ['[]', '1:1', 'the file must be a mapping of keys to values, not a list'],
    ['{"expect": "trigger"}', '1:1', 'the key "payload" is missing'],
    ['{"payload": 1}', '1:1', 'the key "expect" is missing'],
    ['{"expect": true, "payload": 1}', '1:12', 'expect cannot be true'],
    [
      '{\n  "expect": "trigger", "payload": {"expect": 1},\n  "webhook": "webhooks/errors.yaml"}',
      '3:14',
      'webhook cannot be "webhooks/errors.yaml"',
    ],
    ['{"expect": "trigger", "payload": 1, "paylod": 1}', '1:37', 'unknown key "paylod"'],
  ])('reports %j at %s', (text, place, message) => {
    const parsed = parseFilterFixture(file, text);
    const found = parsed.ok ? [] : parsed.diagnostics;
    expect(found.map(({ range, ...rest }) => [`${range?.start.line}:${range?.start.column}`, rest])).toEqual([
      [place, { code: 'fixture/invalid', severity: 'error', file, message, hint: expect.any(String) }],
    ]);
  });
});

describe('checkFixture', () => {
  const triggers = [
    { filter: { webhook_ids: [errors], payload: payloadFilterSchema.parse({ level: ['error'] }) } },
    { filter: { webhook_ids: [payments], payload: payloadFilterSchema.parse({ paid: [false] }) } },
  ];
  const check = (fixture: object) => {
    const parsed = parseFilterFixture(file, JSON.stringify(fixture));
    if (!parsed.ok) throw new Error(parsed.diagnostics[0]?.message);
    return checkFixture(parsed.fixture, triggers);
  };

  it('passes if any expected trigger fires, or if none fires that must not', () => {
    expect(check({ expect: 'trigger', payload: { paid: false } })).toMatchObject({
      passed: true,
      wouldTrigger: true,
    });
    expect(check({ expect: 'no-trigger', payload: {} })).toMatchObject({ passed: true, wouldTrigger: false });
  });

  it('fails if the verdict is another one', () => {
    expect(check({ expect: 'trigger', payload: {} })).toMatchObject({ passed: false, wouldTrigger: false });
    expect(check({ expect: 'no-trigger', payload: { level: 'error' } })).toMatchObject({ passed: false });
  });

  it('asks only the triggers of the webhook that is named', () => {
    const outcome = check({ expect: 'no-trigger', webhook: errors, payload: { paid: false } });
    expect(outcome).toMatchObject({
      passed: true,
      triggers: [
        {
          wouldTrigger: false,
          webhookHolds: true,
          payloadHolds: false,
          clauses: [{ path: '$.level', holds: false }],
        },
        {
          wouldTrigger: false,
          webhookHolds: false,
          payloadHolds: true,
          clauses: [{ path: '$.paid', holds: true }],
        },
      ],
    });
  });

  it('asks a trigger that names its webhook by that name', () => {
    const named = [{ filter: { webhook: 'errors', webhook_ids: [] } }];
    const judge = (webhook: string) => {
      const parsed = parseFilterFixture(file, JSON.stringify({ expect: 'trigger', webhook, payload: 1 }));
      return parsed.ok && checkFixture(parsed.fixture, named).passed;
    };
    expect(['errors', 'payments', errors].map(judge)).toEqual([true, false, false]);
  });

  it('never passes as a trigger of an automation without triggers', () => {
    const parsed = parseFilterFixture(file, '{"expect": "trigger", "payload": 1}');
    expect(parsed.ok && checkFixture(parsed.fixture, []).passed).toBe(false);
  });
});

describe('diagnoseFixture', () => {
  const trigger = {
    filter: { webhook_ids: [errors], payload: payloadFilterSchema.parse({ level: ['error'] }) },
  };
  const failure = (fixture: object) => {
    const parsed = parseFilterFixture(file, JSON.stringify(fixture));
    if (!parsed.ok) throw new Error(parsed.diagnostics[0]?.message);
    return diagnoseFixture(parsed.source, checkFixture(parsed.fixture, [trigger]));
  };

  it('reports the clause that failed, at the position of the expectation', () => {
    expect(failure({ expect: 'trigger', payload: { level: 'info' } })).toEqual({
      code: 'fixture/failed',
      severity: 'error',
      file,
      range: { start: { line: 1, column: 11 }, end: { line: 1, column: 20 } },
      message: 'expected trigger, got no-trigger',
      hint: '$.level in ["error"]: the payload has "info"',
    });
  });

  it('reports that nothing kept the automation from triggering', () => {
    expect(failure({ expect: 'no-trigger', payload: { level: 'error' } })).toMatchObject({
      message: 'expected no-trigger, got trigger',
      hint: 'the payload satisfies every clause of a trigger: narrow its filter, or expect trigger',
    });
  });

  it('reports that no trigger selects the webhook', () => {
    expect(failure({ expect: 'trigger', webhook: payments, payload: { level: 'error' } })).toMatchObject({
      hint: 'no trigger of the automation selects this webhook',
    });
  });

  it('has nothing to report of a fixture that passes', () => {
    expect(failure({ expect: 'trigger', payload: { level: 'error' } })).toBeUndefined();
  });
});

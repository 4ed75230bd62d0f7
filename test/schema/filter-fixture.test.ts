import { describe, expect, it } from 'vitest';
import { checkFixture, fixtureFailure, parseFilterFixture } from '../../schema/filter-fixture.ts';
import { payloadFilterSchema } from '../../schema/payload-filter.ts';

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
    ['{', /^not valid JSON: /],
    ['[]', /^a fixture is a JSON object$/],
    ['{"expect": "trigger"}', /^payload: /],
    ['{"payload": 1}', /^expect: must be "trigger" or "no-trigger"$/],
    ['{"expect": true, "payload": 1}', /^expect: must be "trigger" or "no-trigger"$/],
    ['{"expect": "trigger", "payload": 1, "webhook": "errors"}', /^webhook: must be the UID of a webhook$/],
    ['{"expect": "trigger", "payload": 1, "paylod": 1}', /^unknown key "paylod"$/],
  ])('reports %s', (text, message) => {
    expect(parseFilterFixture(file, text)).toEqual({
      ok: false,
      diagnostics: [
        { code: 'fixture/invalid', severity: 'error', file, message: expect.stringMatching(message) },
      ],
    });
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

  it('passes if any trigger fires that is to, or none that is not to', () => {
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

  it('never passes as a trigger of an automation without triggers', () => {
    const parsed = parseFilterFixture(file, '{"expect": "trigger", "payload": 1}');
    expect(parsed.ok && checkFixture(parsed.fixture, []).passed).toBe(false);
  });
});

describe('fixtureFailure', () => {
  const trigger = {
    filter: { webhook_ids: [errors], payload: payloadFilterSchema.parse({ level: ['error'] }) },
  };

  it('reports the clause that failed', () => {
    const outcome = checkFixture({ expect: 'trigger', payload: { level: 'info' } }, [trigger]);
    expect(fixtureFailure(file, outcome)).toEqual({
      code: 'fixture/failed',
      severity: 'error',
      file,
      message: 'expected trigger, got no-trigger',
      hint: '$.level in ["error"]: the payload has "info"',
    });
  });

  it('reports that nothing kept the automation from triggering', () => {
    const outcome = checkFixture({ expect: 'no-trigger', payload: { level: 'error' } }, [trigger]);
    expect(fixtureFailure(file, outcome)).toMatchObject({ message: 'expected no-trigger, got trigger' });
  });

  it('has nothing to report of a fixture that passes', () => {
    const outcome = checkFixture({ expect: 'trigger', payload: { level: 'error' } }, [trigger]);
    expect(fixtureFailure(file, outcome)).toBeUndefined();
  });
});

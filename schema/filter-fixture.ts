import { z } from 'zod';
import type { Trigger } from './automation-definition.ts';
import type { Diagnostic } from './diagnostics.ts';
import { uidPattern } from './ids.ts';
import { type TriggerVerdict, testTrigger } from './test-trigger.ts';

/** `automations/<name>.fixtures/*.json`: a payload, and whether it is to trigger the automation. */
export const filterFixtureShape = z.strictObject({
  expect: z.enum(['trigger', 'no-trigger'], { error: 'must be "trigger" or "no-trigger"' }),
  webhook: z
    .string()
    .regex(uidPattern, { error: 'must be the UID of a webhook' })
    .optional()
    .describe('The webhook it is delivered to; without it, whichever each trigger selects.'),
  payload: z.unknown().describe('The body of the delivery: any JSON value.'),
});

export type FilterFixture = z.output<typeof filterFixtureShape>;

export type ParsedFixture =
  | { readonly ok: true; readonly fixture: FilterFixture }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Parses a fixture as a delivery's body is parsed, so that what `JSON.parse` makes of a payload is what is tested. */
export function parseFilterFixture(file: string, text: string): ParsedFixture {
  const invalid = (message: string): Diagnostic => ({
    code: 'fixture/invalid',
    severity: 'error',
    message,
    file,
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      ok: false,
      diagnostics: [invalid(`not valid JSON: ${error instanceof Error ? error.message : error}`)],
    };
  }
  const result = filterFixtureShape.safeParse(value);
  if (result.success) return { ok: true, fixture: result.data };
  return { ok: false, diagnostics: result.error.issues.map(issue => invalid(describe(issue))) };
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown key ${JSON.stringify(issue.keys[0])}`;
  const key = issue.path[0];
  return key === undefined ? 'a fixture is a JSON object' : `${String(key)}: ${issue.message}`;
}

export interface FixtureOutcome {
  readonly passed: boolean;
  readonly wouldTrigger: boolean;
  /** The verdict of each trigger, in their order; the automation is triggered if any one fires. */
  readonly triggers: readonly TriggerVerdict[];
}

export function checkFixture(
  fixture: FilterFixture,
  triggers: readonly Pick<Trigger, 'filter'>[],
): FixtureOutcome {
  const delivery = { webhookUid: fixture.webhook, payload: fixture.payload };
  const verdicts = triggers.map(trigger => testTrigger(trigger, delivery));
  const wouldTrigger = verdicts.some(verdict => verdict.wouldTrigger);
  return { passed: wouldTrigger === (fixture.expect === 'trigger'), wouldTrigger, triggers: verdicts };
}

/** What is wrong with an automation whose fixture did not pass: the first clause that failed, or that none did. */
export function fixtureFailure(file: string, outcome: FixtureOutcome): Diagnostic | undefined {
  if (outcome.passed) return undefined;
  const verdict = (triggers: boolean) => (triggers ? 'trigger' : 'no-trigger');
  const message = `expected ${verdict(!outcome.wouldTrigger)}, got ${verdict(outcome.wouldTrigger)}`;
  const failed = outcome.triggers
    .find(trigger => trigger.webhookHolds)
    ?.clauses.find(clause => !clause.holds);
  const hint =
    failed && `${failed.path} ${failed.operator} ${failed.allowed}: the payload has ${failed.found}`;
  return { code: 'fixture/failed', severity: 'error', message, file, ...(hint !== undefined && { hint }) };
}

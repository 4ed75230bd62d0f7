import { z } from 'zod';
import type { Trigger } from '../definitions/automation-definition.ts';
import { parseJson } from '../definitions/json-source.ts';
import { shapeProblems } from '../definitions/shape-mistakes.ts';
import type { YamlSource } from '../definitions/yaml-source.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { uidPattern } from '../ids.ts';
import { type TriggerVerdict, testTrigger } from './judge-trigger.ts';

/** `automations/<name>.fixtures/*.json`: a payload, and whether it is to trigger the automation. */
export const filterFixtureShape = z.strictObject({
  expect: z.enum(['trigger', 'no-trigger']).describe('Whether the payload is to start a run.'),
  webhook: z
    .string()
    .regex(uidPattern, { error: 'write the UID of the webhook, as in wh_0123456789abcdefghijklmn' })
    .optional()
    .describe('The webhook it is delivered to; without it, whichever each trigger selects.'),
  payload: z.unknown().describe('The body of the delivery: any JSON value.'),
});

export type FilterFixture = z.output<typeof filterFixtureShape>;

export type ParsedFixture =
  | { readonly ok: true; readonly fixture: FilterFixture; readonly source: YamlSource }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Parses a fixture as a delivery's body is parsed, so that what `JSON.parse` makes of a payload is what is tested. */
export function parseFilterFixture(file: string, text: string): ParsedFixture {
  const code = 'fixture/invalid';
  const json = parseJson(file, text);
  if (!json.ok) {
    const message = `not valid JSON: ${json.expected} is expected here`;
    const hint = 'JSON has double quotes around keys and texts, no comment, and no comma after the last item';
    return { ok: false, diagnostics: [{ code, severity: 'error', message, file, range: json.range, hint }] };
  }
  const { source } = json;
  const result = filterFixtureShape.safeParse(source.value);
  if (result.success) return { ok: true, fixture: result.data, source };
  const problems = shapeProblems(result.error, filterFixtureShape, source);
  return { ok: false, diagnostics: problems.map(problem => ({ ...problem, code })) };
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
export function fixtureFailure(
  { file, rangeOfValue }: Pick<YamlSource, 'file' | 'rangeOfValue'>,
  outcome: FixtureOutcome,
): Diagnostic | undefined {
  if (outcome.passed) return undefined;
  const verdict = (triggers: boolean) => (triggers ? 'trigger' : 'no-trigger');
  const message = `expected ${verdict(!outcome.wouldTrigger)}, got ${verdict(outcome.wouldTrigger)}`;
  const range = rangeOfValue(['expect']);
  return { code: 'fixture/failed', severity: 'error', message, file, range, hint: failureHint(outcome) };
}

function failureHint({ triggers }: FixtureOutcome): string {
  const selected = triggers.filter(trigger => trigger.webhookHolds);
  if (selected.length === 0) return "none of the automation's triggers selects this webhook";
  const failed = selected[0]?.clauses.find(clause => !clause.holds);
  if (failed) return `${failed.path} ${failed.operator} ${failed.allowed}: the payload has ${failed.found}`;
  return 'the payload satisfies every clause of a trigger: narrow its filter, or expect trigger';
}

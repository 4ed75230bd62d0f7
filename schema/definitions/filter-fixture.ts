import { z } from 'zod';
import type { Diagnostic } from '../diagnostics.ts';
import { renderNote } from '../filters/payload-filter-explain.ts';
import { uidPattern } from '../ids.ts';
import { namePattern } from '../names.ts';
import type { Trigger } from './automation-definition.ts';
import { type ParsedSource, parseJson } from './json-source.ts';
import { judgeTrigger, type TriggerVerdict } from './judge-trigger.ts';
import { diagnoseShape } from './shape-mistakes.ts';
import { eventHeadersShape } from './value-shapes.ts';

/** `automations/<name>.fixtures/*.json`: a payload, and whether it should trigger the automation. */
const filterFixtureShape = z.strictObject({
  expect: z.enum(['trigger', 'no-trigger']).describe('Whether the payload should start a run.'),
  webhook: z
    .string()
    .regex(new RegExp(`${namePattern.source}|${uidPattern.source}`), {
      error: 'write the name of the webhook, or its UID if the trigger has that',
    })
    .optional()
    .describe(
      'The webhook that receives the delivery: its name or UID, as in the trigger. By default, the one that each trigger selects.',
    ),
  payload: z.unknown().describe('The body of the delivery: any JSON value.'),
  headers: eventHeadersShape
    .optional()
    .describe('The event headers of the delivery: names in any case, each with its value.'),
});

export type FilterFixture = z.output<typeof filterFixtureShape>;

export type ParsedFixture =
  | { readonly ok: true; readonly fixture: FilterFixture; readonly source: ParsedSource }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Parses a fixture as the ingress parses a body, so that a test judges the same values as a delivery. */
export function parseFilterFixture(file: string, text: string): ParsedFixture {
  const code = 'fixture/invalid';
  const json = parseJson(file, text);
  if (!json.ok) {
    const message = `invalid JSON: expected ${json.expected}`;
    const hint = 'use double quotes around keys and strings, no comments, and no comma after the last item';
    return { ok: false, diagnostics: [{ code, severity: 'error', message, file, range: json.range, hint }] };
  }
  const { source } = json;
  const result = filterFixtureShape.safeParse(source.value);
  if (result.success) return { ok: true, fixture: result.data, source };
  const diagnostics = diagnoseShape(result.error, filterFixtureShape, source);
  return { ok: false, diagnostics: diagnostics.map(diagnostic => ({ ...diagnostic, code })) };
}

export interface FixtureOutcome {
  readonly passed: boolean;
  readonly wouldTrigger: boolean;
  /** The verdict of each trigger, in their order. The automation is triggered if any of them fires. */
  readonly triggers: readonly TriggerVerdict[];
}

export function checkFixture(
  fixture: FilterFixture,
  triggers: readonly Pick<Trigger, 'filter'>[],
): FixtureOutcome {
  const delivery = { webhookUid: fixture.webhook, payload: fixture.payload, headers: fixture.headers };
  // Nothing resolves names here, so a name is compared with names.
  const verdicts = triggers.map(({ filter: { webhook, webhook_ids, ...filter } }) => {
    const selected = webhook === undefined ? webhook_ids : [webhook];
    return judgeTrigger({ filter: { ...filter, webhook_ids: selected } }, delivery);
  });
  const wouldTrigger = verdicts.some(verdict => verdict.wouldTrigger);
  return { passed: wouldTrigger === (fixture.expect === 'trigger'), wouldTrigger, triggers: verdicts };
}

/** Reports a fixture that failed, with the first clause that failed as hint. */
export function diagnoseFixture(
  { file, rangeOfValue }: Pick<ParsedSource, 'file' | 'rangeOfValue'>,
  outcome: FixtureOutcome,
): Diagnostic | undefined {
  if (outcome.passed) return undefined;
  const name = (triggers: boolean) => (triggers ? 'trigger' : 'no-trigger');
  const message = `expected ${name(!outcome.wouldTrigger)}, got ${name(outcome.wouldTrigger)}`;
  const range = rangeOfValue(['expect']);
  return { code: 'fixture/failed', severity: 'error', message, file, range, hint: failureHint(outcome) };
}

function failureHint({ triggers }: FixtureOutcome): string {
  const selected = triggers.filter(trigger => trigger.webhookHolds);
  if (selected.length === 0) return 'no trigger of the automation selects this webhook';
  const [first] = selected;
  const header = first?.headers?.clauses.find(clause => !clause.holds);
  if (header)
    return `header ${header.path} was ${header.found}${renderNote(header)}, asked for ${header.operator} ${header.allowed}`;
  const failed = first?.clauses.find(clause => !clause.holds);
  if (failed)
    return `${failed.path} ${failed.operator} ${failed.allowed}: the payload has ${failed.found}${renderNote(failed)}`;
  return 'the payload satisfies every clause of a trigger: narrow its filter, or expect trigger';
}

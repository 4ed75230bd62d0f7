import { z } from 'zod';
import { headerFilterSchema } from '../filters/header-filter.ts';
import { filterDefinitions, payloadFilterSchema } from '../filters/payload-filter.ts';
import { uidPattern } from '../ids.ts';
import { namePattern } from '../name.ts';
import { addMistake } from './add-mistake.ts';
import { runTime } from './duration.ts';
import { checkRunFlow, runFlowFields } from './run-flow-fields.ts';

/** @limit Longest prompt of an automation, in bytes (32 KiB): it must fit into a definition file beside the filters. */
const promptBytesMax = 32 * 1024;

/** @limit Most triggers of an automation: a delivery is judged by each, and a factory has at most 20 webhooks. */
const triggersMax = 100;

const prompt = z.string().superRefine((text, context) => {
  const code = 'definition/value';
  if (text.trim() === '')
    addMistake(context, [], 'the prompt is empty', { code, hint: 'write what the run should do' });
  if (Buffer.byteLength(text) <= promptBytesMax) return;
  const hint = 'shorten it, and put background information where the run can read it';
  addMistake(context, [], `the prompt is larger than ${promptBytesMax / 1024} KiB`, { code, hint });
});

const webhookIds = z.array(z.string().meta({ pattern: uidPattern.source })).superRefine((uids, context) => {
  if (uids.length !== 1) {
    addMistake(context, [], `a trigger must select exactly one webhook, not ${uids.length}`, {
      code: 'automation/webhook-id',
      hint: uids.length === 0 ? 'write the UID of the webhook' : 'write one trigger for each webhook',
    });
  }
  for (const [index, uid] of uids.entries()) {
    if (uidPattern.test(uid)) continue;
    addMistake(context, [index], `"${uid}" is not the UID of a webhook`, {
      code: 'automation/webhook-id',
      hint: uidHint(uid),
    });
  }
});

function uidHint(written: string): string {
  const [found] = /wh_[0-9a-z]{24}(?![0-9a-z])/.exec(written.toLowerCase()) ?? [];
  if (found !== undefined) return `write only the UID, in lowercase: ${found}`;
  const name = namePattern.test(written) ? written : '<name>';
  return `a UID looks like wh_0123456789abcdefghijklmn; run \`hookmill webhooks show ${name}\` to see it`;
}

const trigger = z.strictObject({
  provider: z.literal('webhook').describe('The kind of trigger.'),
  event: z.literal('received').describe('The event that starts a run.'),
  filter: z
    .strictObject({
      webhook_ids: webhookIds
        .describe('The UID of exactly one webhook.')
        .meta({ minItems: 1, maxItems: 1, examples: [['wh_0123456789abcdefghijklmn']] }),
      payload: payloadFilterSchema
        .optional()
        .describe(
          'Only deliveries that match this payload filter start a run. It mirrors their payload, and every key must match. Without it, every delivery starts a run.',
        ),
      headers: headerFilterSchema
        .optional()
        .describe(
          "Only deliveries whose headers match start a run. Keys are names of headers, in any case: Content-Type, User-Agent, the event and ID headers of the signature scheme, the webhook's deliveryIdHeader and its keepHeaders.",
        ),
    })
    .describe('Which deliveries start a run.'),
});

/** @limit Most attempts at a run that a definition or an operator can set: a run that failed 100 times does not recover by itself. */
export const runAttemptsMax = 100;
/**
 * The keys of an automation that control the execution and the flow of its runs. The operator's settings limit the
 * execution.
 */
export const runControlFields = {
  timeLimit: runTime
    .optional()
    .describe('Time limit for one attempt at a run, such as 10m. The operator may allow less.'),
  attempts: z
    .int()
    .min(1)
    .max(runAttemptsMax)
    .optional()
    .describe('Maximum number of attempts at a run. The operator may allow fewer.'),
  backOff: z
    .strictObject({
      first: runTime
        .optional()
        .describe('Wait before the second attempt; it doubles for each further attempt.'),
      max: runTime.optional().describe('Longest wait between two attempts. The operator may allow less.'),
    })
    .optional()
    .describe('Wait after a failed attempt, minus up to 50 % random jitter.'),
  ...runFlowFields,
};

const runControlShape = z.object(runControlFields);

export type RunControl = z.output<typeof runControlShape>;

/** Picks the keys of an automation that control its runs. */
export function pickRunControl(automation: RunControl): RunControl {
  return runControlShape.parse(automation);
}

/** The contents of `automations/<name>.yaml`. */
export const automationShape = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether deliveries start runs.'),
    prompt: prompt.describe('What a run should do. The envelope with the payload follows it.'),
    triggers: z
      .array(trigger)
      .min(1, { error: 'an automation needs a trigger' })
      .max(triggersMax)
      .describe('Each selects one webhook. A delivery that matches several triggers starts one run.'),
    ...runControlFields,
  })
  .superRefine(checkRunFlow)
  .meta({
    definitions: filterDefinitions,
    // The rules of the refinement above, for editors.
    dependencies: { concurrencyKey: ['concurrency'], onFailure: ['order'] },
  });

export type Trigger = z.output<typeof trigger>;

export interface AutomationDefinition extends RunControl {
  readonly name: string;
  readonly enabled: boolean;
  readonly prompt: string;
  readonly triggers: readonly Trigger[];
}

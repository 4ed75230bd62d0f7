import { z } from 'zod';
import { filterDefinitions, payloadFilterSchema } from '../filters/payload-filter.ts';
import { uidPattern } from '../ids.ts';
import { addProblem, type ParsedFile, parseDefinition } from './parse-file.ts';

const promptBytesMax = 32 * 1024;

const prompt = z.string().superRefine((text, context) => {
  const code = 'definition/value';
  if (text.trim() === '')
    addProblem(context, [], 'the prompt is empty', { code, hint: 'say what a run is to do' });
  if (Buffer.byteLength(text) <= promptBytesMax) return;
  const hint = 'say what a run is to do, and keep what it is to know where the run can read it';
  addProblem(context, [], `the prompt is larger than ${promptBytesMax} bytes`, { code, hint });
});

const webhookIds = z.array(z.string().meta({ pattern: uidPattern.source })).superRefine((uids, context) => {
  if (uids.length !== 1) {
    addProblem(context, [], `a trigger selects exactly one webhook, not ${uids.length}`, {
      code: 'automation/webhook-id',
      hint: uids.length === 0 ? 'write the UID of the webhook' : 'add one trigger for each webhook',
    });
  }
  for (const [index, uid] of uids.entries()) {
    if (uidPattern.test(uid)) continue;
    addProblem(context, [index], `"${uid}" is not the UID of a webhook`, {
      code: 'automation/webhook-id',
      hint: uidHint(uid),
    });
  }
});

function uidHint(written: string): string {
  const [found] = /wh_[0-9a-z]{24}(?![0-9a-z])/.exec(written.toLowerCase()) ?? [];
  if (found !== undefined) return `write the UID alone, in lower case: ${found}`;
  const name = /^[a-z0-9-]{1,63}$/.test(written) ? written : '<name>';
  return `UIDs look like wh_0123456789abcdefghijklmn; \`hookmill webhooks show ${name}\` prints that of a webhook`;
}

const trigger = z.strictObject({
  provider: z.literal('webhook').describe('The kind of trigger.'),
  event: z.literal('received').describe('What happens to start a run.'),
  filter: z
    .strictObject({
      webhook_ids: webhookIds
        .describe('Exactly one UID of a webhook.')
        .meta({ minItems: 1, maxItems: 1, examples: [['wh_0123456789abcdefghijklmn']] }),
      payload: payloadFilterSchema
        .optional()
        .describe(
          'Which deliveries start a run: an object that mirrors their payload; every key must match. Without it, each does.',
        ),
    })
    .describe('Which deliveries start a run.'),
});

/** What stands in `automations/<name>.yaml`. */
export const automationShape = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether deliveries start runs.'),
    prompt: prompt.describe('What a run is told to do; the envelope with the payload follows it.'),
    triggers: z
      .array(trigger)
      .min(1, { error: 'an automation needs a trigger' })
      .describe('Each selects one webhook; a delivery that matches several starts one run.'),
  })
  .meta({
    definitions: filterDefinitions,
  });

export type Trigger = z.output<typeof trigger>;

export interface AutomationDefinition {
  readonly name: string;
  readonly enabled: boolean;
  readonly prompt: string;
  readonly triggers: readonly Trigger[];
}

export function parseAutomation(
  name: string,
  file: string,
  bytes: Uint8Array,
): ParsedFile<AutomationDefinition> {
  const parsed = parseDefinition(automationShape, file, bytes);
  return { ...parsed, definition: parsed.definition && { name, ...parsed.definition } };
}

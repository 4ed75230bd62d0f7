import { z } from 'zod';
import { artifactNamePattern } from '../attachments.ts';
import { headerFilterSchema } from '../filters/header-filter.ts';
import { filterDefinitions, payloadFilterSchema } from '../filters/payload-filter.ts';
import { uidPattern } from '../ids.ts';
import { nameCharsMax, namePattern, nameRule } from '../names.ts';
import { parseDurationMs } from '../time-units.ts';
import { addMistake } from './add-mistake.ts';
import { fieldPath } from './field-path-shape.ts';
import { promptPath } from './prompts.ts';
import { nameShape, runTime } from './value-shapes.ts';

/** @limit Most runs of an automation at a time that a definition can set: a higher number limits nothing. */
const concurrencyMax = 1_000;

/** @limit Most runs of an automation in an hour that a definition can set: a higher fuse would stop runs too late, and each start counts the runs before it. */
const runsPerHourMax = 10_000;

const debounce = z.strictObject({
  for: runTime.describe('The run starts when no further delivery has come for this time, such as 30s.'),
  key: fieldPath.optional().describe('Only deliveries with the same value in this field share a run.'),
  atMost: runTime
    .optional()
    .describe('The run starts at the latest this long after its first delivery. Default: ten times `for`.'),
});

/** The keys of an automation that control the flow of its runs. */
const runFlowFields = {
  runner: nameShape
    .optional()
    .describe('The runner that executes its runs, among those that the daemon offers. Default: `default`.'),
  concurrency: z
    .int()
    .min(1)
    .max(concurrencyMax)
    .optional()
    .describe('Maximum number of its runs at a time. The others wait.'),
  concurrencyKey: fieldPath
    .optional()
    .describe('`concurrency` limits the runs with the same value in this field of the payload.'),
  order: fieldPath
    .optional()
    .describe(
      'Runs with the same value in this field of the payload start in the order of their deliveries, each when the one before has ended.',
    ),
  onFailure: z
    .enum(['continue', 'hold'])
    .optional()
    .describe('The effect of a failed run on those behind it in the `order`.')
    .meta({
      enumDescriptions: [
        'The next run starts. This is the default.',
        'The others wait until the failed run is retried with success, or dismissed.',
      ],
    }),
  onlyLatest: z
    .boolean()
    .optional()
    .describe('Whether a run cancels the queued ones before it in the `order`.'),
  cancelRunning: z
    .boolean()
    .optional()
    .describe('With `onlyLatest`, whether it also cancels the one that is running.'),
  debounce: debounce.optional().describe('One run for a burst of deliveries, with all of them attached.'),
  notify: z
    .array(z.enum(['succeeded', 'failed']))
    .min(1)
    .optional()
    .describe('The ends of its runs of which the receivers of alerts are told.'),
  runsPerHour: z
    .int()
    .min(1)
    .max(runsPerHourMax)
    .optional()
    .describe('A fuse: further runs within an hour fail without an attempt, and an alert says so.'),
};

const runFlowShape = z.object(runFlowFields);

export type RunFlowKeys = z.output<typeof runFlowShape>;

/** A key with the time that it has. */
type Time = readonly [string, string | undefined];

type CheckedKeys = Partial<RunFlowKeys> & {
  readonly backOff?: { readonly first?: string | undefined; readonly max?: string | undefined } | undefined;
};

/** @limit Longest prompt of an automation, in bytes (32 KiB): it must fit into a definition file beside the filters. */
export const promptBytesMax = 32 * 1024;

/** @limit Most triggers of an automation: a delivery is judged by each, and a factory has at most 20 webhooks. */
const triggersMax = 100;

/** What a run should do. */
export const promptShape = z.string().superRefine((text, context) => {
  const code = 'definition/value';
  if (text.trim() === '')
    addMistake(context, [], 'the prompt is empty', { code, hint: 'write what the run should do' });
  // Not Buffer, because the dashboard checks prompts too.
  if (new TextEncoder().encode(text).length <= promptBytesMax) return;
  const hint = 'shorten it, and put background information where the run can read it';
  addMistake(context, [], `the prompt is larger than ${promptBytesMax / 1024} KiB`, { code, hint });
});

const oneWebhook = 'automation/webhook-id';

const webhookIds = z.array(z.string().meta({ pattern: uidPattern.source })).superRefine((uids, context) => {
  for (const [index, uid] of uids.entries()) {
    if (uidPattern.test(uid)) continue;
    const hint = uidHint(uid);
    addMistake(context, [index], `"${uid}" is not the UID of a webhook`, { code: oneWebhook, hint });
  }
});

const webhookName = z
  .string()
  .superRefine((name, context) => {
    if (namePattern.test(name)) return;
    const uid = findUid(name);
    const hint = uid === undefined ? nameHint(name) : `write webhook_ids: [${uid}]`;
    addMistake(context, [], `"${name}" is not the name of a webhook`, { code: oneWebhook, hint });
  })
  .meta({ pattern: namePattern.source, maxLength: nameCharsMax, examples: ['deploys'] });

function findUid(written: string): string | undefined {
  return /wh_[0-9a-z]{24}(?![0-9a-z])/.exec(written.toLowerCase())?.[0];
}

function uidHint(written: string): string {
  const uid = findUid(written);
  if (uid !== undefined) return `write only the UID, in lowercase: ${uid}`;
  const name = parseWebhookName(written) ?? '<name>';
  return `write webhook: ${name} to select a webhook by its name; a UID looks like wh_0123456789abcdefghijklmn`;
}

function nameHint(written: string): string {
  const name = parseWebhookName(written);
  return name === undefined ? `use ${nameRule}` : `write webhook: ${name}`;
}

/** Reads the webhook's name from a name or a file name, as in `deploys` or `webhooks/deploys.yaml`. */
function parseWebhookName(written: string): string | undefined {
  const name = written.replace(/^webhooks\//, '').replace(/\.yaml$/, '');
  return namePattern.test(name) ? name : undefined;
}

const trigger = z.strictObject({
  provider: z.literal('webhook').describe('The kind of trigger.'),
  event: z.literal('received').describe('The event that starts a run.'),
  filter: z
    .strictObject({
      webhook: webhookName
        .optional()
        .describe('The name of the webhook, whose file is webhooks/<name>.yaml. An apply finds its UID.'),
      webhook_ids: webhookIds
        .default([])
        .describe('The UID of exactly one webhook, instead of its name.')
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
    .superRefine(requireOneWebhook)
    .describe('Which deliveries start a run.')
    // The rule of the refinement above and of `refuseTwoSelections`, for editors.
    .meta({ oneOf: [{ required: ['webhook'] }, { required: ['webhook_ids'] }] }),
});

function requireOneWebhook(
  {
    webhook,
    webhook_ids,
  }: { readonly webhook?: string | undefined; readonly webhook_ids: readonly string[] },
  context: z.RefinementCtx,
): void {
  const { length } = webhook_ids;
  if (length === 1 || (length === 0 && webhook !== undefined)) return;
  const hint = length === 0 ? 'write webhook: <name>' : 'write one trigger for each webhook';
  addMistake(context, ['webhook_ids'], `a trigger must select exactly one webhook, not ${length}`, {
    ...{ code: oneWebhook, hint },
  });
}

/** @limit Most artifacts that an automation can require: a run leaves few that others count on. */
const requiredArtifactsMax = 20;

const requiredArtifacts = z
  .array(
    z
      .string()
      .regex(artifactNamePattern, { error: 'not a name that an artifact can have, such as answer.md' }),
  )
  .min(1)
  .max(requiredArtifactsMax);

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
  requires: requiredArtifacts
    .optional()
    .describe('Names of artifacts that a run must leave, such as answer.md. Without them, it has failed.'),
  repository: nameShape
    .optional()
    .describe('The repository of which its runs get a working copy, among those that the runner offers.'),
  ...runFlowFields,
};

const runControlShape = z.object(runControlFields);

export type RunControl = z.output<typeof runControlShape>;

/** Picks the keys of an automation that control its runs. */
export function pickRunControl(automation: RunControl): RunControl {
  return runControlShape.parse(automation);
}

const enabled = z.boolean().default(true).describe('Whether deliveries start runs.');
const promptMeaning = 'What a run should do. The envelope with the payload follows it.';
const prompt = promptShape.describe(promptMeaning);
const triggers = z
  .array(trigger)
  .min(1, { error: 'an automation needs a trigger' })
  .max(triggersMax)
  .describe('Each selects one webhook. A delivery that matches several triggers starts one run.');

const editorRules = {
  definitions: filterDefinitions,
  // The rules of `checkRunFlow`, for editors.
  dependencies: {
    concurrencyKey: ['concurrency'],
    onFailure: ['order'],
    onlyLatest: ['order'],
    cancelRunning: ['onlyLatest'],
  },
};

/** An automation whose triggers may have the name of their webhook and its UID, as the applied state has both. */
export const pinnedAutomationShape = z
  .strictObject({ enabled, prompt, triggers, ...runControlFields })
  .superRefine(checkRunFlow)
  .meta(editorRules);

/** An automation with its prompt, as the API takes it. */
export const automationShape = pinnedAutomationShape.superRefine(refuseTwoSelections);

/** The contents of `automations/<name>.yaml`, whose prompt may be in a file of its own. */
export const automationFileShape = z
  .strictObject({
    enabled,
    prompt: promptShape.optional().describe(promptMeaning),
    promptFile: promptPath
      .optional()
      .describe(
        'The file with the prompt, instead of `prompt`, by its path in the definitions directory. It ends in .md or .txt.',
      ),
    triggers,
    ...runControlFields,
  })
  // Also if something else is wrong, so that a missing prompt is reported with all other mistakes.
  .superRefine(requireOnePrompt, { when: ({ value }) => typeof value === 'object' && value !== null })
  .superRefine(checkRunFlow)
  .superRefine(refuseTwoSelections)
  .meta({ ...editorRules, oneOf: [{ required: ['prompt'] }, { required: ['promptFile'] }] });

/** An automation as its file has it, before its prompt is read from another file. */
export type WrittenAutomation = z.output<typeof automationFileShape>;

function requireOnePrompt(
  written: { readonly prompt?: unknown; readonly promptFile?: unknown },
  context: z.RefinementCtx,
): void {
  const [hasText, hasFile] = [written.prompt !== undefined, written.promptFile !== undefined];
  const code = 'definition/missing-key';
  const hint = 'write prompt: <what a run should do>, or promptFile: prompts/<name>.md';
  if (!hasText && !hasFile)
    addMistake(context, ['prompt'], 'the key "prompt" is missing', { code, atKey: true, hint });
  if (!hasText || !hasFile) return;
  addMistake(context, ['promptFile'], 'an automation has either prompt or promptFile, not both', {
    ...{ code: 'automation/prompt-file', atKey: true, hint: 'remove one of the two' },
  });
}

function refuseTwoSelections(
  { triggers }: { readonly triggers: readonly Trigger[] },
  context: z.RefinementCtx,
): void {
  for (const [index, { filter }] of triggers.entries()) {
    if (filter.webhook === undefined || filter.webhook_ids.length === 0) continue;
    const hint = 'remove webhook_ids: an apply finds the UID of the name';
    addMistake(context, ['triggers', index, 'filter', 'webhook_ids'], 'webhook already selects the webhook', {
      ...{ code: oneWebhook, hint, atKey: true },
    });
  }
}

/** A trigger selects its webhook by `webhook`, by one of `webhook_ids`, or by both once the name was resolved. */
export type Trigger = z.output<typeof trigger>;

export interface AutomationDefinition extends RunControl {
  readonly name: string;
  readonly enabled: boolean;
  readonly prompt: string;
  readonly triggers: readonly Trigger[];
}

/** Picks the keys of an automation that control the flow of its runs; undefined if it has none. */
export function pickRunFlow(automation: RunFlowKeys): RunFlowKeys | undefined {
  const keys = runFlowShape.parse(automation);
  return Object.keys(keys).length === 0 ? undefined : keys;
}

/** Checks the rules about several keys. */
function checkRunFlow(keys: CheckedKeys, context: z.RefinementCtx): void {
  const require = (key: string, needed: keyof RunFlowKeys, example: string) =>
    addMistake(context, [key], `${key} has no effect without ${needed}`, {
      ...{ code: 'definition/missing-key', atKey: true, hint: `add ${needed}: ${example}` },
    });
  const requireAtLeast = (key: keyof CheckedKeys, [lower, low]: Time, [upper, high]: Time) => {
    const [lowMs, highMs] = [low, high].map(text => parseDurationMs(text ?? ''));
    if (lowMs === undefined || highMs === undefined || highMs >= lowMs) return;
    const hint = `write at least ${low}, or remove ${upper}`;
    addMistake(context, [key, upper], `${upper} is shorter than ${lower}`, {
      code: 'definition/value',
      hint,
    });
  };
  const { concurrency, concurrencyKey, order, onFailure, onlyLatest, cancelRunning, debounce, backOff } =
    keys;
  if (concurrencyKey !== undefined && concurrency === undefined)
    require('concurrencyKey', 'concurrency', '1');
  if (onFailure !== undefined && order === undefined) require('onFailure', 'order', '$.issue.id');
  if (onlyLatest !== undefined && order === undefined)
    require('onlyLatest', 'order', '$.pull_request.number');
  if (cancelRunning === true && onlyLatest !== true) require('cancelRunning', 'onlyLatest', 'true');
  if (onlyLatest === true && onFailure === 'hold') {
    addMistake(context, ['onFailure'], 'a failed run cannot hold newer ones if only the latest run counts', {
      ...{ code: 'definition/value', hint: 'remove onFailure or onlyLatest' },
    });
  }
  requireAtLeast('debounce', ['for', debounce?.for], ['atMost', debounce?.atMost]);
  requireAtLeast('backOff', ['first', backOff?.first], ['max', backOff?.max]);
}

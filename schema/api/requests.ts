// The bodies and query parameters that the management API accepts.
import { z } from 'zod';
import { readJson } from '../../json/parse-json-text.ts';
import { confirmationReasons } from '../changes/plan-shapes.ts';
import { addMistake } from '../definitions/add-mistake.ts';
import { automationShape, promptShape } from '../definitions/automation-definition.ts';
import { promptPathCharsMax } from '../definitions/prompts.ts';
import { eventHeadersShape, nameShape as name, secretNameShape } from '../definitions/value-shapes.ts';
import { webhookShape } from '../definitions/webhook-definition.ts';
import { outcomes, readOutcomes, runStates } from '../delivery.ts';
import { webhooksMax } from '../factory-size.ts';
import { permissions, tokenSecondsMax } from '../grant.ts';
import { uidPattern } from '../ids.ts';
import { sentPathPattern } from '../names.ts';
import { joinWithAnd } from '../text/suggestion.ts';
import { appliedTrigger, automationDetailAnswer, webhookDetailAnswer } from '../views/definitions.ts';
import { diagnosticShape } from '../views/problem-answer.ts';
import { apiPageMax, apiPageSize, testedDeliveriesMax } from './conventions.ts';

/** @limit Longest API token that a sign-in may send, in characters: real ones are far shorter. */
const tokenCharsMax = 256;
/** @limit Longest query with which a sign-in provider sends a browser back, in characters: browsers take little more. */
const signInQueryCharsMax = 3_500;
/** @limit Longest text that names where applied files come from, in characters: a path or a URL. */
const originCharsMax = 512;

/** @limit Longest text or event type that a list looks for, in characters: longer than anything that distinguishes deliveries. */
const soughtCharsMax = 256;

const newSecretName = secretNameShape
  .optional()
  .describe('The name of the new team secret. By default, it is derived from the name of the webhook.');

export const sessionRequest = z.strictObject({ token: z.string().max(tokenCharsMax) });

export const signInAnswerRequest = z.strictObject({
  query: z
    .string()
    .max(signInQueryCharsMax)
    .describe('The query with which the provider sent the browser back.'),
  attemptKey: z.string().max(tokenCharsMax).describe('The key that the page got when it began.'),
});

/** @limit Longest time for which an alert is muted, in seconds (30 days): longer than a holiday. */
const muteSecondsMax = 30 * 86_400;

/** @limit Longest time for which an automation is paused, in seconds (30 days), unless somebody ends it: longer than a holiday. */
const pauseSecondsMax = 30 * 86_400;

export const pauseRequest = z.strictObject({
  seconds: z
    .int()
    .min(1)
    .max(pauseSecondsMax)
    .optional()
    .describe('For how long; without it, until somebody resumes the automation.'),
});

export const muteRequest = z.strictObject({ seconds: z.int().min(0).max(muteSecondsMax) });

export const newTokenRequest = z.strictObject({
  name: z.string().describe('Names the token in lists and logs: 1–63 letters, digits, `_`, `.` or `-`.'),
  permission: z.enum(permissions),
  allFactories: z
    .boolean()
    .default(false)
    .describe('Whether it is for all factories. Only who may manage all of them can create such a token.'),
  expiresInSeconds: z
    .int()
    .min(1)
    .max(tokenSecondsMax)
    .optional()
    .describe('After which time it is refused; without it, never.'),
});

export const schemesQuery = z.strictObject({
  id: z.string().max(soughtCharsMax).optional().describe('Only the scheme with this ID, if there is one.'),
});

/** Where a new webhook gets its secret from. */
const webhookSecret = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('generated'), name: newSecretName })
    .describe(
      'hookmill generates the secret and shows it once. For both token modes, and for schemes that accept your own secret.',
    ),
  z
    .strictObject({ kind: z.literal('supplied'), value: z.string(), name: newSecretName })
    .describe('The secret that the provider shows. Only with authMode signature.'),
  z
    .strictObject({
      kind: z.literal('existing'),
      name: secretNameShape,
      allowShared: z
        .boolean()
        .default(false)
        .describe('Confirms that another webhook or a repository may use the secret in another way.'),
    })
    .describe('An existing team secret. Its value is never shown.'),
  z
    .strictObject({ kind: z.literal('blank'), name: newSecretName })
    .describe(
      'With authMode signature, the secret is supplied later; for senders of Standard Webhooks and the token modes, it is generated.',
    ),
]);

const { secretName: _, ...webhookKeys } = webhookShape.shape;

export const newWebhookRequest = z
  .strictObject({
    name,
    ...webhookKeys,
    secret: webhookSecret.prefault({ kind: 'blank' }).describe('Has no effect with authMode oidc.'),
  })
  .superRefine(({ name: _, secret, ...keys }, context) => {
    // Applies the rules about several keys, which are the same as in definition files.
    const secretName = keys.authMode === 'oidc' ? undefined : 'ANY';
    const { error } = webhookShape.safeParse({ ...keys, secretName });
    for (const issue of error?.issues ?? []) {
      if (issue.code === 'custom') context.addIssue({ ...issue, input: keys });
    }
  });

/** What GET answers, with changes in it. Only these two fields can change. */
export const webhookChangeRequest = webhookDetailAnswer
  .extend({
    name: name.describe('Renames the webhook. Only in a factory that is managed in the dashboard.'),
    enabled: z
      .boolean()
      .describe('Also applies the definition again, so that a changed team secret takes effect.'),
  })
  .partial();

export type NewWebhook = z.output<typeof newWebhookRequest>;
export type WebhookChange = z.output<typeof webhookChangeRequest>;

export const webhookSecretRequest = z.strictObject({
  value: z
    .string()
    .optional()
    .describe(
      'The secret that the provider issued. Without it, a secret is generated, if the scheme allows it.',
    ),
});

export const newAutomationRequest = automationShape.extend({ name });

/** A definition, or what GET answers with changes in it: that also has fields that only an answer can set. */
export const automationRequest = z.preprocess(
  readShownTriggers,
  automationShape.safeExtend(
    automationDetailAnswer.pick({ name: true, file: true, serial: true, yaml: true }).partial().shape,
  ),
);

/** Replaces each trigger that has the form of an answer by the same one in the form of a definition. */
function readShownTriggers(request: unknown): unknown {
  const { data } = z.looseObject({ triggers: z.array(z.unknown()) }).safeParse(request);
  if (!data) return request;
  const triggers = data.triggers.map(trigger => {
    const shown = appliedTrigger.safeParse(trigger);
    if (!shown.success) return trigger;
    const { uid, webhook, byName, ...filter } = shown.data;
    const selection = webhook !== null && byName !== undefined ? { webhook } : { webhook_ids: [uid] };
    return { provider: 'webhook', event: 'received', filter: { ...selection, ...filter } };
  });
  return { ...data, triggers };
}

export const testRequest = z
  .strictObject({
    automation: z.string().describe('The name of an applied automation.'),
    triggers: automationShape.shape.triggers.describe('Draft triggers, instead of an applied automation.'),
    delivery: z.string().describe('The id of a stored delivery.'),
    payload: z.unknown().describe('A payload, instead of a stored delivery. The webhook is not checked.'),
    headers: eventHeadersShape.describe('The event headers of the payload, with names in any case.'),
  })
  .partial()
  .superRefine((request, context) => {
    requireOne(context, request, 'automation', 'triggers');
    requireOne(context, request, 'delivery', 'payload');
  });

export const testOnStoredRequest = z
  .strictObject({
    automation: z.string().optional().describe('The name of an applied automation.'),
    triggers: automationShape.shape.triggers
      .optional()
      .describe('Draft triggers, instead of an applied automation.'),
    draft: newAutomationRequest.optional().describe('A whole draft, instead of an applied automation.'),
    webhook: z
      .string()
      .optional()
      .describe('Only deliveries of the webhook with this UID or name, also if no trigger selects it.'),
    last: z
      .int()
      .min(1)
      .max(testedDeliveriesMax)
      .default(50)
      .describe('How many of the newest accepted deliveries are tested, of all webhooks together.'),
  })
  .superRefine((request, context) => requireOne(context, request, 'automation', 'triggers', 'draft'));

const jsonText = z.string().refine(text => readJson(text) !== undefined, 'must be JSON');

export const runByHandRequest = z
  .strictObject({
    automation: z.string().optional().describe('The name of an applied automation.'),
    draft: newAutomationRequest.optional().describe('A draft, instead of an applied automation.'),
    payload: jsonText.describe('The body that the run gets, as text.'),
    headers: eventHeadersShape
      .optional()
      .describe('The event headers of the payload, with names in any case.'),
    evenIfDisabled: z.boolean().default(false).describe('Start the run although the automation is disabled.'),
  })
  .superRefine((request, context) => requireOne(context, request, 'automation', 'draft'));

export const sendTestRequest = z.strictObject({
  payload: jsonText
    .optional()
    .describe('The payload, instead of an event of the type `hookmill.test` whose ID starts with `test-`.'),
  headers: eventHeadersShape
    .optional()
    .describe(
      'Event headers, with names in any case. By default, those of the signature scheme say `hookmill.test`.',
    ),
  mayStartRuns: z
    .boolean()
    .default(false)
    .describe('Send the test also if automations start runs for it. A `payload` may always start runs.'),
});

/** @limit Most events that a request for a hook may name: GitHub has about 75. */
const hookEventsMax = 100;
/** @limit Longest name of an event that a request for a hook may have, in characters. */
const hookEventCharsMax = 100;

export const planSenderRequest = z.strictObject({
  events: z
    .array(z.string().min(1).max(hookEventCharsMax))
    .max(hookEventsMax)
    .optional()
    .describe('Events that the hook sends besides those that automations wait for; `*`: all, at GitHub.'),
  setSecret: z
    .boolean()
    .optional()
    .describe('Set the secret although the last delivery was verified. Each other change sets it too.'),
  rotate: z
    .boolean()
    .optional()
    .describe(
      'Plan it with a new value of the secret, which beginSecretRotation sets. Refused if that would be.',
    ),
});
export const registerSenderRequest = planSenderRequest.omit({ rotate: true }).extend({
  fingerprint: z
    .string()
    .describe('Of the plan. The hook is not changed if a plan would have another one now.'),
  takeOver: z
    .boolean()
    .optional()
    .describe('Change also a hook that sends to something else than this webhook (`takesOver` of the plan).'),
});

export const healthQuery = z.strictObject({
  webhook: z.string().optional().describe('Only the webhook with this UID.'),
});

export const unloggedQuery = z.strictObject({
  webhook: z.string().optional().describe('Only requests to the webhook with this UID or name.'),
});

const time = z.iso.datetime({ offset: true }).transform(text => Date.parse(text));
const soughtText = z.string().min(1).max(soughtCharsMax).optional();
/** The parameters of every list from the delivery log. */
const listQuery = z.strictObject({
  webhook: z
    .string()
    .optional()
    .describe('Only of the webhook with this UID or name; also of one that no longer exists.'),
  automation: z
    .string()
    .optional()
    .describe('Only runs of this automation, or deliveries with one; also of one that no longer exists.'),
  state: z.enum(runStates).optional().describe('Only runs in this state, or deliveries with one.'),
  event: soughtText.describe(
    'Only deliveries of this event type, and their runs: the value of an event header, or of `type`, `event`, `event_type`, `eventType` or `event_name` in the payload.',
  ),
  search: soughtText.describe('Only deliveries whose stored payload contains this text, and their runs.'),
  since: time
    .optional()
    .describe('Only deliveries that arrived, or runs that were created, at this time or later.'),
  until: time.optional().describe('Only those before this time.'),
  limit: z.coerce.number().int().min(1).max(apiPageMax).default(apiPageSize),
  cursor: z.string().optional().describe('The `next` of the previous page.'),
  after: z
    .string()
    .optional()
    .describe(
      'Oldest first, instead of `cursor`: `start`; `now`, for no rows and the `next` from which to follow; or the `next` of the previous page.',
    ),
});

export const deliveriesQuery = listQuery.extend({
  outcome: z
    .string()
    .transform(readOutcomes)
    .pipe(z.array(z.enum(outcomes)))
    .optional()
    .describe(
      `Only deliveries with one of these outcomes, separated by commas, in any case: ${outcomes.join(', ')}.`,
    ),
  summary: z
    .literal('true')
    .optional()
    .describe(
      'Adds the `summary` of each delivery: its title, its runs by state, and the beginning of its payload.',
    ),
});
export const runsQuery = listQuery.extend({
  delivery: z.string().optional().describe('Only runs of this delivery, oldest first, on one page.'),
  summary: z
    .literal('true')
    .optional()
    .describe('Adds the `summary` of each run: the title of its delivery.'),
});
export const runOutputQuery = z.strictObject({
  from: z.coerce.number().int().min(0).default(0).describe('Only the output from this byte on.'),
});
export const liveQuery = z.strictObject({
  webhook: z.string().regex(uidPattern).optional().describe('Only deliveries of the webhook with this UID.'),
});
export const auditQuery = z.strictObject({
  limit: listQuery.shape.limit,
  cursor: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .describe('The `next` of the previous page.'),
});
export const replayRequest = z.strictObject({
  automation: z.string().optional().describe('Start a run of this automation only.'),
});

/** @limit Longest reason for which somebody cancels a run, in characters: a sentence or two. */
const cancelReasonMax = 1_000;

export const cancelRunRequest = z.strictObject({
  reason: z
    .string()
    .min(1)
    .max(cancelReasonMax)
    .optional()
    .describe('Why, for those who look at the run later.'),
});

export const runAgainRequest = z.strictObject({
  prompt: promptShape.optional().describe('A prompt in place of the one that the run had.'),
  runner: name.optional().describe('A runner in place of the one that the run had.'),
});

const definitionFile = z.strictObject({
  path: z
    .string()
    .max(promptPathCharsMax)
    .regex(sentPathPattern)
    .describe(
      'The path in the definitions directory: webhooks/<name>.yaml, automations/<name>.yaml, or the path that an automation names with `promptFile`. Any other file among the definitions is judged as in a directory.',
    ),
  content: z.string(),
});

/** Every definition file of a definitions directory, and every prompt file that they name. */
const sentDefinitions = z.strictObject({
  files: z.array(definitionFile),
  impact: z
    .boolean()
    .default(true)
    .describe('Also finds the impact of the changes on senders and runs, which reads stored deliveries.'),
  newUids: z
    .array(name)
    .max(webhooksMax)
    .optional()
    .describe('The webhooks that get a new UID instead of the one that they had before they were destroyed.'),
});
export const planRequest = sentDefinitions.extend({
  findings: z
    .array(diagnosticShape)
    .optional()
    .describe(
      'Mistakes that only the sender can find, as in a file that it cannot read. With this list, even an empty one, errors do not refuse the plan: it leaves out the files that have them.',
    ),
});
export const applyRequest = sentDefinitions.extend({
  origin: z
    .string()
    .max(originCharsMax)
    .describe('Where the files come from, shown by the status of the factory.'),
  confirm: z
    .array(z.enum(confirmationReasons))
    .default([])
    .describe('The reasons for which changes of the plan need a confirmation, and have it.'),
  adopt: z.boolean().default(false).describe('Replaces a factory that was managed in the dashboard.'),
});

export const exportQuery = z.strictObject({
  fixtures: z
    .literal('true')
    .optional()
    .describe('Adds fixtures of stored deliveries, without anything that looks secret.'),
});

export const noRequest = z.strictObject({});

/** Requires exactly one of the keys. */
function requireOne<T extends object>(
  context: z.RefinementCtx,
  request: T,
  ...keys: readonly [keyof T & string, ...(keyof T & string)[]]
): void {
  if (keys.filter(key => Object.hasOwn(request, key)).length === 1) return;
  const choices = keys.length === 2 ? `either ${keys.join(' or ')}` : `exactly one of ${joinWithAnd(keys)}`;
  addMistake(context, [keys[0]], `give ${choices}`, { code: 'definition/value' });
}

/** @limit Longest ID of an event or attempt, and cursor, that a provider may have, in characters: GUIDs have 36. */
const providerIdCharsMax = 300;
/** @limit Events of one request to ask a provider for: it looks each of them up in the delivery log. */
const redeliveredMax = 100;

const providerId = z.string().min(1).max(providerIdCharsMax);

export const missedRequest = z.strictObject({
  since: time.describe('The attempts of the provider since this time are read.'),
  all: z.boolean().default(false).describe('Also lists events that no enabled automation could match.'),
  cursor: providerId.optional().describe('The `next` of the part before.'),
});

export const redeliverRequest = z.strictObject({
  listedAt: time.describe('The `read.at` of the first part of the list that has the events.'),
  events: z
    .array(
      z.strictObject({
        eventId: providerId,
        attemptId: providerId,
        again: z
          .boolean()
          .default(false)
          .describe('Whether to ask although it was asked for before the list was read, and did not arrive.'),
      }),
    )
    .max(redeliveredMax)
    .describe('In the order in which they should be asked for.'),
});

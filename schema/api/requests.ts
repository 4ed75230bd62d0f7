import { z } from 'zod';
import { automationShape } from '../definitions/automation-definition.ts';
import { addProblem } from '../definitions/parse-file.ts';
import { secretNamePattern, webhookShape } from '../definitions/webhook-definition.ts';
import { outcomes, runStates } from '../delivery.ts';
import { definitionNamePattern, definitionNameRule } from '../name.ts';

/** @limit Rows on one page of the management API, unless the request asks for another number. */
const apiPageSize = 50;
/** @limit Most rows on one page of the management API: a page is answered in a few ms. */
export const apiPageMax = 200;

/** What the management API takes: the bodies and query parameters of requests. */

const name = z
  .string()
  .superRefine((text, context) => {
    if (definitionNamePattern.test(text)) return;
    addProblem(context, [], `"${text.slice(0, 64)}" cannot be a name`, {
      code: 'definition/value',
      hint: definitionNameRule,
    });
  })
  .meta({ pattern: definitionNamePattern.source });

const secretName = z
  .string()
  .superRefine((text, context) => {
    if (secretNamePattern.test(text)) return;
    addProblem(context, [], 'not a name that a team secret can have', {
      code: 'definition/value',
      hint: 'up to 128 letters, digits, _ . and -, as in GITHUB_WEBHOOK',
    });
  })
  .meta({ pattern: secretNamePattern.source });
const newSecretName = secretName
  .optional()
  .describe('What the new team secret is to be called; without it, after the webhook.');

export const sessionRequest = z.strictObject({ token: z.string().max(256) });

/** How a new webhook gets its secret. */
const webhookSecret = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('generated'), name: newSecretName })
    .describe('Made here and shown once: of both token modes, and of schemes that take a secret of yours.'),
  z
    .strictObject({ kind: z.literal('supplied'), value: z.string(), name: newSecretName })
    .describe('What the provider shows; of mode signature.'),
  z
    .strictObject({ kind: z.literal('existing'), name: secretName })
    .describe('A team secret that there is; its value is never shown.'),
  z
    .strictObject({ kind: z.literal('blank'), name: newSecretName })
    .describe('Mode signature: supplied later, for standard-webhooks generated. Token modes: generated.'),
]);

const { authMode, signatureScheme, deliveryIdHeader, enabled } = webhookShape.shape;

export const newWebhookRequest = z
  .strictObject({
    name,
    authMode,
    signatureScheme,
    deliveryIdHeader,
    enabled,
    secret: webhookSecret.prefault({ kind: 'blank' }),
  })
  .superRefine(({ name: _, secret, ...keys }, context) => {
    // The rules over several keys are those of definition files.
    const { error } = webhookShape.safeParse({ ...keys, secretName: 'ANY' });
    for (const issue of error?.issues ?? []) {
      if (issue.code === 'custom') context.addIssue({ ...issue, input: keys });
    }
  });

export const webhookChangeRequest = z
  .strictObject({
    name: name.describe('Renames; only on a factory that is managed here.'),
    enabled: z.boolean().describe('Re-applies the definition too: a changed team secret is taken up.'),
  })
  .partial();

export type NewWebhook = z.output<typeof newWebhookRequest>;
export type WebhookChange = z.output<typeof webhookChangeRequest>;

export const webhookSecretRequest = z.strictObject({
  value: z
    .string()
    .optional()
    .describe(
      'What the provider issued; without it one is generated, where the webhook can have a generated one.',
    ),
});

export const newAutomationRequest = automationShape.extend({ name });
export const automationRequest = automationShape;

export const testRequest = z
  .strictObject({
    automation: z.string().describe('An applied automation.'),
    triggers: automationShape.shape.triggers.describe(
      'A draft of triggers, in place of an applied automation.',
    ),
    delivery: z.string().describe('The id of a stored delivery.'),
    payload: z
      .unknown()
      .describe('A payload, in place of a stored one: the webhook check is taken as passed.'),
  })
  .partial()
  .superRefine((request, context) => {
    oneOf(context, request, 'automation', 'triggers');
    oneOf(context, request, 'delivery', 'payload');
  });

const cursor = z.string().optional().describe('`next` of the page before.');
const limit = z.coerce.number().int().min(1).max(apiPageMax).default(apiPageSize);

export const deliveriesQuery = z.strictObject({
  webhook: z.string().optional().describe('Only of the webhook with this UID.'),
  outcome: z.enum(outcomes).optional(),
  limit,
  cursor,
});
export const runsQuery = z.strictObject({
  automation: z.string().optional(),
  delivery: z.string().optional().describe('Only those of this delivery: oldest first, on one page.'),
  state: z.enum(runStates).optional(),
  limit,
  cursor,
});
export const liveQuery = z.strictObject({
  webhook: z.string().optional().describe('Only of the webhook with this UID.'),
});
export const replayRequest = z.strictObject({
  automation: z.string().optional().describe('Only this automation.'),
});

const definitionFile = z.strictObject({
  path: z
    .string()
    .regex(/^(webhooks|automations)\/[a-z0-9][a-z0-9-]{0,62}\.yaml$/)
    .describe('As in the definitions directory: webhooks/<name>.yaml or automations/<name>.yaml.'),
  content: z.string(),
});

/** A definitions directory as it is sent: every definition file, whole. */
export const planRequest = z.strictObject({ files: z.array(definitionFile) });
export const applyRequest = planRequest.extend({
  origin: z.string().max(512).describe('Where the files come from, for whoever asks what is applied.'),
  destroy: z.boolean().default(false).describe('Confirms that webhooks and automations without a file go.'),
  adopt: z.boolean().default(false).describe('Takes a factory over that was managed in the dashboard.'),
});

export const noRequest = z.strictObject({});

function oneOf<T extends object>(
  context: z.RefinementCtx,
  request: T,
  a: keyof T & string,
  b: keyof T & string,
): void {
  if (Object.hasOwn(request, a) !== Object.hasOwn(request, b)) return;
  addProblem(context, [a], `give either ${a} or ${b}`, { code: 'definition/value' });
}

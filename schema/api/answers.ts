import { z } from 'zod';
import { customScheme } from '../../signatures/scheme.ts';
import { commitShape } from '../commit.ts';
import { authModes } from '../definitions/webhook-definition.ts';
import { identitySources, outcomes, runStates } from '../delivery.ts';
import type { DiagnosticCode } from '../diagnostics.ts';
import { payloadFilterSchema } from '../filters/payload-filter.ts';
import { uidPattern } from '../ids.ts';
import { permissions } from '../permission.ts';

/** What the management API tells: one shape for each thing there is. Each field is always there unless optional. */

const time = z.iso.datetime();
const uid = z.string().regex(uidPattern);
const serial = z.int().nonnegative().describe('Serial of the applied state, as in the ETag.');

/** Who is signed in. */
export const identityShape = z.strictObject({
  token: z.string().describe('The name of the API token.'),
  factory: z.string().nullable().describe('The one factory that it is for; null: all.'),
  permission: z.enum(permissions),
});

/** Who may change a factory's webhooks, and where. */
export const managements = ['dashboard', 'files', 'repository'] as const;
export type Management = (typeof managements)[number];

const managedBy = z
  .enum(managements)
  .nullable()
  .describe('Where webhooks and automations are changed; null while there is nothing yet: then here.');

export const factoryShape = z.strictObject({
  factory: z.string(),
  managedBy,
  serial,
  webhooks: z.int(),
  automations: z.int(),
});
export const factoriesShape = z.strictObject({ factories: z.array(factoryShape) });

const position = z.strictObject({ line: z.int(), column: z.int() });

/** A mistake in a definition file. */
export const diagnosticShape = z.strictObject({
  code: z.custom<DiagnosticCode>(code => typeof code === 'string').meta({ type: 'string' }),
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  file: z.string(),
  range: z.strictObject({ start: position, end: position }).optional(),
  hint: z.string().optional(),
});

/** A mistake in a request. */
export const mistakeShape = z.strictObject({
  pointer: z
    .string()
    .describe('Where in the body, as a JSON Pointer (RFC 6901), or the name of a parameter.'),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

/** What to do in place of what a factory of files does not let the dashboard do. */
export const insteadShape = z.strictObject({
  text: z.string(),
  file: z.string().optional().describe('The definition file to write or remove.'),
  yaml: z.string().optional().describe('What to write there.'),
});

/** RFC 9457. */
export const problemShape = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string().optional(),
  mistakes: z.array(mistakeShape).optional(),
  diagnostics: z.array(diagnosticShape).optional(),
  instead: insteadShape.optional(),
});

/** How a factory that follows a branch was last reconciled. */
export const reconcileShape = z.strictObject({
  followed: z.strictObject({ repository: z.string(), branch: z.string(), path: z.string() }),
  suspendedAt: time.nullable(),
  tip: commitShape.nullable(),
  commitsBehind: z.int().nullable(),
  lastSuccess: z.strictObject({ at: time, tip: commitShape }).nullable(),
  lastFailure: z
    .strictObject({
      at: time,
      reason: z.string(),
      message: z.string(),
      hint: z.string().optional(),
      tip: commitShape.nullable(),
      diagnostics: z.array(diagnosticShape),
    })
    .nullable(),
  failingSince: time.nullable(),
});

export const sourceShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('dashboard') }),
  z.strictObject({ kind: z.literal('directory'), directory: z.string() }),
  z.strictObject({
    kind: z.literal('repository'),
    repository: z.string(),
    branch: z.string(),
    path: z.string(),
    ...commitShape.shape,
  }),
]);

export const statusShape = factoryShape.extend({
  permission: z.enum(permissions).describe('What the caller may do here.'),
  source: sourceShape.nullable(),
  revision: z.string().nullable(),
  appliedAt: time.nullable(),
  edited: z.boolean().describe('A hand changed the applied state of a repository-backed factory.'),
  reconcile: reconcileShape.nullable().describe('Of a repository-backed factory; of others null.'),
  problem: z
    .strictObject({ message: z.string(), since: time })
    .nullable()
    .describe('Why a newer applied state is not served.'),
});

const commit = commitShape
  .nullable()
  .describe('The commit in force; null in a factory that follows no branch.');

export const webhookShape = z.strictObject({
  name: z.string(),
  uid,
  url: z.string().describe('The ingress URL; `{token}` stands for the secret of a url_token webhook.'),
  authMode: z.enum(authModes),
  signatureScheme: z.union([z.string(), customScheme]).nullable(),
  secretName: z.string(),
  deliveryIdHeader: z.string().nullable(),
  enabled: z.boolean(),
  credential: z.enum(['set', 'not set']).describe('`not set`: it answers 401 until its secret is supplied.'),
  file: z.string().nullable().describe('The definition file that it comes from; null: made here.'),
  commit,
});
export const webhooksShape = z.strictObject({ serial, webhooks: z.array(webhookShape) });
export const webhookDetailShape = webhookShape.extend({
  serial,
  yaml: z.string().describe('Its definition file.'),
});

/** What is told once: nothing keeps it, and no other answer has it. */
export const revealedShape = z.strictObject({
  secret: z.string().optional(),
  url: z.string().optional().describe('Of a url_token webhook: the ingress URL with its token.'),
});
export const changedWebhookShape = z.strictObject({
  webhook: webhookDetailShape,
  revealed: revealedShape.nullable().describe('What was generated, shown this once.'),
});

/** What the last 24 hours brought each webhook, hour by hour; the last hour is the present one. */
export const activityShape = z.strictObject({
  since: time,
  webhooks: z.array(
    z.strictObject({
      uid,
      lastDelivery: z.strictObject({ id: z.string(), at: time, outcome: z.enum(outcomes) }).nullable(),
      hours: z.array(z.strictObject({ accepted: z.int(), duplicate: z.int(), rejected: z.int() })).length(24),
    }),
  ),
});

const appliedTrigger = z.strictObject({
  uid: z.string(),
  webhook: z
    .string()
    .nullable()
    .describe('The name of the webhook; null: deleted or unknown, it never fires.'),
  payload: payloadFilterSchema.optional(),
});
export const automationShape = z.strictObject({
  name: z.string(),
  enabled: z.boolean(),
  prompt: z.string(),
  triggers: z.array(appliedTrigger),
  file: z.string().nullable().describe('The definition file that it comes from; null: made here.'),
});
export const automationsShape = z.strictObject({ serial, automations: z.array(automationShape) });
export const automationDetailShape = automationShape.extend({
  serial,
  yaml: z.string().describe('Its definition file.'),
});

const clauseShape = z.strictObject({
  path: z.string(),
  operator: z.enum(['in', 'not_in', 'exists', 'any_element']),
  allowed: z.string(),
  found: z.string(),
  holds: z.boolean(),
});
export const verdictShape = z.strictObject({
  automation: z.string(),
  enabled: z.boolean(),
  wouldTrigger: z.boolean(),
  triggers: z.array(
    z.strictObject({
      wouldTrigger: z.boolean(),
      webhookHolds: z.boolean(),
      payloadHolds: z.boolean(),
      clauses: z.array(clauseShape),
    }),
  ),
});

export const deliveryShape = z.strictObject({
  id: z.string(),
  webhook: z.string().describe("The webhook's name when it arrived."),
  uid,
  at: time,
  size: z.int().describe('Bytes of the body.'),
  outcome: z.enum(outcomes),
  identity: z.string().nullable(),
  identitySource: z.enum(identitySources).optional(),
  authenticatedBy: z.string().optional(),
  reason: z.string().optional().describe('Why it was rejected; only for those who may manage.'),
  duplicateOf: z.string().optional(),
  commit,
});
const next = z.string().nullable().describe('The cursor of the next page; null: this is the last.');
export const deliveriesShape = z.strictObject({ deliveries: z.array(deliveryShape), next });

export const runShape = z.strictObject({
  id: z.string(),
  automation: z.string(),
  deliveryId: z.string(),
  webhook: z.string().describe("The webhook's name when it was delivered to."),
  state: z.enum(runStates),
  attempts: z.int(),
  replay: z.boolean(),
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  nextAttemptAt: time.nullable().describe('Of a queued run.'),
  error: z.string().optional().describe('What went wrong in the last attempt.'),
});
export const runsShape = z.strictObject({ runs: z.array(runShape), next });

const evaluationShape = z.strictObject({
  serial: z.int().describe('Of the applied state that was in force.'),
  automations: z.array(verdictShape).describe('Those with a trigger on the webhook.'),
  others: z.int().describe('How many automations listen to other webhooks.'),
});
export const deliveryDetailShape = deliveryShape.extend({
  payload: z.string().nullable().describe('The body as text; null unless it was accepted.'),
  evaluation: evaluationShape.nullable(),
  runs: z.array(runShape),
});
/** An event of a live view. */
export const liveDeliveriesShape = z.strictObject({
  deliveries: z.array(deliveryShape).describe('In the order in which they were committed.'),
  skipped: z.int().describe('How many more there were: list them.'),
});
export const replayedShape = z.strictObject({
  runs: z.array(z.strictObject({ id: z.string(), automation: z.string() })),
});

export const secretShape = z.strictObject({
  name: z.string(),
  state: z.enum(['set', 'declared']),
  updatedAt: time,
  usedBy: z.array(z.string()).describe('The webhooks of this factory that use it.'),
  usedElsewhere: z.boolean().describe('A webhook of another factory uses it.'),
});
export const secretsShape = z.strictObject({ secrets: z.array(secretShape) });

export const schemeShape = z.strictObject({
  id: z.string(),
  provider: z.string(),
  kind: z.string(),
  page: z.string(),
  secretLocation: z.string(),
  secretCommand: z
    .enum(['generate', 'set', 'declare'])
    .describe('How its secret is made: here, by the provider, or by the provider once it has the URL.'),
  summary: z.array(z.strictObject({ label: z.string(), text: z.string() })),
});
export const schemesShape = z.strictObject({ schemes: z.array(schemeShape) });

const changeShape = z.strictObject({
  action: z.enum(['create', 'update', 'delete', 'no-op']),
  kind: z.enum(['webhook', 'automation']),
  name: z.string(),
  uid: z.string().optional(),
  url: z.string().optional(),
  fields: z.array(
    z.strictObject({ field: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }),
  ),
});
export const planShape = z.strictObject({
  factory: z.string(),
  serial,
  changes: z.array(changeShape),
  summary: z.strictObject({ add: z.int(), change: z.int(), destroy: z.int() }),
  diagnostics: z.array(diagnosticShape).describe('Warnings.'),
});
export const appliedShape = planShape.extend({
  result: z.enum(['applied', 'unchanged']),
  webhooks: z.array(webhookShape),
});

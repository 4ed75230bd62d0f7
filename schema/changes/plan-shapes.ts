import { z } from 'zod';
import { authModes } from '../ingress-url.ts';

/**
 * The reasons why a change needs a confirmation: something is destroyed; a webhook would use its team secret in another
 * way than this factory does elsewhere; or in another way than another factory does.
 */
export const confirmationReasons = ['destroy', 'shared-secret', 'other-factory'] as const;

export type ConfirmationReason = (typeof confirmationReasons)[number];

/** The reason why a change needs a confirmation, and a message about it. */
export const confirmationShape = z
  .strictObject({ reason: z.enum(confirmationReasons), message: z.string() })
  .describe('The reason why the change needs a confirmation. Absent if it needs none.');

export type Confirmation = z.output<typeof confirmationShape>;

/** A part of a definition that an apply adds, removes or changes. */
export const fieldChangeShape = z.strictObject({
  field: z.string().describe('The key of the definition. `secret` stands for the value of its team secret.'),
  path: z
    .string()
    .describe(
      'Where in the definition the change is, as in `triggers[deploys].filter.payload.action`. A trigger is named by its webhook.',
    ),
  before: z.unknown().optional().describe('Absent if the part is added.'),
  after: z.unknown().optional().describe('Absent if the part is removed.'),
  previousUntil: z
    .string()
    .optional()
    .describe('Only of `secret`: until when the current value stays valid beside the new one.'),
});

export type FieldChange = Readonly<z.output<typeof fieldChangeShape>>;

/** The effects of a change on the senders of a webhook. */
const webhookEffects = [
  /** The URL answers 404, unless the webhook is restored. */
  'url-gone',
  /** The URL answers 404 until the webhook is enabled again. */
  'disabled',
  'enabled',
  /** The token moves into the URL, or out of it. */
  'url-changed',
  /** Senders authenticate in another way: another mode, or another signature scheme. */
  'authentication-changed',
  /** Senders need another credential: at once, or by `previousUntil`. */
  'credential-changed',
  /** Retries are recognised by another header or field. */
  'identity-changed',
  /** Bodies become payloads in another way: those of another format are refused. */
  'payload-changed',
] as const;

/** Accepted deliveries of a webhook. */
const trafficShape = z.strictObject({
  lastAcceptedAt: z.string().nullable(),
  accepted: z.int().describe('How many were accepted in the last `days` days.'),
  days: z.int(),
});

const authenticationShape = z.strictObject({
  authMode: z.enum(authModes),
  signatureScheme: z.string().nullable().describe('The id of the scheme; null for a custom scheme, or none.'),
  secretName: z.string().nullable().describe('The team secret that it is checked with; null for oidc.'),
  issuer: z.string().nullable().describe('The issuer of the tokens; null except for oidc.'),
});

const identityImpactShape = z.strictObject({
  judged: z.int().describe('Number of stored deliveries that were identified by the new definition.'),
  changed: z.int().describe('Number of them whose identity changes.'),
  duplicates: z.int().describe('Number of them that would have been duplicates of another one of them.'),
});

const webhookImpactShape = z.strictObject({
  kind: z.literal('webhook'),
  effects: z.array(z.enum(webhookEffects)),
  previousUntil: z
    .string()
    .optional()
    .describe(
      'With the effect `credential-changed`: until when the old credential works too. Absent: it stops at once.',
    ),
  authentication: z
    .strictObject({ before: authenticationShape, after: authenticationShape })
    .optional()
    .describe('How senders authenticate. Only with the effect `authentication-changed`.'),
  identities: identityImpactShape
    .optional()
    .describe('How deliveries are identified. Only with the effect `identity-changed`.'),
  traffic: trafficShape,
  silenced: z.array(z.string()).describe('Automations that stay, but that the webhook no longer starts.'),
});

const runsShape = z.strictObject({
  runs: z.int(),
  stopped: z.int().describe('Number of them that `runsPerHour` would have stopped.'),
});

const automationImpactShape = z.strictObject({
  kind: z.literal('automation'),
  judged: z
    .int()
    .describe('Number of stored deliveries that were judged by the old triggers and by the new ones.'),
  startedBefore: z.int(),
  startedAfter: z.int(),
  runs: z
    .strictObject({ before: runsShape, after: runsShape })
    .describe('The runs that they would have started: with `debounce`, fewer than there were deliveries.'),
  changed: z.int().describe('Number of them whose outcome changes.'),
  examples: z
    .array(z.strictObject({ deliveryId: z.string(), webhook: z.string(), starts: z.boolean() }))
    .describe('The newest deliveries whose outcome changes.'),
  queued: z
    .int()
    .optional()
    .describe(
      'Number of queued runs, at most 1000, of an automation that is destroyed, which start all the same, or that changes keys in `kept`.',
    ),
  kept: z
    .array(z.string())
    .optional()
    .describe('The changed keys that these runs keep as they were when the runs were recorded.'),
});

/** The consequences of a change for senders and runs. */
export const impactShape = z.discriminatedUnion('kind', [webhookImpactShape, automationImpactShape]);

export type Impact = z.output<typeof impactShape>;
export type WebhookImpact = z.output<typeof webhookImpactShape>;
export type WebhookEffect = (typeof webhookEffects)[number];
export type IdentityImpact = z.output<typeof identityImpactShape>;
export type Traffic = z.output<typeof trafficShape>;
export type SenderAuthentication = z.output<typeof authenticationShape>;
export type AutomationImpact = z.output<typeof automationImpactShape>;

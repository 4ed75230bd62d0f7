import { z } from 'zod';
import { commitShape } from './commit.ts';
import { automationShape } from './definitions/automation-definition.ts';
import { customScheme } from './definitions/custom-scheme.ts';
import { authModes } from './definitions/webhook-definition.ts';
import { uidPattern } from './ids.ts';

/** @limit Most webhooks in one factory, as the specification of the service says. */
export const webhooksMax = 20;

/** Raised when an older hookmill could misread what a newer one writes. */
export const appliedStateFormatVersion = 1;

/**
 * The credential in force: what a sender is held to until the webhook's definition next applies. For token modes
 * a digest, for signatures the sealed value; `unset` is a declared team secret that has no value yet.
 */
const credential = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('digest'), secretVersion: z.string(), sha256: z.hex().length(64) }),
  z.strictObject({ kind: z.literal('sealed'), secretVersion: z.string(), jwe: z.string() }),
  z.strictObject({ kind: z.literal('unset') }),
]);

const appliedWebhook = z.strictObject({
  name: z.string(),
  uid: z.string().regex(uidPattern),
  authMode: z.enum(authModes),
  signatureScheme: z.union([z.string(), customScheme]).optional(),
  secretName: z.string(),
  deliveryIdHeader: z.string().optional(),
  enabled: z.boolean(),
  credential,
});

const appliedAutomation = automationShape.extend({ name: z.string() });

/** Where the applied state comes from. */
const source = z.discriminatedUnion('kind', [
  /** Webhooks and automations are made by the management API, without files. */
  z.strictObject({ kind: z.literal('dashboard') }),
  z.strictObject({ kind: z.literal('directory'), directory: z.string() }),
  z.strictObject({
    kind: z.literal('repository'),
    repository: z.string(),
    branch: z.string(),
    /** Where the definitions lie in the repository, `''` at its root. */
    path: z.string(),
    ...commitShape.shape,
    /** Of the webhooks and automations as they were applied: another one tells of a hand that edited them. */
    contentDigest: z.hex().length(64),
  }),
]);

/** `factories/<factory>/applied.json`: what the daemon serves. */
export const appliedStateShape = z.strictObject({
  formatVersion: z.literal(appliedStateFormatVersion),
  factory: z.string(),
  /** Counts the writes, so that a writer knows whether what it read is still in force. */
  serial: z.int().nonnegative(),
  appliedAt: z.string(),
  source: source.nullable(),
  webhooks: z.array(appliedWebhook),
  automations: z.array(appliedAutomation),
});

export type Credential = z.output<typeof credential>;
export type AppliedWebhook = z.output<typeof appliedWebhook>;
export type AppliedAutomation = z.output<typeof appliedAutomation>;
export type AppliedSource = z.output<typeof source>;
export type AppliedState = z.output<typeof appliedStateShape>;

/** The state of a factory that nothing has been applied to. */
export function emptyAppliedState(factory: string): AppliedState {
  return {
    formatVersion: appliedStateFormatVersion,
    factory,
    serial: 0,
    appliedAt: new Date(0).toISOString(),
    source: null,
    webhooks: [],
    automations: [],
  };
}

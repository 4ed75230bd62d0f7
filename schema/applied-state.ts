import { z } from 'zod';
import { commitShape } from './commit.ts';
import { pinnedAutomationShape } from './definitions/automation-definition.ts';
import { customScheme } from './definitions/custom-scheme.ts';
import { senderShape } from './definitions/sender-keys.ts';
import { webhookShape } from './definitions/webhook-definition.ts';
import { uidPattern } from './ids.ts';

/** Increase this if an older hookmill could misread the state that a newer one writes. */
const appliedStateFormatVersion = 1;

/**
 * When a previous credential was replaced, and when it ends. Afterwards it verifies nothing: it only says why a request was
 * refused, until there is another value.
 */
const overlapTimes = { since: z.string(), until: z.string() };

/**
 * The credential that senders must use now, and the previous one that they may use until its end. It changes only when the webhook's definition is applied again. Token modes
 * store a digest, signatures the sealed value. `unset`: the team secret is declared but has no value yet. `issuer`: there is
 * none, because the issuer's keys verify.
 */
const credential = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('digest'),
    secretVersion: z.string(),
    sha256: z.hex().length(64),
    previous: z.strictObject({ sha256: z.hex().length(64), ...overlapTimes }).optional(),
  }),
  z.strictObject({
    kind: z.literal('sealed'),
    secretVersion: z.string(),
    jwe: z.string(),
    previous: z.strictObject({ jwe: z.string(), ...overlapTimes }).optional(),
  }),
  z.strictObject({ kind: z.literal('unset') }),
  z.strictObject({ kind: z.literal('issuer') }),
]);

const appliedWebhook = z.strictObject({
  ...webhookShape.shape,
  // The schemes that a hookmill knows decide which of these are valid. What another version applied stays readable.
  signatureScheme: z.union([z.string(), customScheme]).optional(),
  issuer: z.string().optional(),
  // The names that look like credentials may change, too.
  secretName: z.string().optional(),
  sender: senderShape.safeExtend({ credentialSecret: z.string() }).optional(),
  deliveryIdHeader: z.string().optional(),
  handshake: z.union([z.string(), z.strictObject({ cloudevents: z.string() })]).optional(),
  keepHeaders: z.array(z.string()).optional(),
  name: z.string(),
  uid: z.string().regex(uidPattern),
  /** When the UID was assigned. Webhooks of earlier versions have none. */
  createdAt: z.string().optional(),
  /**
   * When it was last enabled or disabled, and whether by hand, so that its definition file says otherwise. Absent: not
   * since its UID was assigned.
   */
  switched: z.strictObject({ at: z.string(), byHand: z.boolean() }).optional(),
  credential,
});

/** A destroyed webhook, as far as its definition needs it to get its URL back. Has nothing that authenticates a sender. */
const destroyedWebhook = z.strictObject({
  ...appliedWebhook.pick({ name: true, uid: true, createdAt: true }).shape,
  ...appliedWebhook.pick({ authMode: true, signatureScheme: true, secretName: true }).shape,
  ...appliedWebhook.pick({ issuer: true, audience: true, claims: true }).shape,
  destroyedAt: z.string(),
  /** Only of `url_token`: the version of the team secret in its URL. */
  secretVersion: z.string().optional(),
});

const appliedAutomation = pinnedAutomationShape.extend({ name: z.string() });

/** The place where the webhooks and automations of a factory are managed. */
export const managements = ['dashboard', 'files', 'repository'] as const;

export type Management = (typeof managements)[number];

/** The source of an applied state. */
export const sourceShape = z.discriminatedUnion('kind', [
  /** Webhooks and automations are created through the management API, without files. */
  z.strictObject({ kind: z.literal('dashboard') }),
  z.strictObject({ kind: z.literal('directory'), directory: z.string() }),
  z.strictObject({
    kind: z.literal('repository'),
    repository: z.string(),
    branch: z.string(),
    /** The path of the definitions in the repository; `''` for its root. */
    path: z.string(),
    ...commitShape.shape,
    /** Digest of the applied webhooks and automations. If it no longer matches them, someone edited them by hand. */
    contentDigest: z.hex().length(64),
  }),
]);

/** The applied state of a factory, which the daemon serves. */
export const appliedStateShape = z.strictObject({
  formatVersion: z.literal(appliedStateFormatVersion),
  factory: z.string(),
  /** Counts the writes, so that a writer notices if the state has changed since it was read. */
  serial: z.int().nonnegative(),
  appliedAt: z.string(),
  source: sourceShape.nullable(),
  webhooks: z.array(appliedWebhook),
  automations: z.array(appliedAutomation),
  /** The destroyed webhooks that can be restored, the last one first. Absent if there are none. */
  destroyed: z.array(destroyedWebhook).optional(),
});

export type Credential = z.output<typeof credential>;
export type AppliedWebhook = z.output<typeof appliedWebhook>;
export type DestroyedWebhook = z.output<typeof destroyedWebhook>;
export type AppliedAutomation = z.output<typeof appliedAutomation>;
export type AppliedSource = z.output<typeof sourceShape>;
export type AppliedState = z.output<typeof appliedStateShape> & {
  /** Set by the store if the content differs from what it wrote. Never stored. */
  readonly isDamaged?: true;
};

/** The previous credential of a webhook, which may have ended; undefined if it has none. */
export function findPrevious({ credential }: Pick<AppliedWebhook, 'credential'>) {
  return 'previous' in credential ? credential.previous : undefined;
}

/** The state of a factory to which nothing has been applied. */
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

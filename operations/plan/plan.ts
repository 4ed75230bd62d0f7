import { isDeepStrictEqual } from 'node:util';
import type {
  AppliedAutomation,
  AppliedState,
  AppliedWebhook,
  Credential,
  DestroyedWebhook,
} from '../../schema/applied-state.ts';
import type { Confirmation, FieldChange } from '../../schema/changes/plan-shapes.ts';
import type { AutomationDefinition } from '../../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { WebhookWithUid } from '../../schema/definitions/webhook-names.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import { hasSecret } from '../../schema/names.ts';
import { findRunningEnd } from '../../schema/stored-times.ts';
import type { DefinitionKind, Definitions } from '../../sources/definitions.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';
import { compareDefinitions } from './compare-definitions.ts';

export type Action = 'create' | 'update' | 'delete' | 'no-op';

/** The change that an apply makes to one webhook or automation. */
export interface Change {
  readonly action: Action;
  readonly kind: DefinitionKind;
  readonly name: string;
  /** The UID of an existing webhook. */
  readonly uid?: string;
  readonly fields: readonly FieldChange[];
  /** The destroyed webhook whose UID a new one gets. */
  readonly former?: DestroyedWebhook;
  /** The reason why a new webhook does not get the UID of the destroyed one of its name. */
  readonly notRestored?: string;
  readonly confirmation?: Confirmation;
  /** The new name of a destroyed webhook that is only renamed. */
  readonly renamedTo?: string;
  /** The former name of a new webhook that is only renamed. */
  readonly renamedFrom?: string;
  /** What a person must do at the provider of the webhook, which an apply does not. */
  readonly atProvider?: readonly string[];
}

export interface Summary {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
}

/**
 * The changes that would make the desired definitions the applied state: webhooks, then automations, each by name.
 * A webhook changes if its definition did, or if the value of its team secret did. `formers` has the destroyed webhooks
 * that new ones are.
 */
export function plan(
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: Pick<AppliedState, 'webhooks' | 'automations'>,
  secrets: ReadonlyMap<string, TeamSecret>,
  nowMs: number,
  formers: ReadonlyMap<string, Pick<Change, 'former' | 'notRestored'>> = new Map(),
): Change[] {
  const changes = pairByName(desired.webhooks, applied.webhooks).map(pair =>
    planWebhook(pair, secrets, nowMs),
  );
  const restored = [...formers.values()].flatMap(({ former }) => former ?? []);
  const webhooks = [...applied.webhooks, ...restored];
  return [
    ...changes.map(change => ({ ...change, ...formers.get(change.name) })),
    ...planAutomations(desired.automations, { ...applied, webhooks }),
  ];
}

/** The changes that would make the desired automations the applied ones. */
export function planAutomations(desired: readonly AutomationDefinition[], applied: KnownWebhooks): Change[] {
  const { automations } = applied;
  const namesByUid = nameByUid(applied);
  return pairByName(desired, automations).map(pair => planAutomation(pair, namesByUid));
}

function planWebhook(
  { name, wanted, existing }: Pair<WebhookDefinition, AppliedWebhook>,
  secrets: ReadonlyMap<string, TeamSecret>,
  nowMs: number,
): Change {
  const change = { kind: 'webhook', name, uid: existing?.uid } as const;
  if (!wanted) return { action: 'delete', ...change, fields: [] };
  const fields = compareDefinitions(existing, wanted, notOfWebhookFile, () => undefined);
  if (existing && hasSecret(wanted) && wanted.secretName === existing.secretName) {
    const secret = secrets.get(wanted.secretName);
    if (!isCurrentCredential(existing.credential, existing.authMode, secret)) {
      const previousUntil = findOverlapBeside(wanted, existing, secret, nowMs);
      fields.push({ ...newSecretValue, ...(previousUntil !== undefined && { previousUntil }) });
    }
  }
  return { action: chooseAction(existing, fields), ...change, fields };
}

function planAutomation(
  { name, wanted, existing }: Pair<AutomationDefinition, AppliedAutomation>,
  namesByUid: ReadonlyMap<string, string>,
): Change {
  if (!wanted) return { action: 'delete', kind: 'automation', name, fields: [] };
  const before = existing && showTriggers(existing, namesByUid);
  const after = showTriggers(wanted, namesByUid);
  const label = (trigger: unknown) => after.labels.get(trigger) ?? before?.labels.get(trigger);
  const fields = compareDefinitions(before?.shown, after.shown, ['name'], label);
  return { action: chooseAction(existing, fields), kind: 'automation', name, fields };
}

export function summarize(changes: readonly Change[]): Summary {
  const count = (action: Action) => changes.filter(change => change.action === action).length;
  return { add: count('create'), change: count('update'), destroy: count('delete') };
}

/** Whether applying these changes would change anything. */
export function hasChanges(changes: readonly Change[]): boolean {
  return changes.some(({ action }) => action !== 'no-op');
}

/** The keys of an applied webhook that its definition file does not have. */
const notOfWebhookFile = ['name', 'uid', 'createdAt', 'switched', 'credential'];

/** The value of a team secret, which is never shown. */
const newSecretValue: FieldChange = {
  ...{ field: 'secret', path: 'secret' },
  ...{ before: 'current value', after: 'new value' },
};

interface KnownWebhooks extends Pick<AppliedState, 'automations'> {
  readonly webhooks: readonly WebhookWithUid[];
}

/** The names of webhooks by their UIDs. A webhook that is gone has the name by which a trigger selects it. */
function nameByUid({ webhooks, automations }: KnownWebhooks): ReadonlyMap<string, string> {
  const triggers = automations.flatMap(automation => automation.triggers);
  return new Map([
    ...triggers.flatMap(({ filter: { webhook, webhook_ids } }) =>
      webhook === undefined ? [] : webhook_ids.map(uid => [uid, webhook] as const),
    ),
    ...webhooks.map(({ uid, name }) => [uid, name] as const),
  ]);
}

/**
 * Shows the webhook of each trigger by its name and UID, whichever the definition has: it is no change to write the
 * other one. Also labels each trigger by its webhook.
 */
function showTriggers(automation: AutomationDefinition, namesByUid: ReadonlyMap<string, string>) {
  const labelled = automation.triggers.map(({ filter: { webhook, webhook_ids, ...filter }, ...trigger }) => {
    const [uid] = webhook_ids;
    const name = uid === undefined ? webhook : namesByUid.get(uid);
    const selection =
      name === undefined ? { webhook_ids } : { webhook: `${name} (${uid ?? 'known after apply'})` };
    return [{ ...trigger, filter: { ...selection, ...filter } }, name ?? webhook_ids.join()] as const;
  });
  const shown = { ...automation, triggers: labelled.map(([trigger]) => trigger) };
  return { shown, labels: new Map<unknown, string>(labelled) };
}

/**
 * Whether a credential was made from the team secret's current value, in the form that the auth mode needs. A value that
 * was not read from where it is kept counts as the one of the credential.
 */
export function isCurrentCredential(
  credential: Credential,
  authMode: AuthMode,
  secret: TeamSecret | undefined,
): boolean {
  if (authMode === 'oidc' || credential.kind === 'issuer') return false;
  if (credential.kind === 'unset') return secret?.value === undefined && !secret?.isUnread;
  const kind = authMode === 'signature' ? 'sealed' : 'digest';
  if (secret?.isUnread) return credential.kind === kind;
  return credential.kind === kind && credential.secretVersion === secret?.value?.version;
}

/**
 * Finds until when the credential in force stays valid beside the new value of the team secret: if that was set to overlap
 * with it, and senders still authenticate in the same way. Undefined if it ends at once.
 */
export function findOverlapBeside(
  wanted: WebhookDefinition,
  existing: AppliedWebhook | undefined,
  secret: TeamSecret | undefined,
  nowMs: number,
): string | undefined {
  const { overlap } = secret ?? {};
  if (!existing || !overlap || !mayOverlap(wanted, existing)) return undefined;
  const { credential } = existing;
  const isOverlapped = 'secretVersion' in credential && credential.secretVersion === overlap.version;
  return isOverlapped ? findRunningEnd(overlap, nowMs) : undefined;
}

/** Whether senders can go on to authenticate as they do: the same way, with the same team secret, and not in the URL. */
export function mayOverlap(wanted: WebhookDefinition, existing: AppliedWebhook): boolean {
  if (wanted.authMode === 'url_token') return false;
  return (['authMode', 'signatureScheme', 'secretName'] as const).every(key =>
    isDeepStrictEqual(wanted[key], existing[key]),
  );
}

function chooseAction(existing: unknown, fields: readonly FieldChange[]): Action {
  if (!existing) return 'create';
  return fields.length > 0 ? 'update' : 'no-op';
}

interface Named {
  readonly name: string;
}

/** A definition and what is applied under its name; one of them may be missing. */
interface Pair<W extends Named, E extends Named> {
  readonly name: string;
  readonly wanted: W | undefined;
  readonly existing: E | undefined;
}

function pairByName<W extends Named, E extends Named>(
  wanted: readonly W[],
  existing: readonly E[],
): Pair<W, E>[] {
  const wantedByName = new Map(wanted.map(one => [one.name, one]));
  const existingByName = new Map(existing.map(one => [one.name, one]));
  const names = new Set([...wantedByName.keys(), ...existingByName.keys()]);
  return [...names]
    .sort()
    .map(name => ({ name, wanted: wantedByName.get(name), existing: existingByName.get(name) }));
}

import { isDeepStrictEqual } from 'node:util';
import type { AppliedAutomation, AppliedState, AppliedWebhook, Credential } from '../schema/applied-state.ts';
import type { AuthMode } from '../schema/auth-mode.ts';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import type { DefinitionKind } from '../sources/definition-files.ts';
import type { Definitions } from '../sources/definitions.ts';
import type { TeamSecret } from '../store/team-secrets.ts';

export type Action = 'create' | 'update' | 'delete' | 'no-op';

/** The change that an apply makes to one webhook or automation. */
export interface Change {
  readonly action: Action;
  readonly kind: DefinitionKind;
  readonly name: string;
  /** The UID of an existing webhook. */
  readonly uid?: string;
  readonly fields: readonly FieldChange[];
}

/** A field that an apply changes. `secret` stands for the value of a team secret, which is never shown. */
export interface FieldChange {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface Summary {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
}

/**
 * The changes that would make the desired definitions the applied state: webhooks, then automations, each by name.
 * A webhook changes if its definition did, or if the value of its team secret did.
 */
export function plan(
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: Pick<AppliedState, 'webhooks' | 'automations'>,
  secrets: ReadonlyMap<string, TeamSecret>,
): Change[] {
  return [
    ...pairByName(desired.webhooks, applied.webhooks).map(pair => planWebhook(pair, secrets)),
    ...pairByName(desired.automations, applied.automations).map(planAutomation),
  ];
}

function planWebhook(
  { name, wanted, existing }: Pair<WebhookDefinition, AppliedWebhook>,
  secrets: ReadonlyMap<string, TeamSecret>,
): Change {
  const change = { kind: 'webhook', name, uid: existing?.uid } as const;
  if (!wanted) return { action: 'delete', ...change, fields: [] };
  const fields = compareFields(webhookFields, wanted, existing);
  if (existing && wanted.secretName === existing.secretName) {
    const secret = secrets.get(wanted.secretName);
    if (!isCurrentCredential(existing.credential, existing.authMode, secret)) fields.push(newSecretValue);
  }
  return { action: chooseAction(existing, fields), ...change, fields };
}

function planAutomation({ name, wanted, existing }: Pair<AutomationDefinition, AppliedAutomation>): Change {
  if (!wanted) return { action: 'delete', kind: 'automation', name, fields: [] };
  const fields = compareFields(automationFields, wanted, existing);
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

const webhookFields = ['authMode', 'signatureScheme', 'secretName', 'deliveryIdHeader', 'enabled'] as const;
const automationFields = ['enabled', 'prompt', 'triggers'] as const;
const newSecretValue: FieldChange = { field: 'secret', before: 'current value', after: 'new value' };

/** Whether a credential was made from the team secret's current value, in the form that the auth mode needs. */
export function isCurrentCredential(
  credential: Credential,
  authMode: AuthMode,
  secret: TeamSecret | undefined,
): boolean {
  if (credential.kind === 'unset') return secret?.value === undefined;
  const kind = authMode === 'signature' ? 'sealed' : 'digest';
  return credential.kind === kind && credential.secretVersion === secret?.value?.version;
}

function compareFields<Field extends string>(
  fields: readonly Field[],
  wanted: { readonly [F in Field]?: unknown },
  existing: { readonly [F in Field]?: unknown } | undefined,
): FieldChange[] {
  return fields
    .map(field => ({ field, before: existing?.[field], after: wanted[field] }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
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

import { isDeepStrictEqual } from 'node:util';
import type { AppliedState, AppliedWebhook } from '../schema/applied-state.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import type { DefinitionKind, Definitions } from '../sources/definition-files.ts';
import type { TeamSecret } from '../store/team-secrets.ts';
import { isCurrentCredential } from './credential.ts';

export type Action = 'create' | 'update' | 'delete' | 'no-op';

/** What an apply would do to one webhook or automation. */
export interface Change {
  readonly action: Action;
  readonly kind: DefinitionKind;
  readonly name: string;
  /** Of a webhook that has one already. */
  readonly uid?: string;
  readonly fields: readonly FieldChange[];
}

/** A field that an apply would set. `secret` stands for a team secret's value, which is never shown. */
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

/** What applying the definitions would do, in the order webhooks, automations, each by name. */
export function plan(
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  secrets: ReadonlyMap<string, TeamSecret>,
): Change[] {
  const webhooks = pairByName(desired.webhooks, applied.webhooks).map(
    ({ name, wanted, existing }): Change => {
      const uid = existing?.uid;
      if (!wanted) return { action: 'delete', kind: 'webhook', name, uid, fields: [] };
      const fields = fieldChanges(webhookFields, wanted, existing);
      if (
        existing &&
        !isCurrentSecret(wanted, existing, secrets) &&
        wanted.secretName === existing.secretName
      ) {
        fields.push({ field: 'secret', before: 'value in force', after: 'new value' });
      }
      return { action: actionFor(existing, fields), kind: 'webhook', name, uid, fields };
    },
  );
  const automations = pairByName(desired.automations, applied.automations).map(
    ({ name, wanted, existing }): Change => {
      if (!wanted) return { action: 'delete', kind: 'automation', name, fields: [] };
      const fields = fieldChanges(automationFields, wanted, existing);
      return { action: actionFor(existing, fields), kind: 'automation', name, fields };
    },
  );
  return [...webhooks, ...automations];
}

export function summarize(changes: readonly Change[]): Summary {
  const count = (action: Action) => changes.filter(change => change.action === action).length;
  return { add: count('create'), change: count('update'), destroy: count('delete') };
}

/** Whether an apply of these changes would change anything. */
export function hasChanges(changes: readonly Change[]): boolean {
  return changes.some(({ action }) => action !== 'no-op');
}

const webhookFields = ['authMode', 'signatureScheme', 'secretName', 'deliveryIdHeader', 'enabled'] as const;
const automationFields = ['enabled', 'prompt', 'triggers'] as const;

function isCurrentSecret(
  wanted: WebhookDefinition,
  existing: AppliedWebhook,
  secrets: ReadonlyMap<string, TeamSecret>,
): boolean {
  return isCurrentCredential(existing.credential, existing.authMode, secrets.get(wanted.secretName));
}

function fieldChanges<Field extends string>(
  fields: readonly Field[],
  wanted: { readonly [F in Field]?: unknown },
  existing: { readonly [F in Field]?: unknown } | undefined,
): FieldChange[] {
  return fields
    .map(field => ({ field, before: existing?.[field], after: wanted[field] }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
}

function actionFor(existing: unknown, fields: readonly FieldChange[]): Action {
  if (!existing) return 'create';
  return fields.length > 0 ? 'update' : 'no-op';
}

interface Named {
  readonly name: string;
}

function pairByName<W extends Named, E extends Named>(wanted: readonly W[], existing: readonly E[]) {
  const wantedByName = new Map(wanted.map(one => [one.name, one]));
  const existingByName = new Map(existing.map(one => [one.name, one]));
  const names = new Set([...wantedByName.keys(), ...existingByName.keys()]);
  return [...names]
    .sort()
    .map(name => ({ name, wanted: wantedByName.get(name), existing: existingByName.get(name) }));
}

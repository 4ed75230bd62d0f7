import { isDeepStrictEqual } from 'node:util';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { AutomationDefinition } from '../../schema/definitions/automation-definition.ts';
import { pickAuthentication } from '../../schema/definitions/pick-authentication.ts';
import { pickWrittenKeys, type WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic, Severity } from '../../schema/diagnostics.ts';
import { type Definitions, getDefinitionPath } from '../../sources/definitions.ts';

/** A webhook whose file was renamed: hookmill destroys the one, and creates the other with a new URL. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/**
 * Finds renamed webhooks by what they mean: one is missing, and a new one has the same content, or else at least
 * authenticates its sender in the same way with the same team secret. Each is part of one rename at most.
 */
export function findRenames(
  { webhooks }: Pick<Definitions, 'webhooks'>,
  applied: Pick<AppliedState, 'webhooks'>,
): Rename[] {
  const isIn = (others: readonly { readonly name: string }[], { name }: { readonly name: string }) =>
    others.some(other => other.name === name);
  let missing = applied.webhooks.filter(webhook => !isIn(webhooks, webhook));
  let added = webhooks.filter(webhook => !isIn(applied.webhooks, webhook));
  return [pickWrittenKeys, pickAuthentication].flatMap(toMeaning =>
    missing.flatMap(webhook => {
      const renamed = added.find(other => isDeepStrictEqual(toMeaning(other), toMeaning(webhook)));
      if (!renamed) return [];
      missing = missing.filter(other => other !== webhook);
      added = added.filter(other => other !== renamed);
      return [{ from: webhook.name, to: renamed.name }];
    }),
  );
}

/**
 * Reports definitions that are missing, although a file beside the definitions has their content: a copy of an editor
 * under the same name, or the same content under any. To destroy them would undo what nobody can see.
 */
export function findSetAside(
  { webhooks, automations }: Pick<Definitions, 'webhooks' | 'automations'>,
  asides: Definitions['asides'],
  applied: Pick<AppliedState, 'webhooks' | 'automations'>,
): Diagnostic[] {
  return asides.flatMap(({ kind, file, name: own, definition }): Diagnostic[] => {
    const [wanted, existing] =
      kind === 'webhook' ? [webhooks, applied.webhooks] : [automations, applied.automations];
    const missing = existing.filter(one => wanted.every(({ name }) => name !== one.name));
    const found = missing.find(
      one => one.name === own || (definition && isDeepStrictEqual(toContent(one), toContent(definition))),
    );
    if (!found) return [];
    const message = `this file has the definition of the ${kind} ${found.name}, which would be destroyed`;
    const back = `move it back to ${getDefinitionPath(kind, found.name)}`;
    const hint = `${back}; to disable it there, write \`enabled: false\`; to destroy it, delete this file too`;
    return [{ code: 'definition/file-name', severity: 'error', message, file, hint }];
  });
}

/** The content of a definition without its name; a trigger that names its webhook is pinned only when it is applied. */
function toContent(definition: WebhookDefinition | AutomationDefinition): object {
  if (!('triggers' in definition)) return pickWrittenKeys(definition);
  const { name: _, triggers, ...content } = definition;
  const selections = triggers.map(({ filter, ...trigger }) => {
    const { webhook, webhook_ids, ...rest } = filter;
    return { ...trigger, filter: { ...rest, webhook: webhook ?? webhook_ids.join() } };
  });
  return { ...content, triggers: selections };
}

/** Marks both changes of each rename with the name in the other. */
export function withRenames<C extends { readonly kind: string; readonly name: string }>(
  changes: readonly C[],
  renames: readonly Rename[],
): (C & { readonly renamedTo?: string; readonly renamedFrom?: string })[] {
  const [to, from] = [
    new Map(renames.map(rename => [rename.from, rename.to])),
    new Map(renames.map(rename => [rename.to, rename.from])),
  ];
  return changes.map(change => {
    const [renamedTo, renamedFrom] = [to.get(change.name), from.get(change.name)];
    if (change.kind !== 'webhook') return change;
    return { ...change, ...(renamedTo && { renamedTo }), ...(renamedFrom && { renamedFrom }) };
  });
}

/** Reports renames: warns of them, or says that a reconcile refuses them. */
export function makeRenameDiagnostics(
  renames: readonly Rename[],
  { locate }: Pick<Definitions, 'locate'>,
  severity: Severity,
): Diagnostic[] {
  const effect = 'its URL would change, and its sender would get 404';
  return renames.map(({ from, to }) => ({
    code: 'webhook/renamed',
    severity,
    ...(severity === 'warning'
      ? {
          message: `the webhook ${from} seems to be renamed to ${to}: ${effect}`,
          hint: 'rename the file back, or give the sender the new URL',
        }
      : {
          message: `a commit that renames the webhook ${from} to ${to} is refused: ${effect}`,
          hint: 'rename the file back; or merge, run `hookmill reconcile --once --allow-rename`, and give the sender the new URL',
        }),
    ...locate('webhook', to, ['secretName']),
  }));
}

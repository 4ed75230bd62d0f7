import { isDeepStrictEqual } from 'node:util';
import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { describeSender, type WebhookSender } from '../../schema/definitions/sender-keys.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { pinWebhooks } from '../../schema/definitions/webhook-names.ts';
import { type Diagnostic, hasErrors, shortenReport, sortDiagnostics } from '../../schema/diagnostics.ts';
import { hasSecret } from '../../schema/names.ts';
import type { SenderState } from '../../schema/sender.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { Store } from '../../store/ports/store.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';
import { findSenderDiagnostics } from '../checks/judge-sender.ts';
import {
  findRenames,
  findSetAside,
  makeRenameDiagnostics,
  type Rename,
  withRenames,
} from '../checks/rename-diagnostics.ts';
import { findRunnerDiagnostics } from '../checks/runner-diagnostics.ts';
import { findCredentialDiagnostics, findSecretDiagnostics } from '../checks/secret-diagnostics.ts';
import { findSharedSecrets, makeSharedSecretDiagnostics, readSecretUses } from '../checks/shared-secrets.ts';
import { findHeaderDiagnostics, findTriggerDiagnostics } from '../checks/trigger-diagnostics.ts';
import { withConfirmations } from './confirmations.ts';
import { declineFormers, findFormers, listRestored } from './destroyed-webhooks.ts';
import { type Change, plan } from './plan.ts';
import { replaceMistaken } from './replace-mistaken.ts';

export interface Planned {
  /** Whether the definitions can be applied. If they have errors, the changes are only for people to read. */
  readonly ok: boolean;
  /** Leaves out each definition that has an error. */
  readonly changes: readonly Change[];
  readonly renames: readonly Rename[];
  readonly diagnostics: readonly Diagnostic[];
  readonly state: AppliedState;
  /**
   * The definitions, with the UIDs of the webhooks that triggers name; new webhooks have none yet. Instead of each that
   * has an error, what is applied of it.
   */
  readonly desired: Pick<Definitions, 'webhooks' | 'automations'>;
  /** The versions of the team secrets that the webhooks name; null for a secret without a value. */
  readonly secretVersions: ReadonlyMap<string, string | null>;
}

interface PlanDeps {
  readonly now: () => Date;
  readonly store: Pick<Store, 'teamSecrets' | 'offeredRunners' | 'senderStates'>;
}

/**
 * Plans what applying the definitions would change. An error in one file leaves the plan of the others as it is. Also
 * returns the team secrets that the definitions name. Fails with `request-invalid` if a webhook of `newUids` would not be restored.
 */
export async function planDefinitions(
  state: AppliedState,
  { store: { teamSecrets, offeredRunners, senderStates }, now }: PlanDeps,
  written: Definitions,
  newUids: readonly string[] = [],
): Promise<{ planned: Planned; secrets: Map<string, TeamSecret> }> {
  const { wanted, secrets, names } = await openSecrets(teamSecrets, written, state.factory);
  const nowMs = now().getTime();
  const formers = declineFormers(
    findFormers(state, written.webhooks, secrets, nowMs),
    hasErrors(written.diagnostics) ? [] : newUids,
  );
  const restored = listRestored(formers);
  const known = [...state.webhooks, ...restored];
  const automations = written.automations.map(automation => pinWebhooks(automation, known));
  const definitions = { ...written, automations };
  const uses = await readSecretUses(teamSecrets, state.factory);
  const shared = findSharedSecrets(definitions, state.factory, uses);
  const senders = await senderStates.read(state.factory);
  const found = [
    ...definitions.diagnostics,
    ...findSecretDiagnostics(definitions, secrets, names),
    ...findCredentialDiagnostics(definitions, secrets, names),
    ...findSenderDiagnostics(definitions, state, senders),
    ...findRunnerDiagnostics(definitions, state.factory, await offeredRunners.read()),
  ];
  const judged = replaceMistaken(definitions, state, found);
  found.push(
    ...findHeaderDiagnostics({ ...definitions, webhooks: judged.webhooks }, known),
    ...findSetAside(judged, definitions.asides, state),
  );
  const desired = replaceMistaken(definitions, state, found);
  const isRestored = (webhook: WebhookDefinition) => restored.some(({ name }) => name === webhook.name);
  const renames = findRenames({ webhooks: desired.webhooks.filter(one => !isRestored(one)) }, state);
  const diagnostics = shortenReport(
    sortDiagnostics([
      ...found,
      ...makeSharedSecretDiagnostics(shared, definitions, 'warning'),
      ...findTriggerDiagnostics({ ...definitions, webhooks: judged.webhooks }, known),
      ...makeRenameDiagnostics(renames, definitions, 'warning'),
    ]),
  );
  const changes = plan(desired, state, secrets, nowMs, formers).filter(change => !desired.isReplaced(change));
  const versions = wanted.map(name => [name, secrets.get(name)?.value?.version ?? null] as const);
  const planned = {
    ok: !hasErrors(diagnostics),
    changes: withSenderTasks(
      withRenames(withConfirmations(changes, shared), renames),
      desired,
      state,
      senders,
    ),
    ...{ renames, diagnostics, state, desired, secretVersions: new Map(versions) },
  };
  return { planned, secrets };
}

/** Opens the team secrets that definitions name; the names of all are only for the hint for a missing one. */
async function openSecrets(
  teamSecrets: PlanDeps['store']['teamSecrets'],
  written: Definitions,
  factory: string,
) {
  const wanted = written.webhooks.filter(hasSecret).map(({ secretName }) => secretName);
  const named = [...wanted, ...written.webhooks.flatMap(({ sender }) => sender?.credentialSecret ?? [])];
  const secrets = await teamSecrets.open(named, factory);
  const names = named.every(name => secrets.has(name)) ? [] : await teamSecrets.listNames(factory);
  return { wanted, secrets, names };
}

interface PlannedChange {
  readonly kind: 'webhook' | 'automation';
  readonly name: string;
  readonly action: 'create' | 'update' | 'delete' | 'no-op';
}

/**
 * Adds what a person must do at providers after an apply, which changes nothing there: delete the hook of a destroyed webhook,
 * and register the hook of one whose `sender` is new or has changed. `states` have the IDs of the hooks.
 */
function withSenderTasks<C extends PlannedChange>(
  changes: readonly C[],
  { webhooks: desired }: { readonly webhooks: readonly WebhookDefinition[] },
  { webhooks: applied }: { readonly webhooks: readonly AppliedWebhook[] },
  states: readonly SenderState[],
): (C & { readonly atProvider?: readonly string[] })[] {
  return changes.map(change => {
    const { kind, name, action } = change;
    if (kind !== 'webhook' || action === 'no-op') return change;
    const before = applied.find(webhook => webhook.name === name);
    const after = action === 'delete' ? undefined : desired.find(webhook => webhook.name === name)?.sender;
    const isElsewhere = before?.sender && (!after || describeSender(before.sender) !== describeSender(after));
    const isGone = isElsewhere && (action === 'delete' || after !== undefined);
    const tasks = [
      ...(before?.sender && isGone ? [describeLeftover(before.uid, before.sender, states)] : []),
      ...(after && !isDeepStrictEqual(before?.sender, after) ? [describeRegistration(name, after)] : []),
    ];
    return tasks.length === 0 ? change : { ...change, atProvider: tasks };
  });
}

function describeLeftover(uid: string, sender: WebhookSender, states: readonly SenderState[]): string {
  const known = states.find(state => state.uid === uid)?.checked?.hooks.map(({ id }) => id) ?? [];
  const ids = sender.hookId === undefined ? known : [String(sender.hookId)];
  const at = describeSender(sender);
  if (sender.app !== undefined) return `remove the webhook URL of ${at}: nothing else needs it`;
  if (ids.length === 0) return `delete the hook of ${at} whose URL ends with ${uid}: nothing else needs it`;
  return `delete hook ${ids.join(', ')} of ${at}: nothing else needs it`;
}

function describeRegistration(name: string, sender: WebhookSender): string {
  return `run \`hookmill senders register ${name}\` after the apply, so that ${describeSender(sender)} has its hook`;
}

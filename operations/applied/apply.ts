import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { pinWebhooks } from '../../schema/definitions/webhook-names.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { createUid, uidRandomBytes } from '../../schema/ids.ts';
import { hasSecret } from '../../schema/names.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { StateChange } from '../../store/ports/store.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';
import { type BegunChange, beginChange, type ChangeToRecord, describeApplied } from '../access/audit.ts';
import { makeCredential } from '../access/credential.ts';
import {
  type DesiredSource,
  findAppliedSource,
  isEdited,
  isSwitchedByHand,
  toAppliedSource,
} from '../applied-source.ts';
import { findDashboardDiagnostics } from '../checks/trigger-diagnostics.ts';
import type { Factory } from '../factory.ts';
import { keepDestroyed } from '../plan/destroyed-webhooks.ts';
import { type Change, hasChanges } from '../plan/plan.ts';
import { type Planned, planDefinitions } from '../plan/plan-definitions.ts';

interface Decided {
  readonly result: 'applied' | 'unchanged' | 'declined';
  readonly changes: readonly Change[];
  /** The applied state that the changes were planned against. */
  readonly before: AppliedState;
  readonly diagnostics: readonly Diagnostic[];
}

interface Invalid {
  readonly result: 'invalid';
  readonly diagnostics: readonly Diagnostic[];
}

export type Applied = (Decided & { readonly state: AppliedState }) | Invalid;

export interface ApplyOptions {
  /** Replaces a factory that is managed in the dashboard. */
  readonly adopt?: boolean | undefined;
  /** The names of webhooks that get a new UID instead of their former one. */
  readonly newUids?: readonly string[] | undefined;
  /** Who applies, for the audit log. Absent if the caller records it. */
  readonly actor?: Pick<ChangeToRecord, 'who' | 'from' | 'operation'> | undefined;
}

/** Confirms or declines the changes before anything is written. */
export type Confirm = (planned: Planned) => Promise<boolean>;

/**
 * Makes the definitions the applied state, all or nothing, under the factory's lock. Nothing is written if there are
 * errors, if `confirm` declines, or if neither the definitions nor their source have changed. An edited state is always
 * written again. Fails as `planDefinitions` does.
 */
export async function applyDefinitions(
  factory: Factory,
  definitions: Definitions,
  source: DesiredSource,
  confirm: Confirm,
  { adopt = false, newUids, actor }: ApplyOptions = {},
): Promise<Applied> {
  const { name, store } = factory;
  let begun: BegunChange | undefined;
  const decide = async (state: AppliedState): Promise<StateChange<Decided | Invalid>> => {
    const conflicts = adopt ? [] : findDashboardDiagnostics(state, 'error');
    if (conflicts.length > 0) return { result: { result: 'invalid', diagnostics: conflicts } };
    const { planned, secrets } = await planDefinitions(state, factory, definitions, newUids);
    if (!planned.ok) return { result: { result: 'invalid', diagnostics: planned.diagnostics } };
    const { changes, diagnostics } = planned;
    const result = await confirmChanges(planned, source, confirm);
    const decision = { result, changes, before: state, diagnostics };
    if (decision.result !== 'applied') return { result: decision };
    const next = await makeNextState(factory, planned, definitions, secrets, source);
    begun = actor && (await beginChange(factory, { ...actor, factory: name, subject: '' }));
    return { next, result: decision };
  };
  const applying = store.appliedStates.change(name, decide);
  const { state, result: decision } = await applying.catch(async (error: unknown) => {
    await begun?.endFailed(error);
    throw error;
  });
  if (decision.result === 'invalid') return decision;
  await begun?.end(describeApplied(state, decision.changes)).catch(() => undefined);
  return { ...decision, state };
}

async function confirmChanges(
  planned: Planned,
  source: DesiredSource,
  confirm: Confirm,
): Promise<Decided['result']> {
  if (!(await confirm(planned))) return 'declined';
  const mustWrite =
    hasChanges(planned.changes) ||
    isNewSource(planned.state, source) ||
    isEdited(planned.state) ||
    planned.state.webhooks.some(webhook => isSwitchedByHand(planned.state, webhook));
  return mustWrite ? 'applied' : 'unchanged';
}

/** Whether the state must record another source or another revision. */
function isNewSource(state: AppliedState, source: DesiredSource): boolean {
  if (source.kind === 'repository') return findAppliedSource(state, source)?.revision !== source.revision;
  return state.source !== null && state.source.kind !== source.kind;
}

/** Its file was applied, so it no longer says otherwise. */
function noteSwitch(
  existing: AppliedWebhook | undefined,
  enabled: boolean,
  at: string,
): Pick<AppliedWebhook, 'switched'> {
  if (existing && existing.enabled !== enabled) return { switched: { at, byHand: false } };
  return existing?.switched ? { switched: { ...existing.switched, byHand: false } } : {};
}

async function makeNextState(
  factory: Factory,
  { state, changes }: Planned,
  definitions: Definitions,
  secrets: ReadonlyMap<string, TeamSecret>,
  source: DesiredSource,
): Promise<AppliedState> {
  const now = factory.now();
  const appliedAt = now.toISOString();
  const formers = new Map(changes.map(({ kind, name, former }) => [`${kind} ${name}`, former]));
  const webhooks = definitions.webhooks.map(async (webhook): Promise<AppliedWebhook> => {
    const existing = state.webhooks.find(other => other.name === webhook.name);
    const { uid, createdAt } = existing ??
      formers.get(`webhook ${webhook.name}`) ?? {
        uid: createUid(factory.randomBytes(uidRandomBytes)),
        createdAt: appliedAt,
      };
    const secret = hasSecret(webhook) ? secrets.get(webhook.secretName) : undefined;
    const credential = await makeCredential(factory, webhook, uid, secret, existing);
    const switched = noteSwitch(existing, webhook.enabled, appliedAt);
    return { ...webhook, uid, ...(createdAt !== undefined && { createdAt }), ...switched, credential };
  });
  const applied = await Promise.all(webhooks);
  const content = {
    webhooks: applied,
    automations: definitions.automations.map(automation => pinWebhooks(automation, applied)),
  };
  const next = { ...state, appliedAt, source: toAppliedSource(source, content), ...content };
  const uids = new Set(applied.map(({ uid }) => uid));
  const destroyed = state.webhooks.filter(({ uid }) => !uids.has(uid));
  return keepDestroyed(next, destroyed, now);
}

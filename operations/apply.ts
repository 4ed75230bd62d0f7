import type { AppliedState, AppliedWebhook } from '../schema/applied-state.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { createUid, uidRandomBytes } from '../schema/ids.ts';
import type { Definitions } from '../sources/definition-files.ts';
import type { TeamSecret } from '../store/team-secrets.ts';
import { appliedFrom, type DesiredSource, toAppliedSource } from './applied-source.ts';
import { dashboardProblems } from './checks/dashboard-problems.ts';
import { makeCredential } from './credential.ts';
import type { Factory } from './factory.ts';
import { type Change, hasChanges } from './plan.ts';
import { type PlannedChanges, planAgainst } from './plan-factory.ts';

export type Applied =
  | {
      readonly result: 'applied' | 'unchanged' | 'declined';
      readonly changes: readonly Change[];
      readonly diagnostics: readonly Diagnostic[];
      readonly state: AppliedState;
    }
  | { readonly result: 'invalid'; readonly diagnostics: readonly Diagnostic[] };

export interface ApplyOptions {
  /** Replaces what was made in the dashboard. */
  readonly adopt?: boolean | undefined;
}

/**
 * Makes the definitions the applied state, all or nothing, under the factory's lock. `confirm` sees the changes and
 * the whole plan before anything is written. Without a change nothing is written, unless to record the revision that
 * the state now comes from.
 */
export async function applyDefinitions(
  factory: Factory,
  definitions: Definitions,
  source: DesiredSource,
  confirm: (changes: readonly Change[], planned: PlannedChanges) => Promise<boolean>,
  { adopt = false }: ApplyOptions = {},
): Promise<Applied> {
  let applied: Applied | undefined;
  await factory.store.appliedStates.change(factory.name, async state => {
    const decided = await decide(state);
    applied = decided.applied;
    return decided.next;
  });
  if (!applied) throw new Error('the applied state was changed without a result');
  return applied;

  async function decide(state: AppliedState): Promise<{ applied: Applied; next?: AppliedState }> {
    const refusals = adopt ? [] : dashboardProblems(state, 'error');
    if (refusals.length > 0) return { applied: { result: 'invalid', diagnostics: refusals } };
    const { planned, secrets } = await planAgainst(state, factory.store, definitions);
    if (!planned.ok) return { applied: { result: 'invalid', diagnostics: planned.diagnostics } };
    const { changes, diagnostics } = planned;
    if (!(await confirm(changes, planned))) {
      return { applied: { result: 'declined', changes, diagnostics, state } };
    }
    if (!hasChanges(changes) && !isNewSource(state, source)) {
      return { applied: { result: 'unchanged', changes, diagnostics, state } };
    }
    const next = await nextState(factory, state, definitions, secrets, source);
    return {
      applied: { result: 'applied', changes, diagnostics, state: { ...next, serial: state.serial + 1 } },
      next,
    };
  }
}

function isNewSource(state: AppliedState, source: DesiredSource): boolean {
  if (source.kind === 'repository') return appliedFrom(state, source)?.revision !== source.revision;
  return state.source !== null && state.source.kind !== source.kind;
}

async function nextState(
  { name, store, now, randomBytes }: Factory,
  state: AppliedState,
  definitions: Definitions,
  secrets: ReadonlyMap<string, TeamSecret>,
  source: DesiredSource,
): Promise<AppliedState> {
  const webhooks = definitions.webhooks.map(async (webhook): Promise<AppliedWebhook> => {
    const existing = state.webhooks.find(other => other.name === webhook.name);
    const uid = existing?.uid ?? createUid(randomBytes(uidRandomBytes));
    const secret = secrets.get(webhook.secretName);
    const credential = await makeCredential(name, store.seal, webhook, uid, secret, existing);
    return { ...webhook, uid, credential };
  });
  const content = {
    webhooks: await Promise.all(webhooks),
    automations: definitions.automations.map(automation => ({
      ...automation,
      triggers: [...automation.triggers],
    })),
  };
  return { ...state, appliedAt: now().toISOString(), source: toAppliedSource(source, content), ...content };
}

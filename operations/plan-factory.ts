import type { AppliedState } from '../schema/applied-state.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../schema/diagnostics.ts';
import type { Definitions } from '../sources/definition-files.ts';
import type { Store } from '../store/ports.ts';
import type { TeamSecret } from '../store/team-secrets.ts';
import { dashboardProblems } from './checks/dashboard-problems.ts';
import { secretProblems } from './checks/secret-problems.ts';
import { triggerProblems, withUidHints } from './checks/trigger-problems.ts';
import type { Factory } from './factory.ts';
import { type Change, plan } from './plan.ts';

export type Planned =
  | {
      readonly ok: true;
      readonly changes: readonly Change[];
      readonly diagnostics: readonly Diagnostic[];
      readonly state: AppliedState;
      /** The versions of the team secrets that the webhooks name; null for one without a value. */
      readonly secretVersions: ReadonlyMap<string, string | null>;
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export type PlannedChanges = Extract<Planned, { ok: true }>;

/** Says what applying the definitions to the factory would change now; nothing is written. */
export async function planFactory(
  { name, store }: Pick<Factory, 'name' | 'store'>,
  definitions: Definitions,
): Promise<Planned> {
  const state = await store.appliedStates.read(name);
  const { planned } = await planAgainst(state, store, definitions);
  return { ...planned, diagnostics: [...planned.diagnostics, ...dashboardProblems(state, 'warning')] };
}

/** Plans the definitions against an applied state; gives the team secrets that they name, too. */
export async function planAgainst(
  state: AppliedState,
  { teamSecrets }: Pick<Store, 'teamSecrets'>,
  definitions: Definitions,
): Promise<{ planned: Planned; secrets: Map<string, TeamSecret> }> {
  const secrets = await teamSecrets.open(definitions.webhooks.map(webhook => webhook.secretName));
  const diagnostics = sortDiagnostics([
    ...withUidHints(definitions, state),
    ...secretProblems(definitions, secrets, await teamSecrets.listNames()),
    ...triggerProblems(definitions, state),
  ]);
  if (hasErrors(diagnostics)) return { planned: { ok: false, diagnostics }, secrets };
  const changes = plan(definitions, state, secrets);
  const secretVersions = new Map([...secrets].map(([name, { value }]) => [name, value?.version ?? null]));
  return { planned: { ok: true, changes, diagnostics, state, secretVersions }, secrets };
}

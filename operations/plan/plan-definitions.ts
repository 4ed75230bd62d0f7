import type { AppliedState } from '../../schema/applied-state.ts';
import { type Diagnostic, hasErrors, shortenReport, sortDiagnostics } from '../../schema/diagnostics.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { TeamSecret, TeamSecrets } from '../../store/ports/team-secrets.ts';
import { findHeaderDiagnostics } from '../checks/header-diagnostics.ts';
import { findRenameWarnings } from '../checks/rename-diagnostics.ts';
import { findSecretDiagnostics } from '../checks/secret-diagnostics.ts';
import { findSharedSecrets, makeSharedSecretDiagnostics, readSecretUses } from '../checks/shared-secrets.ts';
import { findTriggerDiagnostics, withUidHints } from '../checks/trigger-diagnostics.ts';
import { withConfirmations } from './confirmations.ts';
import { type Change, plan } from './plan.ts';

export type Planned =
  | {
      readonly ok: true;
      readonly changes: readonly Change[];
      readonly diagnostics: readonly Diagnostic[];
      readonly state: AppliedState;
      /** The versions of the team secrets that the webhooks name; null for a secret without a value. */
      readonly secretVersions: ReadonlyMap<string, string | null>;
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export type PlannedChanges = Extract<Planned, { ok: true }>;

/** Plans what applying the definitions would change. Also returns the team secrets that they name. */
export async function planDefinitions(
  state: AppliedState,
  teamSecrets: TeamSecrets,
  definitions: Definitions,
): Promise<{ planned: Planned; secrets: Map<string, TeamSecret> }> {
  const wanted = definitions.webhooks.map(webhook => webhook.secretName);
  const secrets = await teamSecrets.open(wanted, state.factory);
  // Only the hint for a missing secret needs the names of the others.
  const names = wanted.every(name => secrets.has(name)) ? [] : await teamSecrets.listNames(state.factory);
  const uses = await readSecretUses(teamSecrets, state.factory);
  const shared = findSharedSecrets(definitions, state.factory, uses);
  const diagnostics = shortenReport(
    sortDiagnostics([
      ...withUidHints(definitions, state),
      ...findSecretDiagnostics(definitions, secrets, names),
      ...makeSharedSecretDiagnostics(shared, definitions, 'warning'),
      ...findTriggerDiagnostics(definitions, state),
      ...findHeaderDiagnostics(definitions, state),
      ...findRenameWarnings(definitions, state),
    ]),
  );
  if (hasErrors(diagnostics)) return { planned: { ok: false, diagnostics }, secrets };
  const changes = withConfirmations(plan(definitions, state, secrets), shared);
  const secretVersions = new Map([...secrets].map(([name, { value }]) => [name, value?.version ?? null]));
  return { planned: { ok: true, changes, diagnostics, state, secretVersions }, secrets };
}

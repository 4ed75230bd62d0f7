import { addDiagnostics, type Diagnostic } from '../../schema/diagnostics.ts';
import { type Definitions, definitionFolders } from '../../sources/definitions.ts';
import type { ReconcileStatus } from '../../store/ports/reconcile-statuses.ts';
import { describeEmpty, isEmpty, refuseForeignUses, refuseRenames, rewound } from '../checks/refusals.ts';
import { findDashboardDiagnostics } from '../checks/trigger-diagnostics.ts';
import type { Factory } from '../factory.ts';
import { type Planned, planDefinitions } from './plan-definitions.ts';

interface PlanOptions {
  /** Plans as if the factory followed no branch. */
  readonly adopt?: boolean;
  /** The names of webhooks that get a new UID instead of their former one. */
  readonly newUids?: readonly string[] | undefined;
}

/**
 * Plans what applying the definitions to the factory would change now; if it follows a branch, what merging them there
 * would change. What a reconcile would refuse of that is an error. Nothing is written. Fails as `planDefinitions` does.
 */
export async function planFactory(
  { name, store, now }: Pick<Factory, 'name' | 'store' | 'now'>,
  definitions: Definitions,
  { adopt = false, newUids }: PlanOptions = {},
): Promise<Planned> {
  const state = await store.appliedStates.read(name);
  const status = await store.reconcileStatuses.read(name);
  const isFollowing = !adopt && (status.followed !== null || state.source?.kind === 'repository');
  // A reconcile looks at what is applied, and not at folders.
  const diagnostics = definitions.diagnostics.filter(({ code }) => code !== 'factory/no-definitions');
  const wanted = isFollowing ? { ...definitions, diagnostics } : definitions;
  const { planned } = await planDefinitions(state, { store, now }, wanted, newUids);
  const refusals = isFollowing ? findRefusals(planned, wanted, status) : [];
  const isRefused = ({ code, file }: Diagnostic) =>
    refusals.some(refusal => refusal.code === code && refusal.file === file);
  const others = planned.diagnostics.filter(one => one.severity === 'error' || !isRefused(one));
  return {
    ...planned,
    ok: planned.ok && refusals.length === 0,
    diagnostics: addDiagnostics(others, [...refusals, ...findDashboardDiagnostics(state, 'warning')]),
  };
}

/** Finds what a reconcile of the definitions would refuse. */
function findRefusals(
  planned: Planned,
  definitions: Definitions,
  { lastFailure, failingSince }: ReconcileStatus,
): Diagnostic[] {
  const { factory } = planned.state;
  const isRewound = failingSince !== null && lastFailure?.reason === 'rewound';
  const severity = 'error';
  return [
    ...refuseRenames(planned, definitions),
    ...refuseForeignUses(planned, definitions),
    ...(isEmpty(definitions, planned.state)
      ? [
          {
            code: 'factory/no-definitions',
            severity,
            file: definitionFolders.webhook,
            ...describeEmpty(''),
          } as const,
        ]
      : []),
    ...(isRewound
      ? [{ code: 'factory/rewound', severity, file: `factory ${factory}`, ...rewound } as const]
      : []),
  ];
}

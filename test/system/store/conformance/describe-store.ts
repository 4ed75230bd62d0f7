import { describe, inject } from 'vitest';
import { testApiTokens } from './api-tokens.ts';
import { testAppliedStates } from './applied-states.ts';
import { testAuditLog } from './audit-log.ts';
import { testClaims } from './claims.ts';
import { testDeliveries } from './deliveries.ts';
import { testDeliveryQueries } from './delivery-queries.ts';
import type { MakePlace } from './place.ts';
import { testPruning } from './pruning.ts';
import { testReconcileStatuses } from './reconcile-statuses.ts';
import { testRunFiles } from './run-files.ts';
import { testRunFlow } from './run-flow.ts';
import { testRunHistory } from './run-history.ts';
import { testRunLife } from './run-life.ts';
import { testRuns } from './runs.ts';
import { testSearches } from './searches.ts';
import { testSessions } from './sessions.ts';
import { testSnapshot } from './snapshot.ts';
import { testSteering } from './steering.ts';
import { testTallies } from './tallies.ts';
import { testTeamSecrets } from './team-secrets.ts';
import { testTransfer } from './transfer.ts';
import { testUnlogged } from './unlogged.ts';

/** The behaviour that every adapter of the store's ports must have. Each part is a test file of each adapter. */
const parts = {
  documents: {
    'applied states': testAppliedStates,
    'team secrets': testTeamSecrets,
    'API tokens': testApiTokens,
    'the audit log': testAuditLog,
    sessions: testSessions,
    'reconcile statuses': testReconcileStatuses,
    'claims, mirrors and the daemon address': testClaims,
  },
  deliveries: {
    deliveries: testDeliveries,
    'delivery queries': testDeliveryQueries,
    'requests without a row': testUnlogged,
    tallies: testTallies,
    searches: testSearches,
    pruning: testPruning,
  },
  runs: {
    runs: testRuns,
    'the life of runs': testRunLife,
    'the past of runs': testRunHistory,
    'the flow of runs': testRunFlow,
    'cancels and pauses': testSteering,
    'run files': testRunFiles,
    'a snapshot': testSnapshot,
    'a transfer': testTransfer,
  },
} as const satisfies Record<string, Record<string, (makePlace: MakePlace) => void>>;

/** Tests one part of an adapter. */
export function describeStore(name: string, part: keyof typeof parts, makePlace: MakePlace): void {
  describeEach(name, Object.entries(parts[part]), makePlace);
}

/** Tests what depends on how the delivery log is read: of the parts that write more than they read, only in a long run. */
export function describeReader(name: string, makePlace: MakePlace): void {
  const { pruning: _, deliveries, ...read } = parts.deliveries;
  const more = inject('isLong') ? { deliveries, runs: testRuns } : {};
  describeEach(name, Object.entries({ ...read, ...more }), makePlace);
}

function describeEach(
  name: string,
  tests: readonly [string, (makePlace: MakePlace) => void][],
  makePlace: MakePlace,
): void {
  describe(name, () => {
    for (const [port, testPort] of tests) describe(port, () => testPort(makePlace));
  });
}

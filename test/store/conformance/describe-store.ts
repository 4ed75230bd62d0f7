import { describe } from 'vitest';
import { testApiTokens } from './api-tokens.ts';
import { testAppliedStates } from './applied-states.ts';
import { testAuditLog } from './audit-log.ts';
import { testClaims, testOneDaemon, testReplicas } from './claims.ts';
import { testDeliveries } from './deliveries.ts';
import { testDeliveryQueries } from './delivery-queries.ts';
import type { MakePlace } from './place.ts';
import { testPruning } from './pruning.ts';
import { testReconcileStatuses } from './reconcile-statuses.ts';
import { testRunFiles } from './run-files.ts';
import { testRunFlow } from './run-flow.ts';
import { testRuns } from './runs.ts';
import { testSearches } from './searches.ts';
import { testSessions } from './sessions.ts';
import { testSnapshot } from './snapshot.ts';
import { testTallies } from './tallies.ts';
import { testTeamSecrets } from './team-secrets.ts';
import { testTransfer } from './transfer.ts';
import { testUnlogged } from './unlogged.ts';

/** Tests the behaviour that every adapter of the store's ports must have. */
export function describeStore(name: string, makePlace: MakePlace, daemons: 'one' | 'replicas'): void {
  describe(name, () => {
    describe('daemons', () => (daemons === 'one' ? testOneDaemon : testReplicas)(makePlace));
    describe('applied states', () => testAppliedStates(makePlace));
    describe('team secrets', () => testTeamSecrets(makePlace));
    describe('API tokens', () => testApiTokens(makePlace));
    describe('the audit log', () => testAuditLog(makePlace));
    describe('sessions', () => testSessions(makePlace));
    describe('reconcile statuses', () => testReconcileStatuses(makePlace));
    describe('pruning', () => testPruning(makePlace));
    describe('run files', () => testRunFiles(makePlace));
    describe('a snapshot', () => testSnapshot(makePlace));
    describe('a transfer', () => testTransfer(makePlace));
    describe('claims, mirrors and the daemon address', () => testClaims(makePlace));
    describe('the flow of runs', () => testRunFlow(makePlace));
    describeReader(makePlace);
  });
}

/** Tests the part of this behaviour that depends on how the delivery log is read. */
export function describeReader(makePlace: MakePlace): void {
  describe('deliveries', () => testDeliveries(makePlace));
  describe('delivery queries', () => testDeliveryQueries(makePlace));
  describe('requests without a row', () => testUnlogged(makePlace));
  describe('tallies', () => testTallies(makePlace));
  describe('searches', () => testSearches(makePlace));
  describe('runs', () => testRuns(makePlace));
}

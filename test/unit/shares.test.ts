import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** A limit of a collection, by the place in which it stands. */
interface Limit {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

/** The limits of the store, the daemon and alerts that bound how many there are of something. */
function listCollections(): Limit[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/limits.md'), 'utf8');
  const rows = page.matchAll(
    /^\| `(?<name>\w+)` \| (?<value>.*?) \| (?<meaning>.*) \| `(?<file>(?:daemon|store|operations\/attention)\/[^`]+)` \|$/gm,
  );
  return [...rows]
    .map(({ groups: { name = '', value = '', meaning = '', file = '' } = {} }) => {
      return { name: `${file} ${name}`, value, meaning };
    })
    .filter(
      ({ name, meaning }) =>
        /(?:Max|Quota|Kept|AtOnce|ATurn)$/.test(name) &&
        !/, in (?:bytes|ms|days|characters|MiB|seconds)/.test(meaning),
    )
    .filter(({ name }) => !/(?:bytes|chars|size|seconds|Ms|Bytes|Chars|Size|Seconds|Days)Max$/.test(name));
}

/** Why a limit has no share for each factory. */
const reasons: Readonly<Record<string, readonly string[]>> = {
  'each address, caller, webhook, run, message, plan or factory has its own': [
    'daemon/alerts/send-messages.ts attemptsMax',
    'daemon/issuers/issuer-keys.ts keysMax',
    'daemon/http/connections.ts connectionsATurn',
    'daemon/http/connections.ts connectionsAtOnce',
    'daemon/management/guards/request-rate.ts busyCallersMax',
    'daemon/management/guards/sessions.ts sessionsPerOwnerMax',
    'daemon/management/live-deliveries.ts liveDeliveriesMax',
    'daemon/management/live-deliveries.ts liveViewersPerTokenMax',
    'daemon/operations-thread/operations-thread.ts requestsWaitingMax',
    'daemon/operations-thread/operations-thread.ts restartsMax',
    'daemon/runs/receiver-reports.ts reportsMax',
    'daemon/runs/runners/end-leftovers.ts leftoverLooksMax',
    'daemon/senders/sender-watch.ts eventsAtOnce',
    'daemon/settings.ts deliveriesKept',
    'operations/attention/follow-episodes.ts pastOfFactoryMax',
    'operations/attention/status.ts entriesMax',
    'store/delivery-log/run-flow.ts deliveriesPerRunMax',
    'store/delivery-log/run-flow.ts deliveryBytesPerRunMax',
    'store/delivery-log/run-life.ts attemptsKeptMax',
    'store/delivery-log/run-life.ts interruptionsAloneMax',
    'store/delivery-log/run-life.ts interruptionsMax',
    'store/documents/daemon-records.ts statesKept',
    'store/ports/api-tokens.ts revokedTokensMax',
    'store/documents/resolve-references.ts resolvedAtOnce',
    'store/documents/read-documents.ts attemptsMax',
    'store/ports/audit-log.ts auditEntriesKept',
    'store/ports/reconcile-statuses.ts recentCommitsMax',
    'store/ports/run-files.ts artifactsMax',
    'store/postgres/delivery-log/retries.ts conflictsMax',
  ],
  'only the operator sets or fills it': [
    'daemon/alerts/alert-settings.ts receiversMax',
    'daemon/http/connections.ts descriptorsKept',
    'daemon/issuers/oidc-settings.ts managementMax',
    'daemon/management/sign-in/sign-in-settings.ts signInGrantsMax',
    'daemon/runs/run-settings.ts commandProcessesMax',
    'daemon/runs/run-settings.ts runsConcurrentMax',
    'daemon/runs/runners/http-settings.ts headersMax',
    'daemon/runs/runners/http-template.ts referencesMax',
    'daemon/settings.ts connectionsMax',
    'store/embedded/delivery-log/salvage.ts keysTriedMax',
    'store/embedded/delivery-log/salvage.ts problemsReportedMax',
    'store/ports/transfer.ts rowsPerPageMax',
  ],
  'factories take turns in it': [
    'daemon/alerts/send-messages.ts messagesAtOnceMax',
    'daemon/alerts/start-alerts.ts automationsMax',
    'daemon/alerts/start-alerts.ts endsMax',
    'daemon/operations-thread/operations-worker.ts watchedMax',
  ],
  'one step of work whose next step goes on behind it, so the rest is only later by a moment': [
    'daemon/ingress/unlogged-requests.ts countsPerWriteMax',
    'daemon/management/follow-replicas.ts followedMax',
    'daemon/runs/receiver-reports.ts overdueMax',
    'daemon/served/served-states.ts looksMax',
    'daemon/served/served-states.ts statesMax',
    'store/delivery-log/run-flow.ts cancelsMax',
    'store/delivery-log/run-flow.ts flowDecisionsMax',
    'store/delivery-log/run-flow.ts releasesMax',
    'store/delivery-log/search-steps.ts boundRowsMax',
    'store/delivery-log/tally-rows.ts tallyRowsMax',
    'store/delivery-log/thread/batch.ts deliveriesPerCommitMax',
    'store/delivery-log/thread/batch.ts deliveryBytesPerCommitMax',
    'store/embedded/delivery-log/sql/prune.ts deliveriesPerPruneStepMax',
    'store/embedded/delivery-log/sql/prune.ts deliveryBytesPerPruneStepMax',
    'store/embedded/delivery-log/sql/tallies.ts runTalliesPerPruneStepMax',
    'store/embedded/delivery-log/sql/tallies.ts talliesPerPruneStepMax',
    'store/embedded/delivery-log/sql/unlogged.ts countsPerPruneStepMax',
    'store/postgres/connection/database.ts changeConnectionsMax',
    'store/postgres/connection/database.ts readConnectionsMax',
    'store/postgres/delivery-log/open-postgres-log.ts batchesInFlightMax',
    'store/postgres/delivery-log/prune-days.ts countedMax',
    'store/postgres/delivery-log/prune-days.ts webhooksPerStepMax',
    'store/postgres/delivery-log/prune.ts rowsPerStepMax',
    'store/postgres/delivery-log/reader.ts readConnectionsMax',
    'store/postgres/delivery-log/tallies.ts resultsPerStepMax',
    'store/postgres/table-documents.ts documentsAtOnce',
  ],
  'a cache: what it loses is only read or counted again': [
    'daemon/observability/run-metrics.ts automationsAtZeroMax',
    'daemon/runs/receiver-reports.ts maskingsMax',
    'daemon/runs/run-automations.ts snapshotsParsedMax',
    'store/documents/daemon-records.ts unneededIssuersMax',
    'store/embedded/delivery-log/sql/series.ts keysKeptMax',
  ],
  'the rate, the connections or the waiting requests of each address, webhook and caller keep it from being filled by one':
    [
      'daemon/http/http-server.ts backlogMax',
      'daemon/http/window-counter.ts keysMax',
      'store/delivery-log/thread/group-commit.ts deliveriesWaitingMax',
      'store/delivery-log/thread/group-commit.ts deliveryBytesWaitingMax',
      'store/embedded/delivery-log/read/open-reader.ts queriesWaitingMax',
    ],
  'a list for people or logs, of which the newest or first are enough; a metric counts the others': [
    'daemon/ingress/unlogged-requests.ts similarUrlsMax',
    'daemon/observability/daemon-log.ts logBytesWaitingMax',
    'daemon/observability/tracer.ts spansWaitingMax',
    'operations/attention/follow-episodes.ts pastMax',
    'store/delivery-log/tally-rows.ts unhealthyListedMax',
  ],
};

test('each limit of a collection has a share for each factory, or a reason', () => {
  const known = Object.values(reasons).flat();
  const unshared = listCollections().filter(({ value }) => !/\bshare: /.test(value));
  expect(unshared.map(({ name }) => name).sort()).toEqual(known.toSorted());
});

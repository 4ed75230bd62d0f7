import { readdir } from 'node:fs/promises';
import { openApiTokens } from '../documents/api-tokens.ts';
import { openAlerts, openAppliedStates, openReconcileStatuses } from '../documents/applied-states.ts';
import {
  checkDocuments,
  listCopiedDocuments,
  requireCompleteCopy,
  resealDocuments,
} from '../documents/copied-documents.ts';
import { openIssuerKeys, openOfferedRunners, openSenderStates } from '../documents/daemon-records.ts';
import { freezeDocuments } from '../documents/read-documents.ts';
import { openDocumentSessions } from '../documents/sessions.ts';
import { openTeamSecrets } from '../documents/team-secrets.ts';
import { openDaemonAddress } from '../home/daemon-address.ts';
import { type Home, homeAt } from '../home/home.ts';
import { acquireLock } from '../home/lock.ts';
import { makeHome, requireSafeHome, withHomeLock } from '../home/make-home.ts';
import { openMirrors } from '../home/mirrors.ts';
import { type LocalRunFiles, openRunFiles } from '../home/run-files.ts';
import type { Documents } from '../ports/documents.ts';
import { addProblems, type Claim, type Store, type StoreOptions, type StoreReport } from '../ports/store.ts';
import { StoreError } from '../ports/store-error.ts';
import { openProcessReader, openThreadReader } from './delivery-log/read/open-reader.ts';
import { checkLogFile, salvageLogFile } from './delivery-log/salvage.ts';
import { openDatabaseForReading } from './delivery-log/sql/database.ts';
import { openDeliveryLog } from './delivery-log/write/open-delivery-log.ts';
import { openFileAuditLog } from './files/file-audit-log.ts';
import { openFileDocuments } from './files/file-documents.ts';
import { openHomeSeal, rotateHomeKey } from './files/home-seal.ts';
import { openHomeSnapshot, openHomeTransfer } from './home-transfer.ts';

export interface EmbeddedStore extends Store {
  readonly runFiles: LocalRunFiles;
}

/** Opens a store of files and one SQLite database in a home directory, for the processes of one machine. */
export function openEmbeddedStore({
  environment,
  lockTimeoutMs,
  now,
  ...options
}: StoreOptions): EmbeddedStore {
  const home = homeAt(options.home, options.onHomeCreated);
  const seal = openHomeSeal(home, environment);
  const documents = openFileDocuments(home, lockTimeoutMs);
  const auditLog = openFileAuditLog(home);
  const appliedStates = openAppliedStates(documents);
  const reconcileStatuses = openReconcileStatuses(documents);
  const openReader = options.readsInThread ? openThreadReader : openProcessReader;
  const deliveries = openReader(home.deliveryLogFile);
  const claim = async () => {
    await makeHome(home);
    const lock = await acquireLock(home.deliveryLogFile, 0);
    return { release: async () => lock.release() };
  };
  return {
    place: { home: options.home, environment, lockTimeoutMs },
    appliedStates,
    teamSecrets: openTeamSecrets({ documents, seal, appliedStates, reconcileStatuses, environment, now }),
    apiTokens: openApiTokens(documents, now),
    auditLog,
    sessions: openDocumentSessions(documents, now),
    reconcileStatuses,
    alerts: openAlerts(documents),
    issuerKeys: openIssuerKeys(documents),
    offeredRunners: openOfferedRunners(documents),
    senderStates: openSenderStates(documents, now),
    runFiles: openRunFiles(home),
    mirrors: openMirrors(home, lockTimeoutMs),
    daemonAddress: openDaemonAddress(home),
    seal,
    deliveries,
    replicas: undefined,
    openDeliveryLog: async options => {
      await makeHome(home);
      return openDeliveryLog(home.deliveryLogFile, options);
    },
    checkDeliveryLog: async () => checkLogFile(home.deliveryLogFile),
    salvageDeliveryLog: () =>
      withHomeLock(home, home.deliveryLogFile, 0, () => salvageLogFile(home.deliveryLogFile)),
    migrate: async () => {
      const message =
        'a home is updated when it is opened; to create tables, name a database with --store or HOOKMILL_STORE';
      throw new StoreError('unsupported', message);
    },
    check: async () => addProblems(await checkHome(home), await checkDocuments({ documents, seal })),
    rotateKey: () =>
      rotateHomeKey({ home, environment, lockTimeoutMs }, () => resealDocuments({ documents, seal })),
    openSnapshot: () =>
      openHomeSnapshot(home, auditLog, atMoment => freezeDocuments(documents, listCopiedDocuments, atMoment)),
    openTransfer: async () => openHomeTransfer(home, documents, auditLog, await claim()),
    claimDaemon: () => claimComplete(documents, claim),
    requireSafe: () => requireSafeHome(home),
    close: () => deliveries.close(),
  };
}

/** Claims a home, and releases it if a copy to it was stopped meanwhile. */
async function claimComplete(documents: Documents, claim: () => Promise<Claim>): Promise<Claim> {
  // A copy that goes on must find the home free.
  await requireCompleteCopy(documents);
  const claimed = await claim();
  try {
    await requireCompleteCopy(documents);
    return claimed;
  } catch (error) {
    await claimed.release();
    throw error;
  }
}

/** Checks the delivery log of a home, and counts the runs that have files although retention has removed them. Changes nothing. */
async function checkHome(home: Home): Promise<StoreReport> {
  const problems = checkLogFile(home.deliveryLogFile);
  const files = problems.length > 0 ? 'not counted' : String(await countRemovedRuns(home));
  return { facts: { home: home.directory, 'run files without a run': files }, problems };
}

async function countRemovedRuns(home: Home): Promise<number> {
  const directories = [home.runsDirectory, home.runOutputsDirectory, home.runArtifactsDirectory];
  const names = await Promise.all(directories.map(directory => readdir(directory).catch((): string[] => [])));
  const runs = new Set(names.flat().flatMap(name => /^run_[0-9a-z]{26}/.exec(name)?.[0] ?? []));
  const database = openDatabaseForReading(home.deliveryLogFile);
  const find = database.prepareColumn<[string], number>('SELECT 1 FROM runs WHERE id = ?');
  const removed = [...runs].filter(run => find.get(run) === undefined);
  database.close();
  return removed.length;
}

import type pg from 'pg';
import { openApiTokens } from '../documents/api-tokens.ts';
import { openAlerts, openAppliedStates, openReconcileStatuses } from '../documents/applied-states.ts';
import { checkDocuments, requireCompleteCopy, resealDocuments } from '../documents/copied-documents.ts';
import { openIssuerKeys, openSenderStates } from '../documents/daemon-records.ts';
import { openTeamSecrets } from '../documents/team-secrets.ts';
import { openDaemonAddress } from '../home/daemon-address.ts';
import { homeAt } from '../home/home.ts';
import { requireSafeHome } from '../home/make-home.ts';
import { openMirrors } from '../home/mirrors.ts';
import { openRunFiles } from '../home/run-files.ts';
import type { Seal } from '../ports/seal.ts';
import {
  addProblems,
  type Migrated,
  type PostgresPlace,
  type Store,
  type StoreOptions,
} from '../ports/store.ts';
import { StoreError } from '../ports/store-error.ts';
import { openSeal, readGivenKeys, requireOldKey } from '../sealing.ts';
import { checkDatabase } from './check-database.ts';
import { connectDatabase } from './connection/database.ts';
import { openPool } from './connection/pool.ts';
import { postgresFailure } from './connection/postgres-failure.ts';
import { openPostgresLog } from './delivery-log/open-postgres-log.ts';
import { openPostgresReader } from './delivery-log/reader.ts';
import { migrateTables, readTablesVersion } from './migrations.ts';
import { openReplicas } from './replicas/open-replicas.ts';
import { openTableRunners } from './replicas/table-runners.ts';
import { openTableSessions } from './replicas/table-sessions.ts';
import { openSharedRunFiles } from './run-files.ts';
import { openTableAuditLog } from './table-audit-log.ts';
import { openTableDocuments } from './table-documents.ts';
import { openPostgresSnapshot, openPostgresTransfer, requireNoCopy } from './transfer.ts';

export interface PostgresStoreOptions extends StoreOptions {
  readonly postgres: PostgresPlace;
}

/**
 * Opens a store in a PostgreSQL database, for the processes of any number of machines. The home has only what each
 * machine needs for itself: mirrors, directories of runs, and the address of its daemon.
 */
export function openPostgresStore(options: PostgresStoreOptions): Store {
  const { environment, postgres, lockTimeoutMs, now } = options;
  const { url, directUrl = url } = postgres;
  const home = homeAt(options.home);
  const seal = openEnvironmentSeal(environment);
  const database = connectDatabase(url);
  const documents = openTableDocuments({ database, directUrl, lockTimeoutMs });
  const appliedStates = openAppliedStates(documents);
  const reconcileStatuses = openReconcileStatuses(documents);
  const deliveries = openPostgresReader(url);
  return {
    place: { home: options.home, environment, postgres, lockTimeoutMs },
    appliedStates,
    teamSecrets: openTeamSecrets({ documents, seal, appliedStates, reconcileStatuses, environment, now }),
    apiTokens: openApiTokens(documents, now),
    auditLog: openTableAuditLog(database),
    sessions: openTableSessions(database),
    reconcileStatuses,
    alerts: openAlerts(documents),
    issuerKeys: openIssuerKeys(documents),
    offeredRunners: openTableRunners(database),
    senderStates: openSenderStates(documents, now),
    runFiles: openSharedRunFiles(openRunFiles(home), database),
    mirrors: openMirrors(home, lockTimeoutMs),
    daemonAddress: openDaemonAddress(home),
    seal,
    deliveries,
    replicas: openReplicas(database),
    openDeliveryLog: options => openPostgresLog(postgres, options),
    checkDeliveryLog: () => refuse('run `hookmill store check`, and see the log of PostgreSQL'),
    salvageDeliveryLog: () => refuse('restore a backup of the database'),
    migrate: () => withPool(url, migrate),
    check: async () => {
      const report = await withPool(url, pool => checkDatabase(pool, Date.now));
      // Reading the documents would create the tables, or update them.
      return report.isCurrent ? addProblems(report, await checkDocuments({ documents, seal })) : report;
    },
    rotateKey: async () => {
      requireOldKey(environment);
      return resealDocuments({ documents, seal });
    },
    openSnapshot: () =>
      openPostgresSnapshot(postgres, ({ name, run }) =>
        openTableDocuments({ database: { ...database, name, run }, directUrl, lockTimeoutMs }),
      ),
    openTransfer: () => openPostgresTransfer({ postgres, documents, lockTimeoutMs }),
    // Each daemon owns only the runs that it claims.
    claimDaemon: async () => {
      // First, and without a lock: a copy that goes on must find the database free.
      await requireCompleteCopy(documents);
      await requireNoCopy(database);
      return { release: async () => undefined };
    },
    requireSafe: () => requireSafeHome(home),
    close: async () => {
      await deliveries.close();
      await database.close();
    },
  };
}

/** Seals values with `HOOKMILL_KEY`. A key in the home of one machine would be missing on the others. */
function openEnvironmentSeal(environment: NodeJS.ProcessEnv): Seal {
  const find = async () => {
    const [key, ...old] = readGivenKeys(environment);
    if (key) return [key, ...old] as const;
    const advice =
      'set it to the same 32 bytes in base64 on all machines, e.g. from: openssl rand -base64 32';
    throw new StoreError('key', `a store in PostgreSQL needs HOOKMILL_KEY; ${advice}`);
  };
  return openSeal({ find, require: async () => (await find())[0] });
}

async function migrate(pool: pg.Pool): Promise<Migrated> {
  const before = await readTablesVersion(pool);
  await migrateTables(pool);
  const after = await readTablesVersion(pool);
  return { before: before?.version ?? 0, after: after?.version ?? 0 };
}

/** Works on a connection of its own, which nothing migrates. */
async function withPool<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = openPool(url, { connectionsMax: 1 });
  try {
    return await work(pool).catch(postgresFailure(url));
  } finally {
    await pool.end();
  }
}

async function refuse(advice: string): Promise<never> {
  const message = `the delivery log is in PostgreSQL, which has no file to check or salvage; ${advice}`;
  throw new StoreError('unsupported', message);
}

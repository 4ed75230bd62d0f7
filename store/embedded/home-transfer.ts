import { replaceFile } from '../home/durable-file.ts';
import { type Home, makePrivateDirectory, runOutputFile } from '../home/home.ts';
import { openRegularFile } from '../home/regular-file.ts';
import type { SqliteDatabase } from '../home/sqlite.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Documents } from '../ports/documents.ts';
import type { Claim } from '../ports/store.ts';
import { fileFailure } from '../ports/store-error.ts';
import { pageBytesMax, type Transfer, type TransferRun, type TransferSource } from '../ports/transfer.ts';
import { addAudit } from '../transfer-audit.ts';
import { moveWalAfter, openDatabase, openDatabaseForReading } from './delivery-log/sql/database.ts';
import { toLogError } from './delivery-log/sql/log-failure.ts';
import { readTransferPauses, writeTransferPauses } from './delivery-log/sql/pauses.ts';
import { selectSnapshot } from './delivery-log/sql/rows.ts';
import {
  countIdentities,
  listLoggedFactories,
  readTransferDeliveries,
  readTransferRuns,
  type StoredTransferRun,
  writeTransferDeliveries,
  writeTransferRuns,
} from './delivery-log/sql/transfer-rows.ts';
import { readTransferUnlogged, writeTransferUnlogged } from './delivery-log/sql/unlogged.ts';

/** Opens a home that is being copied from or to. `claim` keeps daemons away from it. */
export function openHomeTransfer(
  home: Home,
  documents: Documents,
  auditLog: AuditLog,
  claim: Claim,
): Transfer {
  const log = openLogFile(home.deliveryLogFile);
  const source = addAudit(readHome(home, log), auditLog);
  return {
    ...source,
    documents,
    deliveries: {
      ...source.deliveries,
      write: async (rows, snapshots) =>
        log.write(database => writeTransferDeliveries(database, rows, snapshots)),
    },
    runs: {
      ...source.runs,
      write: async (rows, snapshots) => {
        await writeOutputs(home, rows);
        const stored = rows.map(toStoredRun);
        log.write(database => writeTransferRuns(database, stored, snapshots));
      },
    },
    pauses: {
      ...source.pauses,
      write: async rows => log.write(database => writeTransferPauses(database, rows)),
    },
    unlogged: {
      ...source.unlogged,
      write: async rows => log.write(database => writeTransferUnlogged(database, rows)),
    },
    close: async () => {
      log.close();
      await claim.release();
    },
  };
}

/**
 * Opens a home as it is at this moment, while others go on changing it. `freeze` reads the documents. The outputs of runs
 * and the audit log are read later: they may have grown by then, and retention may have removed outputs.
 */
export async function openHomeSnapshot(
  home: Home,
  auditLog: AuditLog,
  freeze: (atMoment: () => void) => Promise<TransferSource['documents']>,
): Promise<TransferSource> {
  const log = openLogFile(home.deliveryLogFile);
  try {
    const documents = await freeze(() => log.read(beginSnapshot));
    const close = async () => moveWalAfter(home.deliveryLogFile, log.close);
    return { ...addAudit(readHome(home, log), auditLog), documents, close };
  } catch (error) {
    log.close();
    throw error;
  }
}

/** SQLite takes the snapshot of a transaction with its first read. */
function beginSnapshot(database: SqliteDatabase): void {
  if (database.inTransaction) database.exec('ROLLBACK');
  database.exec('BEGIN');
  database.prepare('SELECT count(*) FROM sqlite_schema').get();
}

function readHome(home: Home, log: LogFile): Omit<TransferSource, 'documents' | 'audit' | 'close'> {
  return {
    deliveries: {
      read: async (factory, after) => log.read(database => readTransferDeliveries(database, factory, after)),
    },
    runs: {
      read: async (factory, after) =>
        addOutputs(
          home,
          log.read(database => readTransferRuns(database, factory, after)),
        ),
    },
    pauses: {
      read: async (factory, after) => log.read(database => readTransferPauses(database, factory, after)),
    },
    unlogged: {
      read: async (factory, after) => log.read(database => readTransferUnlogged(database, factory, after)),
    },
    listLoggedFactories: async () => log.read(listLoggedFactories),
    countIdentities: async () => log.read(countIdentities),
    readSnapshot: async digest =>
      log.read(database => database.prepareColumn<[string], string>(selectSnapshot).get(digest)),
  };
}

type Use = <T>(work: (database: SqliteDatabase) => T) => T;

/** The delivery log's file, which is created with the first write. */
interface LogFile {
  readonly read: Use;
  readonly write: Use;
  close(): void;
}

function openLogFile(file: string): LogFile {
  let database: SqliteDatabase | undefined;
  let isWritable = false;
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw toLogError(file, error);
    }
  };
  return {
    read: work =>
      guarded(() => {
        database ??= openDatabaseForReading(file);
        return work(database);
      }),
    write: work =>
      guarded(() => {
        if (!isWritable) {
          database?.close();
          database = openDatabase(file);
          isWritable = true;
        }
        return work(database as SqliteDatabase);
      }),
    close: () => database?.close(),
  };
}

async function addOutputs(home: Home, rows: readonly StoredTransferRun[]): Promise<TransferRun[]> {
  const page: TransferRun[] = [];
  let bytesRead = 0;
  for (const row of rows) {
    if (bytesRead >= pageBytesMax) break;
    const bytes = await readOutput(runOutputFile(home, row.id));
    bytesRead += bytes?.length ?? 0;
    const flags = { replay: row.replay === 1, manual: row.manual === 1 };
    page.push({ ...row, ...flags, stopped: row.stopped === 1, dismissed: row.dismissed === 1, bytes });
  }
  return page;
}

function toStoredRun({ bytes: _, ...run }: TransferRun): StoredTransferRun {
  const flags = { replay: Number(run.replay), manual: Number(run.manual) };
  return { ...run, ...flags, stopped: Number(run.stopped), dismissed: Number(run.dismissed) };
}

async function readOutput(path: string): Promise<Buffer | null> {
  const file = await openRegularFile(path);
  if (!file) return null;
  try {
    return await file.handle.readFile();
  } finally {
    await file.handle.close();
  }
}

async function writeOutputs(home: Home, rows: readonly TransferRun[]): Promise<void> {
  const directory = home.runOutputsDirectory;
  await makePrivateDirectory(directory).catch(fileFailure('unwritable', directory));
  for (const { id, bytes } of rows) {
    const file = runOutputFile(home, id);
    if (bytes) await replaceFile(file, bytes).catch(fileFailure('unwritable', file));
  }
}

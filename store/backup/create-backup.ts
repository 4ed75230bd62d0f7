import { rm } from 'node:fs/promises';
import { createTemporary, moveTemporary } from '../home/durable-file.ts';
import type { Documents } from '../ports/documents.ts';
import type { Seal } from '../ports/seal.ts';
import { fileFailure } from '../ports/store-error.ts';
import type { TransferRow, TransferTable, TransferTableName, TransferTarget } from '../ports/transfer.ts';
import { renderDocument } from '../stored-json.ts';
import { createChunks } from './chunks.ts';
import { type BackupFacts, type BackupRecord, packRecord } from './records.ts';

/** A backup that is being written, under another name beside its own. */
export interface BackupWriter extends TransferTarget {
  readonly temporary: string;
  /** Writes the end, and syncs the file. */
  end(facts: BackupFacts): Promise<void>;
  /** Gives the file its name. */
  keep(): Promise<void>;
  /** Removes the file, unless it was kept. */
  close(): Promise<void>;
}

/** Creates a backup, encrypted with the key of the store. Fails with `unwritable`. */
export async function createBackup(file: string, seal: Seal): Promise<BackupWriter> {
  const failed = fileFailure('unwritable', file);
  const { temporary, handle } = await createTemporary(file).catch(failed);
  const close = async () => {
    await handle.close();
    await rm(temporary, { force: true });
  };
  const append = await createChunks(handle, seal).catch(async error => {
    await close();
    return failed(error);
  });
  const write = async (record: BackupRecord, isLast = false) =>
    append(await packRecord(record), isLast).catch(failed);
  return {
    temporary,
    documents: appendDocuments(write),
    deliveries: appendTable('deliveries', write),
    runs: appendTable('runs', write),
    pauses: appendTable('pauses', write),
    unlogged: appendTable('unlogged', write),
    audit: appendTable('audit', write),
    listLoggedFactories: async () => [],
    end: async facts => {
      await write({ kind: 'end', ...facts }, true);
      await handle.sync().catch(failed);
    },
    keep: () => moveTemporary(temporary, file).catch(failed),
    close,
  };
}

/** Appends rows, which get new positions. A backup begins empty. */
function appendTable<Row extends TransferRow>(
  table: TransferTableName,
  write: (record: BackupRecord) => Promise<void>,
): TransferTable<Row> {
  const counts = new Map<string, number>();
  return {
    read: async () => [],
    write: async (rows, snapshots) => {
      for (const snapshot of snapshots) await write({ kind: 'snapshot', ...snapshot });
      const factory = rows[0]?.factory ?? '';
      const before = counts.get(factory) ?? 0;
      counts.set(factory, before + rows.length);
      const placed = rows.map((row, index) => ({ ...row, position: before + index + 1 }));
      await write({ kind: 'rows', table, factory, rows: placed });
    },
  };
}

/** Appends each document once. */
function appendDocuments(
  write: (record: BackupRecord) => Promise<void>,
): Pick<Documents, 'read' | 'change' | 'listFactories'> {
  return {
    read: async ({ whenMissing }) => whenMissing,
    change: async ({ kind, factory, whenMissing }, change) => {
      const { next, result } = await change(whenMissing);
      const id = { kind, ...(factory !== undefined && { factory }) };
      if (next) await write({ kind: 'document', id, text: renderDocument(next) });
      return { data: next ?? whenMissing, result };
    },
    listFactories: async () => [],
  };
}

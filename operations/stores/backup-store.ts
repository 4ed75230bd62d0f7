import { type BackupWriter, createBackup } from '../../store/backup/create-backup.ts';
import { openBackup } from '../../store/backup/open-backup.ts';
import type { BackupFacts } from '../../store/backup/records.ts';
import type { Store } from '../../store/ports/store.ts';
import type { TransferReader, TransferRow, TransferSource } from '../../store/ports/transfer.ts';
import {
  type CopyReport,
  type CopySummary,
  compareSummaries,
  copyAll,
  copyStore,
  type OnRows,
  summarizeStore,
} from './copy-store.ts';

export interface BackupOptions {
  /** Leaves out the payloads of deliveries and the outputs of runs. */
  readonly isWithoutPayloads: boolean;
  readonly now: () => Date;
  readonly onRows: OnRows;
}

/**
 * Writes everything that a store keeps at one moment to a file, reads it again, and compares. The file gets its name only
 * if nothing differs, and replaces an older one. Fails with `unwritable`, or with `key` if a sealed value does not open.
 */
export async function backUpStore(store: Store, file: string, options: BackupOptions): Promise<CopyReport> {
  const writer = await createBackup(file, store.seal);
  try {
    const written = await writeBackup(store, writer, options);
    const backup = await openBackup(writer.temporary, store.seal);
    const report = compareSummaries(written, await summarizeStore(backup).finally(backup.close));
    if (report.isSame) await writer.keep();
    return report;
  } finally {
    await writer.close();
  }
}

async function writeBackup(
  { seal, openSnapshot }: Store,
  writer: BackupWriter,
  { isWithoutPayloads, now, onRows }: BackupOptions,
): Promise<CopySummary> {
  const createdAt = now().toISOString();
  const snapshot = await openSnapshot();
  try {
    const source = isWithoutPayloads ? withoutBytes(snapshot) : snapshot;
    const written = await copyAll({ ...source, seal }, { ...writer, seal }, onRows);
    await writer.end({ createdAt, isWithoutPayloads, identities: await source.countIdentities() });
    return written;
  } finally {
    await snapshot.close();
  }
}

export interface RestoreReport extends CopyReport {
  readonly facts: BackupFacts;
}

/**
 * Restores a backup to a store that is empty, or that has the beginning of it. Everything in the file is checked before the
 * first row is written, and the applied states are written last. Fails with `locked` while a daemon uses the store,
 * `other-content`, `key` or `corrupt`.
 */
export async function restoreStore(store: Store, file: string, onRows: OnRows): Promise<RestoreReport> {
  const { seal } = store;
  const backup = await openBackup(file, seal);
  try {
    const to = await store.openTransfer();
    const report = copyStore({ ...backup, seal }, { ...to, seal }, onRows);
    return { ...(await report.finally(to.close)), facts: backup.facts };
  } finally {
    await backup.close();
  }
}

/** Leaves out the payloads of deliveries and the outputs of runs. */
function withoutBytes(source: TransferSource): TransferSource {
  const leaveOut = <Row extends TransferRow>({ read }: TransferReader<Row>): TransferReader<Row> => ({
    read: async (factory, after) => (await read(factory, after)).map(row => ({ ...row, bytes: null })),
  });
  return { ...source, deliveries: leaveOut(source.deliveries), runs: leaveOut(source.runs) };
}

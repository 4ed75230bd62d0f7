import { hash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../../home/durable-file.ts';
import { SqliteDatabase } from '../../home/sqlite.ts';
import type { Salvaged } from '../../ports/store.ts';
import { DeliveryLogError } from '../../ports/store-error.ts';
import { openDatabase, openDatabaseForReading } from './sql/database.ts';
import { toLogError } from './sql/log-failure.ts';

/** @limit Most problems that a check of the delivery log reports: one is enough to act on. */
const problemsReportedMax = 20;
/** @limit Keys tried in a row without finding a row while a damaged log is read: far more than one damaged page hides. */
const keysTriedMax = 1_000_000;

/**
 * Checks the structure of the delivery log's file, and what its rows say the digest of. Returns what is wrong. A missing
 * file is intact.
 */
export function checkLogFile(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const database = new SqliteDatabase(file, { readOnly: true });
  try {
    const rows = database.prepareColumn<[], string>(`PRAGMA integrity_check(${problemsReportedMax})`).all();
    const damage = rows.filter(row => row !== 'ok');
    if (damage.length > 0) return damage;
    const loose = database.prepare<[], Loose>(selectLoose).all();
    const altered = countAltered(database);
    return [
      ...loose.map(({ count, table, parent }) => `${count} rows of ${table} refer to missing ${parent}`),
      ...(altered.deliveries > 0
        ? [`deliveries whose payload is not the one that was received: ${altered.deliveries}`]
        : []),
      ...(altered.snapshots > 0
        ? [`versions of automations that are not what was applied: ${altered.snapshots}`]
        : []),
    ];
  } catch (error) {
    const { code, message } = toLogError(file, error);
    if (code !== 'damaged') throw error;
    return [error instanceof Error ? error.message : message];
  } finally {
    database.close();
  }
}

interface Loose {
  readonly count: number;
  readonly table: string;
  readonly parent: string;
}

const selectLoose =
  'SELECT count(*) AS count, "table", parent FROM pragma_foreign_key_check GROUP BY "table", parent';

/** Damaged bytes may still read as a row. Snapshots show it, and deliveries whose identity is the hash of their body. */
const isSnapshotAltered = 'digest <> sha256(json)';
const isPayloadAltered = `payload IS NOT NULL AND identity GLOB 'body-sha256:*'
  AND identity <> 'body-sha256:' || sha256(payload)
  AND (SELECT identity_source FROM series WHERE series.key = deliveries.series) = 'body'`;

function countAltered(database: SqliteDatabase): Salvaged['altered'] {
  database.addFunction('sha256', bytes => hash('sha256', bytes as string | Uint8Array));
  const count = (table: string, isAltered: string) =>
    database.prepareColumn<[], number>(`SELECT count(*) FROM ${table} WHERE ${isAltered}`).get() ?? 0;
  return {
    deliveries: count('deliveries', isPayloadAltered),
    snapshots: count('snapshots', isSnapshotAltered),
  };
}

/**
 * Copies every row that can be read, unless it was altered, into a new file, which then takes the place of the damaged one.
 * Call it only while nothing else uses the log. Fails with DeliveryLogError `damaged` if nothing can be read.
 */
export async function salvageLogFile(file: string): Promise<Salvaged> {
  const copy = `${file}.salvaged`;
  const damagedFile = chooseName(`${file}.damaged`);
  remove(copy);
  const counts = copyReadableRows(file, copy);
  for (const suffix of fileSuffixes) {
    if (existsSync(file + suffix)) renameSync(file + suffix, damagedFile + suffix);
  }
  renameSync(copy, file);
  await syncDirectory(dirname(file));
  return { ...counts, damagedFile };
}

/** SQLite keeps recent writes in the second file, until they are moved to the first. */
const fileSuffixes = ['', '-wal', '-shm'];

function remove(file: string): void {
  for (const suffix of fileSuffixes) rmSync(file + suffix, { force: true });
}

function chooseName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!existsSync(name)) return name;
  }
}

function copyReadableRows(file: string, copy: string): Omit<Salvaged, 'damagedFile'> {
  const [source, target] = [openForSalvage(file), openDatabase(copy)];
  try {
    target.pragma('foreign_keys = OFF');
    return target.transact(() => {
      const copyTable = (table: string, key: string) => copyRows(source, target, table, key);
      copyTable('snapshots', 'key');
      copyTable('series', 'key');
      copyTable('deliveries', 'seq');
      copyTable('runs', 'seq');
      copyTable('run_deliveries', 'seq');
      copyTable('pauses', 'seq');
      copyTable('unlogged', 'seq');
      const altered = countAltered(target);
      target.exec(`
        DELETE FROM deliveries WHERE ${isPayloadAltered};
        DELETE FROM snapshots WHERE ${isSnapshotAltered}`);
      target.exec(mendReferences);
      const count = (table: string) =>
        target.prepareColumn<[], number>(`SELECT count(*) FROM ${table}`).get() ?? 0;
      return { deliveries: count('deliveries'), runs: count('runs'), altered };
    });
  } finally {
    source.close();
    target.close();
    remove(`${file}.rebuilt`);
  }
}

/** Opens a damaged log, or a copy of it with a new schema if its own one is what is damaged. */
function openForSalvage(file: string): SqliteDatabase {
  const readable = tryOpen(file);
  if (!('failure' in readable)) return readable;
  const rebuilt = `${file}.rebuilt`;
  copyWithNewSchema(file, rebuilt);
  const copy = tryOpen(rebuilt);
  if (!('failure' in copy)) return copy;
  remove(rebuilt);
  const advice = 'restore a backup, or move the file away to begin an empty log';
  throw new DeliveryLogError('damaged', `nothing of ${file} can be read; ${advice}`, { cause: copy.failure });
}

/** Opens a log if its schema can be read. Fails with DeliveryLogError `version`. */
function tryOpen(file: string): SqliteDatabase | { readonly failure: unknown } {
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabaseForReading(file);
    // SQLite reads the schema only now.
    database.prepare('SELECT 1 FROM deliveries LIMIT 0');
    return database;
  } catch (failure) {
    database?.close();
    if (failure instanceof DeliveryLogError && failure.code === 'version') throw failure;
    return { failure };
  }
}

/**
 * Copies a file whose schema is damaged, with that of a new log in its place: the header, and all pages of the schema. In a
 * file that another format had before, these may be elsewhere: then SQLite finds no schema and opens nothing.
 */
function copyWithNewSchema(file: string, copy: string): void {
  remove(copy);
  const database = openDatabase(copy);
  const pages = database
    .prepareColumn<[], number>("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
    .all();
  database.close();
  const fresh = readFileSync(copy);
  // https://sqlite.org/fileformat.html#the_database_header
  const pageBytes = fresh.readUInt16BE(16);
  fresh.writeUInt32BE(Math.floor(statSync(file).size / pageBytes), 28);
  fresh.fill(0, 32, 40);
  for (const suffix of ['', '-wal'])
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  const target = openSync(copy, 'r+');
  for (const page of pages)
    writeSync(target, fresh, (page - 1) * pageBytes, pageBytes, (page - 1) * pageBytes);
  closeSync(target);
}

/** Removes rows that refer to a row that could not be read, and counts those that refer to each snapshot. */
const mendReferences = `
  DELETE FROM deliveries WHERE series NOT IN (SELECT key FROM series);
  DELETE FROM runs WHERE delivery NOT IN (SELECT seq FROM deliveries);
  DELETE FROM run_deliveries WHERE run NOT IN (SELECT seq FROM runs) OR delivery NOT IN (SELECT seq FROM deliveries);
  UPDATE deliveries SET snapshot = NULL WHERE snapshot NOT IN (SELECT key FROM snapshots);
  UPDATE runs SET snapshot = NULL WHERE snapshot NOT IN (SELECT key FROM snapshots);
  INSERT INTO snapshot_uses
    SELECT snapshot, count(*) FROM (SELECT snapshot FROM deliveries UNION ALL SELECT snapshot FROM runs)
    WHERE snapshot IS NOT NULL GROUP BY snapshot;`;

/** Reads row by row, by key, and goes on after a key that cannot be read. */
function copyRows(source: SqliteDatabase, target: SqliteDatabase, table: string, key: string): void {
  const columns = target.prepareColumn<[string], string>('SELECT name FROM pragma_table_info(?)').all(table);
  const next = source.prepare<[number], Record<string, unknown>>(
    `SELECT ${columns.join()} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT 1`,
  );
  const insert = target.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join()}) VALUES (${columns.map(name => `@${name}`).join()})`,
  );
  let after = 0;
  for (let tried = 0; tried < keysTriedMax; tried++) {
    try {
      const row = next.get(after);
      if (!row) return;
      after = Number(row[key]);
      tried = 0;
      insert.run(row);
    } catch {
      after++;
    }
  }
}

import { closeSync, constants, existsSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { findSqliteResult, SqliteDatabase } from '../../../home/sqlite.ts';
import { DeliveryLogError } from '../../../ports/store-error.ts';
import { migrate, readSchemaVersion, schemaVersionCurrent, versionError } from './migrations.ts';

/** @limit Wait for another process' write, in ms: short enough that a daemon whose log is locked stops in time. */
const sqliteBusyTimeoutMs = 3_000;
/** @limit Pages of 4 KiB in the write-ahead log before SQLite moves them into the file (8 MiB): more would delay the deliveries of that commit longer, fewer would sync too often. */
const walPagesBeforeCheckpoint = 2_048;
/** @limit Size that the write-ahead log keeps after a burst, in bytes: the next burst need not allocate it. */
const walBytesKept = 64 * 1024 * 1024;
/** @limit Pages of the file that the writer keeps in memory, in KiB. More bring nothing: in a file of less than 1 GiB, SQLite goes through all of them after each commit that split a page of an index. */
const cacheKiB = 4_096;

/**
 * Opens the delivery log's file for writing, and creates it with mode 0600 if it is missing; its directory must exist.
 * Throws DeliveryLogError `version` or `unsafe`, or an error of the file system.
 */
export function openDatabase(file: string): SqliteDatabase {
  createFile(file);
  const database = new SqliteDatabase(file, { timeoutMs: sqliteBusyTimeoutMs });
  try {
    makeDurable(database);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens a connection that only reads, while others may write; an empty log if there is no file yet.
 * Throws DeliveryLogError `version`.
 */
export function openDatabaseForReading(file: string): SqliteDatabase {
  if (!existsSync(file)) return emptyDatabase();
  const database = new SqliteDatabase(file, { readOnly: true, timeoutMs: sqliteBusyTimeoutMs });
  const version = readSchemaVersion(database);
  if (version === schemaVersionCurrent) return database;
  database.close();
  if (version === 0) return emptyDatabase();
  throw versionError(version);
}

/**
 * Ends a long read, and then moves what was committed meanwhile from the write-ahead log into the file: 15 KB for each
 * delivery. This connection does it beside the daemon's commits. Otherwise the daemon's next commit would move all of it,
 * and its deliveries would wait for more than a second for each GB.
 */
export function moveWalAfter(file: string, endRead: () => void): void {
  let database: SqliteDatabase | undefined;
  try {
    if (existsSync(file)) database = new SqliteDatabase(file);
    database?.pragma('fullfsync = ON');
    database?.pragma('schema_version');
  } catch {
    // Nothing was logged yet, or only the daemon's user may write: then its next commit moves it.
  }
  endRead();
  try {
    database?.pragma('wal_checkpoint(PASSIVE)');
  } catch {
    // The read is over and its result complete.
  }
  database?.close();
}

function emptyDatabase(): SqliteDatabase {
  const database = new SqliteDatabase(':memory:');
  migrate(database);
  return database;
}

/** SQLite syncs the file's content at each commit, but the file's existence depends on a sync of its directory. */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
  const directory = openSync(dirname(file), constants.O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * A committed transaction survives a power cut only with synchronous=FULL. The library's default in WAL mode is NORMAL,
 * which does not sync, so FULL is set and read back.
 * fullfsync: on macOS a plain fsync leaves the bytes in the drive's cache; elsewhere it has no effect.
 */
function makeDurable(database: SqliteDatabase): void {
  const journalMode = switchToWal(database);
  database.pragma('synchronous = FULL');
  database.pragma('fullfsync = ON');
  database.pragma('foreign_keys = ON');
  database.pragma(`cache_size = -${cacheKiB}`);
  database.pragma(`wal_autocheckpoint = ${walPagesBeforeCheckpoint}`);
  database.pragma(`journal_size_limit = ${walBytesKept}`);
  const synchronous = database.pragma('synchronous');
  if (journalMode !== 'wal' || synchronous !== synchronousFull) {
    throw new DeliveryLogError(
      'unsafe',
      `the delivery log needs journal_mode wal and synchronous ${synchronousFull}, but SQLite has ${journalMode} and ${synchronous}; move the home to a local disk`,
    );
  }
}

// https://sqlite.org/pragma.html#pragma_synchronous
const synchronousFull = 2;

/**
 * Two connections may switch a new file at the same time. One of them then fails at once, whatever its timeout: it waits
 * until the other has switched.
 */
function switchToWal(database: SqliteDatabase): unknown {
  const switchMode = () => database.pragma('journal_mode = WAL');
  try {
    return switchMode();
  } catch (error) {
    if (findSqliteResult(error) !== 'busy') throw error;
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return switchMode();
  }
}

import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { fileFailure, StoreError } from '../ports/store-error.ts';
import { makePrivateDirectory } from './home.ts';
import { findSqliteResult, SqliteDatabase } from './sqlite.ts';

/** @limit Time between two attempts to take a lock, in ms: a person does not notice it. */
const lockRetryMs = 25;

/** The process that holds a lock. The error message for those who wait names it. */
interface Holder {
  readonly pid: number;
  readonly command: string;
  readonly since: string;
}

export interface Lock {
  release(): void;
}

/** Runs `work` while holding the lock of `file`, see `acquireLock`. */
export async function withLock<T>(file: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(file, timeoutMs);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Takes the lock of `file`: SQLite's lock on an empty database beside the file. The operating system frees it as soon
 * as its owner is gone, so no lock is ever stale.
 * Fails with `locked`, naming the holder, if the lock is not free within `timeoutMs`.
 */
export async function acquireLock(file: string, timeoutMs: number): Promise<Lock> {
  const database = await prepare(file)
    .then(() => acquire(file, performance.now() + timeoutMs))
    .catch(fileFailure('unwritable', lockFile(file)));
  const holder: Holder = {
    pid: process.pid,
    command: process.argv.slice(2).join(' '),
    since: new Date().toISOString(),
  };
  try {
    await writeFile(holderFile(file), JSON.stringify(holder), { mode: 0o600 });
  } catch (error) {
    database.close();
    fileFailure('unwritable', holderFile(file))(error);
  }
  return { release: () => database.close() };
}

/**
 * Creates the lock file, because SQLite would make it readable for everybody. An existing file is not opened: closing it
 * would free a lock that this process holds on it (POSIX, fcntl).
 */
async function prepare(file: string): Promise<void> {
  await makePrivateDirectory(dirname(file));
  await writeFile(lockFile(file), '', { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function acquire(file: string, untilMs: number): Promise<SqliteDatabase> {
  const database = new SqliteDatabase(lockFile(file), { timeoutMs: 0 });
  try {
    while (!tryLock(database)) {
      if (performance.now() >= untilMs) throw await lockedError(file);
      await sleep(lockRetryMs);
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function tryLock(database: SqliteDatabase): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (findSqliteResult(error) === 'busy') return false;
    throw error;
  }
}

async function lockedError(file: string): Promise<StoreError> {
  const holder = await readFile(holderFile(file), 'utf8').then(describeHolder, () => 'another process');
  return new StoreError('locked', `${file} is locked by ${holder}; try again later`);
}

function describeHolder(text: string): string {
  try {
    const { pid, command, since } = parseJsonText(text) as Partial<Holder>;
    return `hookmill ${command} (pid ${pid}, since ${since})`;
  } catch {
    return 'another process';
  }
}

function lockFile(file: string): string {
  return `${file}.lock`;
}

function holderFile(file: string): string {
  return `${file}.lock-holder`;
}

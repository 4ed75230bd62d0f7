import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type AuditLog,
  auditEntriesKept,
  type StoredAuditEntry,
  storedAuditEntryShape,
} from '../audit-log.ts';
import { syncDirectory } from '../durable-file.ts';
import { fileFailure } from '../store-error.ts';
import type { Home } from './files/home.ts';
import { withHomeLock } from './files/make-home.ts';
import { readText } from './files/read-text.ts';

/**
 * The audit log of a home: a file with a line of JSON for each entry, and the file before it. Every `kept` entries, a new
 * file begins.
 */
export function openFileAuditLog(home: Home, lockTimeoutMs: number): AuditLog {
  const file = home.auditFile;
  const files = [file, `${file}.1`] as const;
  return {
    record: (entries, kept = auditEntriesKept) =>
      withHomeLock(home, file, lockTimeoutMs, async () => {
        const newest = await readNewestFirst(files).next();
        const last = newest.value?.seq ?? 0;
        const isFull = Math.floor(last / kept) < Math.floor((last + entries.length) / kept);
        if (isFull) await rename(...files).catch(ignoreMissing);
        const lines = entries.map((entry, index) => JSON.stringify({ seq: last + index + 1, ...entry }));
        await appendLines(file, lines);
      }).catch(fileFailure('unwritable', file)),
    list: async ({ factory, withAll = false, before = Number.POSITIVE_INFINITY, limit }) => {
      const found: StoredAuditEntry[] = [];
      for await (const entry of readNewestFirst(files)) {
        const isOfFactory =
          factory === undefined || entry.factory === factory || (withAll && entry.factory === null);
        if (entry.seq < before && isOfFactory) found.push(entry);
        if (found.length >= limit) break;
      }
      return found;
    },
  };
}

/** Reads only as far as the caller asks. Lines that a crash has cut off are no entries. */
async function* readNewestFirst(files: readonly string[]): AsyncGenerator<StoredAuditEntry, undefined> {
  for (const file of files) {
    const lines = ((await readText(file)) ?? '').split('\n');
    for (const line of lines.toReversed()) {
      const entry = parseEntry(line);
      if (entry) yield entry;
    }
  }
}

function parseEntry(line: string): StoredAuditEntry | undefined {
  try {
    return storedAuditEntryShape.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Appends whole lines, on a line of their own even if a crash has cut off the one before. */
async function appendLines(file: string, lines: readonly string[]): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.appendFile(`\n${lines.join('\n')}`);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await syncDirectory(dirname(file));
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

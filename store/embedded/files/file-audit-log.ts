import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { replaceFile, syncDirectory } from '../../home/durable-file.ts';
import type { Home } from '../../home/home.ts';
import { withHomeLock } from '../../home/make-home.ts';
import { readText } from '../../home/regular-file.ts';
import {
  type AuditLog,
  auditEntriesKept,
  type StoredAuditEntry,
  storedAuditEntryShape,
} from '../../ports/audit-log.ts';
import { fileFailure } from '../../ports/store-error.ts';

/** @limit Longest wait for others that write an entry of the audit log, in ms. It does not depend on `--lock-timeout`: all factories share the log, and an entry is written in a moment. */
const lockTimeoutMs = 10_000;

/** The end of a file in which the newest line is looked for: some lines, even if one was cut off. */
const tailBytes = 65_536;

/** A line that ends a change without an entry, because nothing was changed. */
const withdrawnShape = storedAuditEntryShape.pick({ seq: true }).extend({ begun: z.int().positive() });
/** A line that ends a change has the place of the line with which the change began. */
const lineShape = z.union([
  storedAuditEntryShape.extend({ begun: withdrawnShape.shape.begun.optional() }),
  withdrawnShape,
]);

type Line = z.output<typeof lineShape>;
type NewLine = Partial<Line>;

/**
 * Opens the audit log of a home: a file with one or two lines of JSON for each entry, and a file with the entries before
 * them, a line for each. When the first file has twice `kept` lines, its entries move to the other one, which then loses
 * those that are not kept.
 */
export function openFileAuditLog(home: Home): AuditLog {
  const file = home.auditFile;
  const files = [file, `${file}.1`] as const;
  const append = (entries: readonly NewLine[], kept = auditEntriesKept): Promise<number> =>
    withHomeLock(home, file, lockTimeoutMs, async () => {
      const last = await readLast(files);
      const linesMax = kept * 2;
      const isFull = Math.floor(last / linesMax) < Math.floor((last + entries.length) / linesMax);
      if (isFull) await moveEntries(files, kept);
      const lines = entries.map((entry, index) => JSON.stringify({ seq: last + index + 1, ...entry }));
      await appendLines(file, lines);
      return last + entries.length;
    }).catch(fileFailure('unwritable', file));
  return {
    begin: (entry, kept) => append([{ ...entry, unfinished: true }], kept),
    end: async (begun, entry, kept) => {
      await append([{ begun, ...entry }], kept);
    },
    record: async (entries, kept) => {
      await append(entries, kept);
    },
    list: async ({ factory, withAll = false, before = Number.POSITIVE_INFINITY, limit }) => {
      const found: StoredAuditEntry[] = [];
      for await (const entry of readEntries(files)) {
        const isOfFactory =
          factory === undefined || entry.factory === factory || (withAll && entry.factory === null);
        if (entry.seq < before && isOfFactory) found.push(entry);
        if (found.length >= limit) break;
      }
      return found;
    },
  };
}

/**
 * Writes the entries of both files that are kept to the older file, and removes the newer one. After a crash between the
 * two, both have the newest entries; reading passes by the second ones.
 */
async function moveEntries([newer, older]: readonly [string, string], kept: number): Promise<void> {
  const counts = new Map<string, number>();
  const lines: string[] = [];
  for await (const entry of readEntries([newer, older])) {
    const key = JSON.stringify([entry.factory, entry.unfinished]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= kept) lines.push(JSON.stringify(entry));
  }
  await replaceFile(older, `\n${lines.reverse().join('\n')}`);
  await rm(newer, { force: true });
}

/** Reads entries, newest first, each at the place where its change ended, or else began. */
async function* readEntries(files: readonly string[]): AsyncGenerator<StoredAuditEntry, undefined> {
  const ended = new Set<number>();
  for await (const { begun, ...entry } of readNewestFirst(files)) {
    if (begun !== undefined) ended.add(begun);
    if ('at' in entry && !ended.has(entry.seq)) yield entry;
  }
}

/** Reads only as far as the caller asks. */
async function* readNewestFirst(files: readonly string[]): AsyncGenerator<Line, undefined> {
  let next = Number.POSITIVE_INFINITY;
  for (const file of files) {
    for (const line of parseNewestFirst((await readText(file)) ?? '')) {
      if (line.seq < next) yield line;
      next = Math.min(next, line.seq);
    }
  }
}

/** Lines that a crash has cut off are no entries. */
function* parseNewestFirst(text: string): Generator<Line, undefined> {
  for (const line of text.split('\n').toReversed()) {
    const parsed = parseLine(line);
    if (parsed) yield parsed;
  }
}

/** Finds the place of the newest line, or 0 in an empty log. Reads no more than the end of a long file. */
async function readLast(files: readonly [string, string]): Promise<number> {
  const handle = await open(files[0]).catch(ignoreMissing);
  if (handle) {
    try {
      const { size } = await handle.stat();
      const position = Math.max(0, size - tailBytes);
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(tailBytes), position });
      const newest = parseNewestFirst(buffer.toString('utf8', 0, bytesRead)).next();
      if (newest.value) return newest.value.seq;
    } finally {
      await handle.close();
    }
  }
  return (await readNewestFirst(files).next()).value?.seq ?? 0;
}

function parseLine(line: string): Line | undefined {
  try {
    return lineShape.parse(parseJsonText(line));
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

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

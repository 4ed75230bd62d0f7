import { posix } from 'node:path';

/** @limit Bytes that are read of a file that may belong to a home: each kind is recognised by its beginning. */
export const homeFileHeadBytes = 256;

const json = /^\{\s*"(digest|formatVersion)":/;
const key = /^[A-Za-z0-9+/]{43}=\s*$/;
const heads: Readonly<Record<string, RegExp>> = {
  key,
  'old-key': key,
  'secrets.json': json,
  'tokens.json': json,
  'applied.json': json,
  'reconcile.json': json,
  'deliveries.db': /^SQLite format 3\0/,
};

/** The names of the files by which a home is recognised; those with secrets come first. */
export const homeFileNames: readonly string[] = Object.keys(heads);

/** Whether a file is one of a home, by its name and its beginning as Latin-1: a home may have any name and place. */
export function isHomeFile(path: string, head: string): boolean {
  return heads[posix.basename(path)]?.test(head) ?? false;
}

/** The path of the home that contains the file. */
export function getHomeOfFile(path: string): string {
  const folder = posix.dirname(path);
  return /(^|\/)factories\/[^/]+$/.test(folder) ? posix.join(folder, '../..') : folder;
}

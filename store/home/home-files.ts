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
  'applied/*.json': json,
  'reconcile/*.json': json,
  'deliveries.db': /^SQLite format 3\0/,
};

/** The names and patterns of the files by which a home is recognised; those with secrets come first. */
export const homeFileNames: readonly string[] = Object.keys(heads);

/** Finds the name or pattern of a file in the home that contains it, if the file is of a home: a home may have any name and place. */
export function findHomeFile(path: string): { readonly home: string; readonly name: string } | undefined {
  const { dir: home, base, ext } = posix.parse(path);
  const pattern = `${posix.basename(home)}/*${ext}`;
  if (homeFileNames.includes(pattern)) return { name: pattern, home: posix.dirname(home) };
  return homeFileNames.includes(base) ? { name: base, home: home || '.' } : undefined;
}

/** Whether a file is one of a home, by its name and its beginning as Latin-1. */
export function isHomeFile(path: string, head: string): boolean {
  return heads[findHomeFile(path)?.name ?? '']?.test(head) ?? false;
}

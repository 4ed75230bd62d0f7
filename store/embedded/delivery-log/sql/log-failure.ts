import { statSync } from 'node:fs';
import { findSqliteResult, type SqliteResult } from '../../../home/sqlite.ts';
import { DeliveryLogError } from '../../../ports/store-error.ts';

/** Converts an error of SQLite or of the file system to one that says what to do. `file` is the delivery log. */
export function toLogError(file: string, error: unknown): DeliveryLogError {
  if (error instanceof DeliveryLogError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const result = findSqliteResult(error);
  if (result === 'damaged') {
    const advice = `stop the daemon and run \`hookmill deliveries check\``;
    return new DeliveryLogError('damaged', `${file} is damaged (${message}); ${advice}`, { cause: error });
  }
  const remedy = result && remedies[result];
  const advice = remedy ? `; ${remedy}` : '';
  return new DeliveryLogError('failed', `${file} cannot be written (${message})${advice}`, { cause: error });
}

const remedies: Readonly<Partial<Record<SqliteResult, string>>> = {
  full: 'free disk space',
  busy: 'another process has locked it; end that process',
  readonly: 'make its file system writable',
  io: 'check its disk and the free disk space',
};

/**
 * Returns a check that the open delivery log is still the file at its path. It throws DeliveryLogError `replaced` if
 * the log, or its write-ahead log, was removed or replaced: what is written then is lost with the process.
 */
export function watchLogFiles(file: string): () => void {
  const identify = () => `${identifyFile(file)} ${identifyFile(`${file}-wal`)}`;
  const opened = identify();
  return () => {
    if (identify() === opened) return;
    const message = `${file} was removed or replaced while it was open; restore it if you can, then start the daemon`;
    throw new DeliveryLogError('replaced', message);
  };
}

function identifyFile(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

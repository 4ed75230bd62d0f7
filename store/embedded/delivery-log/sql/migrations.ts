import { readFileSync } from 'node:fs';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import { toPackageFile } from '../../../package-file.ts';
import { DeliveryLogError } from '../../../ports/store-error.ts';

/** The formats up to this number were those of versions that were never released. No number is given twice. */
const unreleasedFormats = 100;

/** The migrations of the delivery log's tables. They are only ever appended; the first one makes format 101. */
export const deliveryLogMigrations: readonly URL[] = [
  toPackageFile('store/embedded/delivery-log/sql/migrations/101-tables.sql'),
  toPackageFile('store/embedded/delivery-log/sql/migrations/102-due-by-factory.sql'),
];

export const schemaVersionCurrent = unreleasedFormats + deliveryLogMigrations.length;

/** Creates or updates the tables in one transaction. A file from a newer version is refused and stays unchanged. */
export function migrate(database: SqliteDatabase, migrations = deliveryLogMigrations): void {
  const wanted = unreleasedFormats + migrations.length;
  if (readSchemaVersion(database) === wanted) return;
  // A table that others refer to can then be dropped and made again.
  database.pragma('foreign_keys = OFF');
  database.transact(() => {
    const version = readSchemaVersion(database);
    if (version > wanted || isUnreleased(version)) throw versionError(version);
    const done = Math.max(0, version - unreleasedFormats);
    for (const migration of migrations.slice(done)) database.exec(readFileSync(migration, 'utf8'));
    database.pragma(`user_version = ${wanted}`);
  });
  database.pragma('foreign_keys = ON');
}

/** The format of the tables; 0 for a file without tables. */
export function readSchemaVersion(database: SqliteDatabase): number {
  return Number(database.pragma('user_version'));
}

/** Writes the version again: the smallest commit that reaches the disk. */
export function rewriteSchemaVersion(database: SqliteDatabase): void {
  database.pragma(`user_version = ${schemaVersionCurrent}`);
}

export function versionError(version: number): DeliveryLogError {
  const reads = `the delivery log has format ${version}, but this hookmill reads format ${schemaVersionCurrent}`;
  return new DeliveryLogError('version', `${reads}; ${adviseOn(version)}`);
}

function adviseOn(version: number): string {
  if (version > schemaVersionCurrent) return 'use the newer hookmill that wrote it';
  if (isUnreleased(version))
    return 'a development version wrote it: export its definitions with that version, and begin with a new home';
  return 'start the daemon once, which updates the file';
}

function isUnreleased(version: number): boolean {
  return version > 0 && version <= unreleasedFormats;
}

import { readFileSync } from 'node:fs';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import { toPackageFile } from '../../../package-file.ts';
import { DeliveryLogError } from '../../../ports/store-error.ts';

/** The migrations of the delivery log's tables. They are only ever appended, and `user_version` counts those that ran. */
export const deliveryLogMigrations: readonly URL[] = [
  toPackageFile('store/embedded/delivery-log/sql/migrations/001-delivery-log.sql'),
  toPackageFile('store/embedded/delivery-log/sql/migrations/002-steered-runs.sql'),
  toPackageFile('store/embedded/delivery-log/sql/migrations/003-named-runners.sql'),
  toPackageFile('store/embedded/delivery-log/sql/migrations/004-afterwards.sql'),
  toPackageFile('store/embedded/delivery-log/sql/migrations/005-previous-secrets.sql'),
  toPackageFile('store/embedded/delivery-log/sql/migrations/006-run-history.sql'),
];

export const schemaVersionCurrent = deliveryLogMigrations.length;

/** Creates or updates the tables in one transaction. A file from a newer version is refused and stays unchanged. */
export function migrate(database: SqliteDatabase, migrations = deliveryLogMigrations): void {
  if (readSchemaVersion(database) === migrations.length) return;
  // A table that others refer to can then be dropped and made again.
  database.pragma('foreign_keys = OFF');
  database.transact(() => {
    const version = readSchemaVersion(database);
    if (version > migrations.length) throw versionError(version);
    for (const migration of migrations.slice(version)) database.exec(readFileSync(migration, 'utf8'));
    database.pragma(`user_version = ${migrations.length}`);
  });
  database.pragma('foreign_keys = ON');
}

/** The number of migrations that ran; 0 for a file without tables. */
export function readSchemaVersion(database: SqliteDatabase): number {
  return Number(database.pragma('user_version'));
}

/** Writes the version again: the smallest commit that reaches the disk. */
export function rewriteSchemaVersion(database: SqliteDatabase): void {
  database.pragma(`user_version = ${schemaVersionCurrent}`);
}

export function versionError(version: number): DeliveryLogError {
  return new DeliveryLogError(
    'version',
    `the delivery log has format ${version}, but this hookmill reads format ${schemaVersionCurrent}; ${
      version > schemaVersionCurrent
        ? 'use the newer hookmill that wrote it'
        : 'start the daemon once, which updates the file'
    }`,
  );
}

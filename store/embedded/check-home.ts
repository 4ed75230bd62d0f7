import { readdir } from 'node:fs/promises';
import type { Home } from '../home/home.ts';
import type { StoreReport } from '../ports/store.ts';
import { checkLogFile } from './delivery-log/salvage.ts';
import { openDatabaseForReading } from './delivery-log/sql/database.ts';

/** Checks the delivery log of a home, and counts the runs that have files although retention has removed them. Changes nothing. */
export async function checkHome(home: Home): Promise<StoreReport> {
  const problems = checkLogFile(home.deliveryLogFile);
  const files = problems.length > 0 ? 'not counted' : String(await countRemovedRuns(home));
  return { facts: { home: home.directory, 'run files without a run': files }, problems };
}

async function countRemovedRuns(home: Home): Promise<number> {
  const directories = [home.runsDirectory, home.runOutputsDirectory, home.runArtifactsDirectory];
  const names = await Promise.all(directories.map(directory => readdir(directory).catch((): string[] => [])));
  const runs = new Set(names.flat().flatMap(name => /^run_[0-9a-z]{26}/.exec(name)?.[0] ?? []));
  const database = openDatabaseForReading(home.deliveryLogFile);
  const find = database.prepare<[string], number>('SELECT 1 FROM runs WHERE id = ?').pluck();
  const removed = [...runs].filter(run => find.get(run) === undefined);
  database.close();
  return removed.length;
}

import { randomBytes } from 'node:crypto';
import type { StorePlace } from '../../store/ports/store.ts';

/** Databases for homes, with tables and nothing else; undefined if each home keeps everything itself. */
let databases: string[] | undefined;
const databaseOfHome = new Map<string, string>();
const HOOKMILL_KEY = randomBytes(32).toString('base64');

/** Gives each home that is used from now on one of these databases. Whoever calls this adds new ones. */
export function keepHomesIn(urls: string[]): void {
  databases = urls;
}

/** Whether homes have databases in this run. */
export function areHomesInPostgres(): boolean {
  return databases !== undefined;
}

/** Where the home with this directory keeps its data, as `openStore` takes it. */
export function placeOfHome(directory: string): Pick<StorePlace, 'environment' | 'postgres'> {
  if (!databases) return { environment: {} };
  const url = databaseOfHome.get(directory) ?? databases.pop();
  if (url === undefined) throw new Error('the test uses too many homes');
  databaseOfHome.set(directory, url);
  return { environment: { HOOKMILL_KEY }, postgres: { url, mayLose: false } };
}

/** The same as environment variables of a command. */
export function variablesOfHome(directory: string): Record<string, string> {
  const { postgres } = placeOfHome(directory);
  return postgres ? { HOOKMILL_STORE: postgres.url, HOOKMILL_KEY } : {};
}

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { namePattern } from '../../../schema/name.ts';

/** Where everything that hookmill keeps lies below one directory. */
export interface Home {
  readonly directory: string;
  readonly factoriesDirectory: string;
  readonly secretsFile: string;
  readonly keyFile: string;
  readonly deliveryLogFile: string;
  readonly runsDirectory: string;
  readonly repositoriesDirectory: string;
  /** The API tokens. */
  readonly tokensFile: string;
  /** Where the daemon was last started. */
  readonly daemonFile: string;
}

export function homeAt(directory: string): Home {
  return {
    directory,
    factoriesDirectory: join(directory, 'factories'),
    secretsFile: join(directory, 'secrets.json'),
    keyFile: join(directory, 'key'),
    deliveryLogFile: join(directory, 'deliveries.db'),
    runsDirectory: join(directory, 'runs'),
    repositoriesDirectory: join(directory, 'repositories'),
    tokensFile: join(directory, 'tokens.json'),
    daemonFile: join(directory, 'daemon.json'),
  };
}

export function appliedStateFile(home: Home, factory: string): string {
  return join(home.factoriesDirectory, factory, 'applied.json');
}

/** What is kept about reconciling a repository-backed factory. */
export function reconcileStatusFile(home: Home, factory: string): string {
  return join(home.factoriesDirectory, factory, 'reconcile.json');
}

/** The bare mirror of a repository-backed factory. */
export function mirrorDirectory(home: Home, factory: string): string {
  return join(home.repositoriesDirectory, `${factory}.git`);
}

/** Makes a directory of the home; nobody but its owner may look into it. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

/** The factories that something may have been applied to, sorted. */
export async function listFactories(home: Home): Promise<string[]> {
  const entries = await readdir(home.factoriesDirectory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries.filter(name => namePattern.test(name)).sort();
}

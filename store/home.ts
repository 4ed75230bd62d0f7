import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export const factoryNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Where everything that hookmill keeps lies below one directory. */
export interface Home {
  readonly directory: string;
  readonly factoriesDirectory: string;
  readonly secretsFile: string;
  readonly keyFile: string;
  readonly deliveryLogFile: string;
  readonly runsDirectory: string;
}

export function homeAt(directory: string): Home {
  return {
    directory,
    factoriesDirectory: join(directory, 'factories'),
    secretsFile: join(directory, 'secrets.json'),
    keyFile: join(directory, 'key'),
    deliveryLogFile: join(directory, 'deliveries.db'),
    runsDirectory: join(directory, 'runs'),
  };
}

export function appliedStateFile(home: Home, factory: string): string {
  return join(home.factoriesDirectory, factory, 'applied.json');
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
  return entries.filter(name => factoryNamePattern.test(name)).sort();
}

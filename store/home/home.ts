import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { namePattern } from '../../schema/names.ts';
import type { DocumentId } from '../ports/documents.ts';
import { fileFailure } from '../ports/store-error.ts';

/** The paths of everything that hookmill keeps in one directory. */
export interface Home {
  readonly directory: string;
  /** The applied states. */
  readonly appliedDirectory: string;
  readonly keyFile: string;
  /** The key before, while values that it sealed are sealed again. */
  readonly oldKeyFile: string;
  readonly deliveryLogFile: string;
  readonly runsDirectory: string;
  /** Outside `runsDirectory`, because the commands of runs can change everything in there. */
  readonly runOutputsDirectory: string;
  /** The artifacts of runs, copied from `runsDirectory`. */
  readonly runArtifactsDirectory: string;
  readonly repositoriesDirectory: string;
  readonly auditFile: string;
  /** The address of the daemon that was started last. */
  readonly daemonFile: string;
  /** Called once by the process that made the home. */
  readonly onCreated: (() => void) | undefined;
}

export function homeAt(directory: string, onCreated?: () => void): Home {
  return {
    onCreated,
    directory,
    appliedDirectory: join(directory, 'applied'),
    keyFile: join(directory, 'key'),
    oldKeyFile: join(directory, 'old-key'),
    deliveryLogFile: join(directory, 'deliveries.db'),
    runsDirectory: join(directory, 'runs'),
    runOutputsDirectory: join(directory, 'run-outputs'),
    runArtifactsDirectory: join(directory, 'run-artifacts'),
    repositoriesDirectory: join(directory, 'repositories'),
    auditFile: join(directory, 'audit.jsonl'),
    daemonFile: join(directory, 'daemon.json'),
  };
}

/** The file of a document: the only one of its kind, or a factory's in the directory of its kind. */
export function documentFile({ directory }: Pick<Home, 'directory'>, { kind, factory }: DocumentId): string {
  return join(directory, factory === undefined ? `${kind}.json` : `${kind}/${factory}.json`);
}

export function appliedStateFile(home: Pick<Home, 'directory'>, factory: string): string {
  return documentFile(home, { kind: 'applied', factory });
}

export function mirrorDirectory(home: Home, factory: string): string {
  return join(home.repositoriesDirectory, `${factory}.git`);
}

export function runOutputFile(home: Home, runId: string): string {
  return join(home.runOutputsDirectory, `${runId}.log`);
}

/** Creates a directory that only its owner can read. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

/** The factories that have an applied state or a reconcile status, sorted. */
export async function listFactories({ directory }: Home): Promise<string[]> {
  const kinds = ['applied', 'reconcile'].map(async kind => {
    const place = join(directory, kind);
    const entries = await readdir(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      return fileFailure('unreadable', place)(error);
    });
    return entries.filter(name => name.endsWith('.json')).map(name => basename(name, '.json'));
  });
  const names = new Set((await Promise.all(kinds)).flat());
  return [...names].filter(name => namePattern.test(name)).sort();
}

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { namePattern } from '../../schema/names.ts';
import { fileFailure } from '../ports/store-error.ts';

/** The paths of everything that hookmill keeps in one directory. */
export interface Home {
  readonly directory: string;
  readonly factoriesDirectory: string;
  readonly secretsFile: string;
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
  readonly tokensFile: string;
  readonly auditFile: string;
  /** The sign-ins to the dashboard. */
  readonly sessionsFile: string;
  /** The open episodes of alerts. */
  readonly alertsFile: string;
  /** The keys of the issuers of tokens. */
  readonly issuersFile: string;
  /** The runners that the last daemon offers. */
  readonly runnersFile: string;
  /** Says whether a copy to the home is complete. */
  readonly copyFile: string;
  /** The address of the daemon that was started last. */
  readonly daemonFile: string;
  /** Called once by the process that made the home. */
  readonly onCreated: (() => void) | undefined;
}

export function homeAt(directory: string, onCreated?: () => void): Home {
  return {
    onCreated,
    directory,
    factoriesDirectory: join(directory, 'factories'),
    secretsFile: join(directory, 'secrets.json'),
    keyFile: join(directory, 'key'),
    oldKeyFile: join(directory, 'old-key'),
    deliveryLogFile: join(directory, 'deliveries.db'),
    runsDirectory: join(directory, 'runs'),
    runOutputsDirectory: join(directory, 'run-outputs'),
    runArtifactsDirectory: join(directory, 'run-artifacts'),
    repositoriesDirectory: join(directory, 'repositories'),
    tokensFile: join(directory, 'tokens.json'),
    auditFile: join(directory, 'audit.jsonl'),
    sessionsFile: join(directory, 'sessions.json'),
    alertsFile: join(directory, 'alerts.json'),
    issuersFile: join(directory, 'issuers.json'),
    runnersFile: join(directory, 'runners.json'),
    copyFile: join(directory, 'copy.json'),
    daemonFile: join(directory, 'daemon.json'),
  };
}

export function appliedStateFile(home: Home, factory: string): string {
  return join(home.factoriesDirectory, factory, 'applied.json');
}

export function reconcileStatusFile(home: Home, factory: string): string {
  return join(home.factoriesDirectory, factory, 'reconcile.json');
}

export function sendersFile(home: Home, factory: string): string {
  return join(home.factoriesDirectory, factory, 'senders.json');
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

export async function listFactories(home: Home): Promise<string[]> {
  const entries = await readdir(home.factoriesDirectory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    return fileFailure('unreadable', home.factoriesDirectory)(error);
  });
  return entries.filter(name => namePattern.test(name)).sort();
}

import { readFile } from 'node:fs/promises';
import { type AppliedState, appliedStateShape, emptyAppliedState } from '../../schema/applied-state.ts';
import { fileFailure, StoreError } from '../store-error.ts';
import { appliedStateFile, type Home } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withLock } from './files/lock.ts';

/** The applied state of a factory; the empty one where nothing has been applied. */
export async function readAppliedState(home: Home, factory: string): Promise<AppliedState> {
  const file = appliedStateFile(home, factory);
  return (await openJsonFile(file, appliedStateShape, emptyAppliedState(factory))).data;
}

/**
 * Changes the applied state of a factory under its lock: `change` gets the state in force and returns the next one,
 * or undefined to leave it, in which case the file is not touched. The serial is counted up here.
 * Fails with `locked`, or `serial-moved` when a writer that ignores the lock came in between.
 */
export async function changeAppliedState(
  home: Home,
  factory: string,
  lockTimeoutMs: number,
  change: (state: AppliedState) => Promise<AppliedState | undefined>,
): Promise<void> {
  const file = appliedStateFile(home, factory);
  await withLock(file, lockTimeoutMs, async () => {
    const database = await openJsonFile(file, appliedStateShape, emptyAppliedState(factory));
    const { serial } = database.data;
    const before = await rawText(file);
    const next = await change(database.data);
    if (!next) return;
    if ((await rawText(file)) !== before) {
      throw new StoreError('serial-moved', `the applied state moved on from serial ${serial}; plan again`);
    }
    database.data = { ...next, serial: serial + 1 };
    await database.write();
  });
}

async function rawText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    return fileFailure('unreadable', file)(error);
  });
}

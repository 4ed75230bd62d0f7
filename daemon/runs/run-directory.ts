import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncDirectory } from '../../store/embedded/files/durable-file.ts';
import { makePrivateDirectory } from '../../store/embedded/files/home.ts';
import { attachmentName } from './run-message.ts';

const runIdPattern = /^run_[0-9a-z]{26}$/;

export function isRunDirectoryName(name: string): boolean {
  return runIdPattern.test(name);
}

/**
 * Makes `runs/<run id>/` with the message and the payload, both on disk when this resolves. `prompt.md` comes
 * last: whoever sees it sees the whole run. A further attempt finds them as they were, whatever an earlier one did.
 */
export async function writeRunDirectory(
  runsDirectory: string,
  runId: string,
  message: string,
  payload: Uint8Array,
): Promise<string> {
  const directory = join(runsDirectory, runId);
  await makePrivateDirectory(directory);
  await replaceFile(join(directory, attachmentName), payload);
  await replaceFile(join(directory, 'prompt.md'), message);
  await syncDirectory(runsDirectory);
  return directory;
}

export async function removeRunDirectory(runsDirectory: string, runId: string): Promise<void> {
  await rm(join(runsDirectory, runId), { recursive: true, force: true });
}

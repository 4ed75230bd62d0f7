import { resolve } from 'node:path';
import { UsageError } from '../exit-status.ts';

/** Reads a file that the command line names. `label` says what it is, for the error. */
export async function readInputFile(path: string, label?: string): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises');
  return readFile(resolve(path)).catch((cause: NodeJS.ErrnoException) => {
    const name = label === undefined ? path : `${label} ${path}`;
    throw new UsageError(`${name} cannot be read (${cause.code})`, { cause });
  });
}

/** Asks for a confirmation on a terminal. Nobody can give one to a command that prints JSON or reads no terminal. */
export async function askToConfirm(message: string, output: 'text' | 'json'): Promise<boolean> {
  if (!process.stdin.isTTY || output === 'json') return false;
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message, default: false }, { output: process.stderr });
}

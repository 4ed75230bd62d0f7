import { resolve } from 'node:path';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { CommandError, UsageError } from '../exit-status.ts';

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

/** Reads a file that stands for a delivery: its bytes, and the JSON in them. Fails if the ingress would reject it. */
export async function readPayloadFile(
  file: string,
): Promise<{ readonly bytes: Buffer; readonly payload: unknown }> {
  const bytes = await readInputFile(file, 'the payload');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { bytes, payload: parseJsonText(text) };
  } catch {
    throw new CommandError(`${file} is not JSON in UTF-8: the ingress would reject it`);
  }
}

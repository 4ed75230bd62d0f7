import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { findSecretNameMistake } from '../../schema/text/credentials.ts';
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

/**
 * Reads the names in a file with one team secret per line; it skips blank lines and lines that start with #. The error
 * for any other line does not quote it, because somebody may have given a file of values.
 */
export async function readSecretNames(file: string): Promise<string[]> {
  const lines = (await readInputFile(file)).toString('utf8').split('\n');
  return lines
    .map(line => line.trim())
    .flatMap((line, index) => {
      if (line === '' || line.startsWith('#')) return [];
      if (!findSecretNameMistake(line)) return [line];
      const hint = 'the file must contain one name per line, and no values';
      throw new UsageError(`${file}:${index + 1}: not the name of a team secret; ${hint}`);
    });
}

/** Reads a secret from a prompt on a terminal, otherwise from standard input. Removes one final newline. */
export async function readSecretValue(message: string): Promise<string> {
  if (process.stdin.isTTY) {
    const { password } = await import('@inquirer/prompts');
    return password({ message, mask: true }, { output: process.stderr });
  }
  const { buffer: readBytes } = await import('node:stream/consumers');
  const bytes = await readBytes(process.stdin);
  if (!isUtf8(bytes)) throw new CommandError('the secret on standard input is not UTF-8 text');
  // The store refuses a byte order mark; without this option, the decoder would drop it.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
}

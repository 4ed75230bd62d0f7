import { isUtf8 } from 'node:buffer';
import { secretNamePattern } from '../../schema/secret-name.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { readInputFile } from './read-input-file.ts';

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
      if (secretNamePattern.test(line)) return [line];
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

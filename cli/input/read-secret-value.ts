import { isUtf8 } from 'node:buffer';
import { CommandError } from '../exit-status.ts';

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

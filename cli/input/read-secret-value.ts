import { isUtf8 } from 'node:buffer';
import { buffer as readBytes } from 'node:stream/consumers';
import { CommandError } from '../exit-status.ts';

/** A secret from a prompt on a terminal, else from standard input to its end, less one final newline. */
export async function readSecretValue(message: string): Promise<string> {
  if (process.stdin.isTTY) {
    const { password } = await import('@inquirer/prompts');
    return password({ message, mask: true }, { output: process.stderr });
  }
  const bytes = await readBytes(process.stdin);
  if (!isUtf8(bytes)) throw new CommandError('a secret is UTF-8 text; what standard input gave is not');
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
}

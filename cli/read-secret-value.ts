import { text as readText } from 'node:stream/consumers';

/** A secret from a prompt on a terminal, else from standard input to its end, less one final newline. */
export async function readSecretValue(message: string): Promise<string> {
  if (process.stdin.isTTY) {
    const { password } = await import('@inquirer/prompts');
    return password({ message, mask: true }, { output: process.stderr });
  }
  return (await readText(process.stdin)).replace(/\r?\n$/, '');
}

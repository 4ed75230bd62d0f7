/** Asks for a confirmation on a terminal. Nobody can give one to a command that prints JSON or reads no terminal. */
export async function askToConfirm(message: string, output: 'text' | 'json'): Promise<boolean> {
  if (!process.stdin.isTTY || output === 'json') return false;
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message, default: false }, { output: process.stderr });
}

import { readFileSync } from 'node:fs';
import { secretNamePattern } from '../../schema/definitions/webhook-definition.ts';
import { CommandError, exitStatus } from '../exit-status.ts';

/**
 * The names in a file with one team secret a line; blank lines and those that begin with # are passed over. What is no
 * name is never printed: somebody may have given a file of values.
 */
export function readSecretNames(file: string): string[] {
  return textOf(file)
    .split('\n')
    .map(line => line.trim())
    .flatMap((line, index) => {
      if (line === '' || line.startsWith('#')) return [];
      if (secretNamePattern.test(line)) return [line];
      const hint = 'the file has one name a line, and no values';
      throw new CommandError(
        `${file}:${index + 1}: not the name of a team secret; ${hint}`,
        exitStatus.usage,
      );
    });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`${file} cannot be read (${code})`, exitStatus.usage);
  }
}

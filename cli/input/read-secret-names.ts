import { secretNamePattern } from '../../schema/secret-name.ts';
import { UsageError } from '../exit-status.ts';
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

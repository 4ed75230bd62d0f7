import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * Says why the program of a command cannot be started by this user, as execvp(3) looks for it; undefined if it can, or if
 * its path is relative: it is then looked for in the directory of each run.
 */
export async function explainMissingProgram(
  program: string,
  { PATH = '' }: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (isAbsolute(program)) {
    const code = await findAccessError(program);
    if (code === undefined) return undefined;
    return code === 'ENOENT' ? `there is no file ${program}` : `${program} cannot be executed (${code})`;
  }
  if (program.includes('/')) return undefined;
  const found = await Promise.all(
    PATH.split(delimiter).map(folder => findAccessError(join(folder, program))),
  );
  return found.includes(undefined) ? undefined : `there is no program ${program} in the PATH ${PATH}`;
}

async function findAccessError(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  );
}

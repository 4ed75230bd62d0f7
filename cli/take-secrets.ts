import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { CommandError } from './exit-status.ts';
import { printStatus } from './output.ts';

/** The key that seals values, and the one before it. Each may be in a file that the variable with `_FILE` names. */
const keyVariables = ['HOOKMILL_KEY', 'HOOKMILL_OLD_KEY'] as const;
/** The variables with secrets: the keys, and the URLs of the database, which contain its password. */
const variables = [...keyVariables, 'HOOKMILL_STORE', 'HOOKMILL_STORE_DIRECT'] as const;

/**
 * Takes the secrets out of the environment of this process, and returns the environment as it was, with the keys that
 * are in files. No process that is started later inherits them. On Linux, /proc/<pid>/environ no longer shows them to
 * other processes of the same user. Fails with CommandError if the file of a key cannot be read.
 */
export function takeSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const before = { ...environment };
  for (const variable of variables) {
    if (environment[variable] === undefined) continue;
    delete environment[variable];
    try {
      if (process.platform === 'linux') eraseInitialVariable(variable);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      printStatus(
        `hookmill: processes of this user can read ${variable} from this process (${code}). ${advice[variable]}.`,
      );
    }
  }
  const keys = keyVariables.flatMap(name => {
    const file = before[`${name}_FILE`];
    return file ? [[name, readKeyFile(file, name, before[name])]] : [];
  });
  return { ...before, ...Object.fromEntries(keys) };
}

/** Reads the key from a file that a service manager or a container platform provides, such as a systemd credential. */
function readKeyFile(file: string, name: string, given: string | undefined): string {
  if (given !== undefined)
    throw new CommandError(`${name} and ${name}_FILE are both set; leave one of them out`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot read ${file}, which ${name}_FILE names (${code})`);
  }
}

const usePasswordFile = 'Leave the password out, and use a pgpass file instead';
const advice: Readonly<Record<(typeof variables)[number], string>> = {
  HOOKMILL_KEY: 'With a home, use its key file instead',
  HOOKMILL_OLD_KEY: 'Remove it when `hookmill key rotate` is done',
  HOOKMILL_STORE: usePasswordFile,
  HOOKMILL_STORE_DIRECT: usePasswordFile,
};

/**
 * Overwrites a variable in the block that the kernel passed to this process. /proc/<pid>/environ shows that block
 * (proc_pid_environ(5)), and removing a variable leaves it unchanged.
 */
function eraseInitialVariable(variable: string): void {
  const block = readFileSync('/proc/self/environ');
  // Each variable ends with a zero byte. With one more in front, the first is found like the others.
  const start = Buffer.concat([Buffer.of(0), block]).indexOf(`\0${variable}=`);
  if (start === -1) return;
  const length = block.indexOf(0, start) - start;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    writeSync(memory, Buffer.alloc(length), 0, length, readBlockAddress() + start);
  } finally {
    closeSync(memory);
  }
}

/**
 * The address of the block: field 50, env_start, of /proc/<pid>/stat (proc_pid_stat(5)). Field 2 may contain spaces.
 */
function readBlockAddress(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fieldsFrom3 = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fieldsFrom3[50 - 3]);
}

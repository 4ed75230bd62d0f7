import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { printStatus } from './output.ts';

const variable = 'HOOKMILL_KEY';

/**
 * Takes the key out of the environment of this process, and returns the environment as it was. No process that is
 * started later inherits the key. On Linux, /proc/<pid>/environ no longer shows it to other processes of the same user.
 */
export function takeKey(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (environment[variable] === undefined) return environment;
  const before = { ...environment };
  delete environment[variable];
  try {
    if (process.platform === 'linux') eraseInitialVariable();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = `Use the home's key file instead of ${variable}`;
    printStatus(
      `hookmill: processes of this user can read ${variable} from this process (${code}). ${advice}.`,
    );
  }
  return before;
}

/**
 * Overwrites the variable in the block that the kernel passed to this process. /proc/<pid>/environ shows that block
 * (proc_pid_environ(5)), and removing a variable leaves it unchanged.
 */
function eraseInitialVariable(): void {
  const block = readFileSync('/proc/self/environ');
  // Each variable ends with a zero byte. One more in front, and the first is found like the others.
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

/** The address of the block: field 50, env_start, of /proc/<pid>/stat (proc_pid_stat(5)). Field 2 may contain spaces. */
function readBlockAddress(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fieldsFrom3 = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fieldsFrom3[50 - 3]);
}

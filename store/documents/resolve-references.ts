import { isUtf8 } from 'node:buffer';
import { constants, open } from 'node:fs/promises';
import { execa } from 'execa';
import { parseSecretReference, type SecretReference } from '../../schema/secret-reference.ts';
import { StoreError } from '../ports/store-error.ts';
import { requireSecretValue, secretBytesMax } from '../ports/team-secrets.ts';

/** @limit Time for reading all team secrets that one plan or apply refers to, in ms: half of that for an operation of the daemon. */
const resolveMs = 10_000;
/** @limit Team secrets that one plan or apply reads from where they are kept at the same time: each may start a process. */
const resolvedAtOnce = 4;

/** The value that a reference leads to, or why there is none. The reason never contains what was read. */
export type Resolved = { readonly text: string } | { readonly reason: string; readonly hint: string };

/** Reads the values that references lead to, in their order. Commands get the environment without hookmill's own variables. */
export async function resolveReferences(
  references: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<readonly Resolved[]> {
  const deadline = AbortSignal.timeout(resolveMs);
  const resolved: Resolved[] = [];
  // The workers share one iterator.
  const waiting = references.entries();
  const work = async () => {
    for (const [index, text] of waiting) resolved[index] = await resolve(text, environment, deadline);
  };
  await Promise.all(Array.from({ length: resolvedAtOnce }, work));
  return resolved;
}

async function resolve(
  text: string,
  environment: NodeJS.ProcessEnv,
  deadline: AbortSignal,
): Promise<Resolved> {
  const reference = parseSecretReference(text);
  if (!reference) return { reason: 'this version does not know such a reference', hint: 'set it again' };
  try {
    const bytes = await readBytes(reference, environment, deadline);
    if (!isUtf8(bytes)) throw new Unresolved('the value is not UTF-8 text');
    // A byte order mark stays, so that it is refused.
    const value = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
    requireSecretValue(value);
    return { text: value };
  } catch (error) {
    if (!(error instanceof Unresolved || error instanceof StoreError)) throw error;
    return { reason: error.message, hint: describeRemedy(reference) };
  }
}

class Unresolved extends Error {}

function readBytes(
  reference: SecretReference,
  environment: NodeJS.ProcessEnv,
  deadline: AbortSignal,
): Promise<Uint8Array> {
  if (reference.kind === 'exec') return readOutput(reference.argv, environment, deadline);
  return reference.kind === 'file'
    ? readFileBytes(reference.path)
    : readVariable(reference.variable, environment);
}

async function readVariable(variable: string, environment: NodeJS.ProcessEnv): Promise<Uint8Array> {
  const value = environment[variable];
  if (value === undefined) throw new Unresolved('the variable is not set');
  return Buffer.from(value);
}

/** Longer values are cut, but are still too long. */
const readBytesMax = secretBytesMax + 3;

async function readFileBytes(path: string): Promise<Uint8Array> {
  // A pipe must not be waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(failReading);
  try {
    if (!(await file.stat()).isFile()) throw new Unresolved('it is not a file');
    const { buffer, bytesRead } = await file
      .read(Buffer.alloc(readBytesMax), 0, readBytesMax, 0)
      .catch(failReading);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function failReading({ code }: NodeJS.ErrnoException): never {
  throw new Unresolved(`the file cannot be read (${code})`);
}

/** Runs the command with its process group, which ends with it. Its error output is not read: it could contain the value. */
async function readOutput(
  [program, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv,
  deadline: AbortSignal,
): Promise<Uint8Array> {
  const passedOn = Object.entries(environment).filter(([name]) => !name.startsWith('HOOKMILL_'));
  const command = execa(program, args, {
    ...{ cwd: '/', env: Object.fromEntries(passedOn), extendEnv: false },
    ...{
      stdin: 'ignore',
      stderr: 'ignore',
      encoding: 'buffer',
      stripFinalNewline: false,
      maxBuffer: readBytesMax,
    },
    ...{ cancelSignal: deadline, killSignal: 'SIGKILL', killDescendants: true, reject: false },
    // Otherwise execa listens to the daemon's own signals.
    cleanup: false,
  } as const);
  command.nodeChildProcess.once('exit', () => command.kill('SIGKILL'));
  // A process that left the group could hold the pipe open.
  deadline.addEventListener('abort', () => command.stdout.destroy(), { once: true });
  const { stdout, isCanceled, isMaxBuffer, exitCode, signal, code } = await command;
  if (isMaxBuffer) throw new Unresolved(`the command printed more than ${secretBytesMax} bytes`);
  if (isCanceled || deadline.aborted)
    throw new Unresolved(`the command timed out after ${resolveMs / 1_000} s`);
  if (exitCode === 0) return stdout;
  if (exitCode !== undefined) throw new Unresolved(`the command exited with status ${exitCode}`);
  throw new Unresolved(
    signal ? `the command was killed by ${signal}` : `the command could not be started (${code})`,
  );
}

function describeRemedy(reference: SecretReference): string {
  if (reference.kind === 'env')
    return `set ${reference.variable} in the environment of the process that applies`;
  if (reference.kind === 'file')
    return 'let the file contain only the value, and the user of the process that applies read it';
  return 'run the command as the user of the process that applies; it must print only the value, and exit with 0';
}

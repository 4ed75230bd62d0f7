// Runs commands of the built command line one after the other, for command-runner.ts.
import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** The words of one command, and all that it sees around it. */
export interface CommandGiven {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: string;
}

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

const built = new URL('../../dist/hookmill.js', import.meta.url).href;
const { main }: { main(): Promise<void> } = await import(built);

process.on('disconnect', () => process.exit());
process.on('message', async (given: CommandGiven) => {
  process.send?.(await run(given));
});
const idle = process.getActiveResourcesInfo().length;

async function run({ args, cwd, env, stdin }: CommandGiven): Promise<CommandResult> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
  process.argv = [process.execPath, 'hookmill', ...args];
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]), configurable: true });
  const [stdout, stderr] = [collect('stdout'), collect('stderr')];
  await main();
  // As a process of its own, it would end only now: when nothing keeps the event loop alive.
  while (process.getActiveResourcesInfo().length > idle) await setImmediate();
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  return { stdout: stdout(), stderr: stderr(), exitCode: Number(process.exitCode ?? 0) };
}

/** Replaces a standard stream. Returns a function that returns what was written to it. */
function collect(name: 'stdout' | 'stderr'): () => string {
  const written: Buffer[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    written.push(chunk);
    done();
  };
  Object.defineProperty(process, name, { value: new Writable({ write }), configurable: true });
  return () => Buffer.concat(written).toString();
}

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa, type Options, type ResultPromise } from 'execa';
import { runCommand } from './command-runner.ts';
import { variablesOfHome } from './home-place.ts';

const bin = join(import.meta.dirname, '../../cli/bin.js');

/** A test's own definitions directory. `hookmill` runs in it with only the given settings. */
export interface Workspace {
  readonly directory: string;
  /** The default home. */
  readonly home: string;
  /** The absolute path of a file of the workspace. */
  path(file: string): string;
  write(file: string, content: string | Uint8Array): void;
  read(file: string): string;
  /** Removes a file, or a directory with everything in it. */
  remove(file: string): void;
  /** Runs the command line to its end, whatever its exit status. Commands share a process if they can. */
  hookmill(...args: string[] | [...string[], RunOptions]): Promise<RunResult>;
  /** Starts the command line as a process to watch, signal and wait for. */
  start(args: readonly string[], options?: Options & Pick<RunOptions, 'through'>): ResultPromise<Options>;
}

export interface RunOptions {
  /** A command to run it with, as in `['strace', '-f']`. */
  readonly through?: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

export function makeWorkspace(at = mkdtempSync(join(tmpdir(), 'workspace-'))): Workspace {
  mkdirSync(at, { recursive: true });
  const directory = realpathSync(at);
  const path = (file: string) => join(directory, file);
  const home = path('.hookmill');
  const environment = (more: NodeJS.ProcessEnv = {}) => ({
    PATH: process.env.PATH,
    HOME: directory,
    // Each process would compile the program again in a home directory of its own.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    NO_COLOR: '1',
    ...variablesOfHome(home),
    ...more,
  });
  const start: Workspace['start'] = (args, { through = [], env, ...options } = {}) => {
    const [command = process.execPath, ...rest] = [...through, process.execPath, bin, ...args];
    return execa(command, rest, {
      reject: false,
      stripFinalNewline: false,
      cwd: directory,
      extendEnv: false,
      env: environment(env),
      ...options,
    });
  };
  return {
    directory,
    home,
    path,
    write: (file, content) => {
      mkdirSync(dirname(path(file)), { recursive: true });
      writeFileSync(path(file), content);
    },
    read: file => readFileSync(path(file), 'utf8'),
    remove: file => rmSync(path(file), { recursive: true, force: true }),
    hookmill: async (...args) => {
      const { words, options } = split(args);
      const { stdin = '', ...rest } = options;
      const given = { args: words, cwd: directory, env: environment(rest.env), stdin };
      const result = needsOwnProcess(words, rest) ? undefined : await runCommand(given);
      if (result) return result;
      const { stdout, stderr, exitCode } = await start(words, { input: stdin, ...rest });
      return { stdout: String(stdout), stderr: String(stderr), exitCode };
    },
    start,
  };
}

function needsOwnProcess(words: readonly string[], { through, env = {} }: RunOptions): boolean {
  return through !== undefined || words.includes('serve') || 'NO_COLOR' in env || 'FORCE_COLOR' in env;
}

function split(args: readonly (string | RunOptions)[]): { words: string[]; options: RunOptions } {
  const words = args.filter(arg => typeof arg === 'string');
  const options = args.find(arg => typeof arg === 'object') ?? {};
  return { words, options };
}

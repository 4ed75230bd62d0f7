import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa, type Options, type ResultPromise } from 'execa';

export const bin = join(import.meta.dirname, '../../cli/bin.js');

/** A definitions directory of a test's own; `hookmill` runs in it, with no settings but those given. */
export interface Workspace {
  readonly directory: string;
  /** The default home. */
  readonly home: string;
  /** The absolute path of a file of the workspace. */
  path(file: string): string;
  write(file: string, content: string | Uint8Array): void;
  read(file: string): string;
  /** Runs the command line to its end, whatever its exit status. */
  hookmill(...args: string[] | [...string[], RunOptions]): Promise<RunResult>;
  /** Starts the command line as a process to watch, signal and wait for. */
  start(args: readonly string[], options?: Options): ResultPromise<Options>;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

export function makeWorkspace(): Workspace {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')));
  const path = (file: string) => join(directory, file);
  const start = (args: readonly string[], options: Options = {}) =>
    execa(process.execPath, [bin, ...args], {
      reject: false,
      stripFinalNewline: false,
      cwd: directory,
      extendEnv: false,
      ...options,
      env: { PATH: process.env.PATH, HOME: directory, NO_COLOR: '1', ...options.env },
    });
  return {
    directory,
    home: path('.hookmill'),
    path,
    write: (file, content) => {
      mkdirSync(dirname(path(file)), { recursive: true });
      writeFileSync(path(file), content);
    },
    read: file => readFileSync(path(file), 'utf8'),
    hookmill: async (...args) => {
      const { words, options } = split(args);
      const { stdout, stderr, exitCode } = await start(words, {
        input: options.stdin ?? '',
        env: options.env,
      });
      return { stdout: String(stdout), stderr: String(stderr), exitCode };
    },
    start,
  };
}

function split(args: readonly (string | RunOptions)[]): { words: string[]; options: RunOptions } {
  const words = args.filter(arg => typeof arg === 'string');
  const options = args.find(arg => typeof arg === 'object') ?? {};
  return { words, options };
}

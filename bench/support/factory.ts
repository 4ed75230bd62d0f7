import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';

const bin = join(import.meta.dirname, '../../cli/bin.js');
const stops: (() => void)[] = [];

/**
 * Runs a benchmark in a directory of its own. Then calls the `atEnd` functions and removes the directory, also if the
 * benchmark fails or is interrupted.
 */
export async function inTemporaryDirectory(bench: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-bench-'));
  const cleanUp = () => {
    for (const stop of stops.splice(0)) stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', cleanUp);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    await bench(directory);
  } finally {
    cleanUp();
  }
}

/**
 * Throws an error unless the directory is on a disk with so many bytes free. Files in memory would be too fast, and
 * could take all of it.
 */
export function requireDisk(directory: string, bytes: number): void {
  const { type, bavail, bsize } = statfsSync(directory);
  const tmpfs = 0x01021994;
  if (type === tmpfs) throw new Error(`${directory} is in memory; set TMPDIR to a directory on a disk`);
  const gb = (count: number) => Math.round(count / 1e9);
  if (bavail * bsize < bytes)
    throw new Error(
      `${directory} has ${gb(bavail * bsize)} GB free, and this needs ${gb(bytes)} GB; choose fewer --rows`,
    );
}

export function atEnd(stop: () => void): void {
  stops.push(stop);
}

/** A definitions directory with its home, and the commands that work on it. */
export interface BenchFactory {
  readonly home: string;
  write(file: string, content: string): void;
  /** Runs a command and returns its standard output. */
  hookmill(...words: string[]): Promise<string>;
  /** Also gives it standard input. */
  hookmillWith(input: string, ...words: string[]): Promise<string>;
  /** Applies the definitions and returns the UIDs by name. */
  apply(): Promise<ReadonlyMap<string, string>>;
  /** Starts the daemon, by default without the limits that a benchmark would reach. Its log goes to a file if one is given. */
  serve(settings?: object, logFile?: string): Promise<RunningDaemon>;
}

export interface RunningDaemon {
  readonly ingressUrl: string;
  readonly managementUrl: string;
  readonly pid: number;
  readonly kill: () => void;
}

/** `environment` is added to the environment of the benchmark, for example to name a store in PostgreSQL. */
export function openFactory(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): BenchFactory {
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), content);
  };
  const words = [bin, '-C', directory];
  const hookmillWith = async (input: string, ...more: string[]) =>
    (await execa(process.execPath, [...words, ...more], { input, env: environment })).stdout;
  const hookmill = (...more: string[]) => hookmillWith('', ...more);
  mkdirSync(directory, { recursive: true });
  return {
    home: join(directory, '.hookmill'),
    write,
    hookmill,
    hookmillWith,
    apply: async () => {
      const { changes } = JSON.parse(await hookmill('apply', '--yes', '-o', 'json'));
      return new Map(changes.map(({ name, uid }: { name: string; uid: string }) => [name, uid]));
    },
    serve: async (settings, logFile) => {
      const many = 1_000_000_000;
      const limits = {
        deliveriesPerMinute: many,
        failedAuthPerMinute: many,
        failedAuthPerMinuteTotal: many,
        apiRequestsPerMinute: many,
      };
      const all = { port: 0, managementPort: 0, logLevel: 'warn', limits, ...settings };
      write('daemon.yaml', JSON.stringify(all));
      const config = join(directory, 'daemon.yaml');
      const serving = [...words, 'serve', '--config', config];
      const { urls, pid, kill } = await startServer(serving, { logFile, environment });
      const [ingressUrl = '', managementUrl = ''] = urls;
      return { ingressUrl, managementUrl, pid, kill };
    },
  };
}

export interface ServerOptions {
  readonly logFile?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a server in its own process. Returns the URLs in its first line, which says that it is ready. */
export async function startServer(
  words: readonly string[],
  { logFile, environment = {} }: ServerOptions = {},
) {
  const errors = logFile === undefined ? 'inherit' : openSync(logFile, 'w');
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', errors], env });
  const kill = () => void child.kill('SIGKILL');
  atEnd(kill);
  if (!child.stdout) throw new Error('the server has no standard output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const urls = line.match(/http:\/\/[^\s)]+/g);
  if (!urls) throw new Error(`not a ready line: ${line}`);
  return { urls, pid: child.pid ?? 0, kill };
}

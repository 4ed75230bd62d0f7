import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import type { Target } from './load.ts';

/** The command line, as npm installs it. */
export const bin = join(import.meta.dirname, '../../cli/bin.js');
const many = 1_000_000_000;
/** Limits that no benchmark reaches. */
const limits = {
  ...{ deliveriesPerMinute: many, apiRequestsPerMinute: many },
  ...{ failedAuthPerMinute: many, failedAuthPerMinuteTotal: many },
};
const stops: (() => unknown)[] = [];

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
  const [freeGb, neededGb] = [Math.round((bavail * bsize) / 1e9), Math.round(bytes / 1e9)];
  if (freeGb < neededGb)
    throw new Error(`${directory} has ${freeGb} GB free, and this needs ${neededGb} GB; choose fewer --rows`);
}

export function atEnd(stop: () => unknown): void {
  stops.push(stop);
}

/** A webhook, and what its senders use: a token, or a secret to sign with as GitHub does. */
export interface BenchWebhook extends Pick<Target, 'token' | 'secret'> {
  readonly uid: string;
}

/** A definitions directory with its home, and the commands that work on it. */
export interface BenchFactory {
  readonly home: string;
  /** The file of the delivery log. */
  readonly log: string;
  /** Writes a file. An object is written as JSON, which is YAML too. */
  write(file: string, content: string | object): void;
  /** Writes an automation for the deliveries that a filter chooses. */
  writeAutomation(name: string, filter: object, prompt?: string): void;
  /** Runs a command and returns its standard output. */
  hookmill(...words: string[]): Promise<string>;
  /** Also gives it standard input. */
  hookmillWith(input: string, ...words: string[]): Promise<string>;
  /** Applies the definitions and returns the UIDs by name. */
  apply(): Promise<ReadonlyMap<string, string>>;
  /** Adds the webhook `load`, for a token unless it is signed, and applies everything. */
  applyLoad(isSigned?: boolean): Promise<BenchWebhook>;
  /** Creates an API token that may manage the factory. */
  createToken(name?: string): Promise<string>;
  /** Starts the daemon, by default without the limits that a benchmark would reach. Its log goes to a file if one is given. */
  serve(settings?: object, logFile?: string): Promise<RunningDaemon>;
}

export interface RunningDaemon {
  readonly ingressUrl: string;
  readonly managementUrl: string;
  readonly pid: number;
  readonly kill: () => unknown;
  /** The time from its start until it said that it was ready. */
  readonly readyMs: number;
  readonly urlOf: (uid: string) => string;
  readonly targetOf: (webhook: BenchWebhook, name?: string) => Target;
}

/** `environment` is added to the environment of the benchmark, for example to name a store in PostgreSQL. */
export function openFactory(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): BenchFactory {
  const write: BenchFactory['write'] = (file, content) => {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), typeof content === 'string' ? content : JSON.stringify(content));
  };
  const words = [bin, '-C', directory];
  const hookmillWith = async (input: string, ...more: string[]) =>
    (await execa(process.execPath, [...words, ...more], { input, env: environment })).stdout;
  const hookmill = (...more: string[]) => hookmillWith('', ...more);
  const apply = async () => {
    const { changes } = JSON.parse(await hookmill('apply', '--yes', '-o', 'json'));
    return new Map<string, string>(
      changes.map(({ name, uid }: { name: string; uid: string }) => [name, uid]),
    );
  };
  const home = join(directory, '.hookmill');
  mkdirSync(directory, { recursive: true });
  return {
    home,
    log: join(home, 'deliveries.db'),
    write,
    writeAutomation: (name, filter, prompt = 'Act.') => {
      const triggers = [{ provider: 'webhook', event: 'received', filter }];
      write(`automations/${name}.yaml`, { prompt, triggers });
    },
    hookmill,
    hookmillWith,
    apply,
    applyLoad: async (isSigned = false) => {
      const scheme = isSigned && { authMode: 'signature', signatureScheme: 'github' };
      write('webhooks/load.yaml', { ...scheme, secretName: 'LOAD' });
      const value = await hookmill('secrets', 'generate', 'LOAD');
      const uid = (await apply()).get('load') ?? '';
      return { uid, ...(isSigned ? { secret: value } : { token: value }) };
    },
    createToken: (name = 'bench') => hookmill('tokens', 'create', name, '--permission', 'manage'),
    serve: async (settings, logFile) => {
      write('daemon.yaml', { port: 0, managementPort: 0, logLevel: 'warn', limits, ...settings });
      const config = join(directory, 'daemon.yaml');
      const serving = [...words, 'serve', '--config', config];
      const startMs = performance.now();
      const { urls, pid, kill } = await startServer(serving, environment, logFile);
      const readyMs = performance.now() - startMs;
      const [ingressUrl = '', managementUrl = ''] = urls;
      const urlOf = (uid: string) => `${ingressUrl}/webhooks/w/${uid}`;
      const targetOf: RunningDaemon['targetOf'] = ({ uid, ...credential }, name = 'load') => {
        return { name, url: urlOf(uid), metricsUrl: `${managementUrl}/metrics`, ...credential };
      };
      return { ingressUrl, managementUrl, pid, kill, readyMs, urlOf, targetOf };
    },
  };
}

/** Starts a server in its own process. Returns the URLs in its first line, which says that it is ready. */
export async function startServer(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  logFile?: string,
) {
  const errors = logFile === undefined ? 'inherit' : openSync(logFile, 'w');
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', errors], env });
  const kill = () => child.kill('SIGKILL');
  atEnd(kill);
  if (!child.stdout) throw new Error('the server has no standard output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const urls = line.match(/http:\/\/[^\s)]+/g);
  if (!urls) throw new Error(`not a ready line: ${line}`);
  return { urls, pid: child.pid ?? 0, kill };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../support/free-port.ts';

const bin = join(import.meta.dirname, '../../../cli/bin.js');
const restartMs = 500;

export interface ReplicaOptions {
  readonly name: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: object;
  /** Called when a replica that was ready ends although nobody killed it. */
  readonly onEnded: () => void;
}

/** A daemon as a process that is started again whenever it ends, as a service manager does. */
export interface Replica {
  readonly name: string;
  readonly ingressUrl: string;
  isReady(): Promise<boolean>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills it with SIGKILL. It is started again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { name, directory, environment, settings, onEnded } = options;
  mkdirSync(directory, { recursive: true });
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  writeFileSync(join(directory, 'daemon.yaml'), JSON.stringify({ ...settings, port, managementPort }));
  const log = openSync(`${directory}.log`, 'a');
  const isReady = async () => {
    const signal = AbortSignal.timeout(2_000);
    return (await fetch(`http://127.0.0.1:${managementPort}/readyz`, { signal })).ok;
  };
  let child: ChildProcess | undefined;
  let state: 'running' | 'killed' | 'stopped' = 'running';
  const keepRunning = async () => {
    while (state !== 'stopped') {
      state = 'running';
      const words = [bin, '-C', directory, 'serve', '--config', join(directory, 'daemon.yaml')];
      const env = { ...process.env, ...environment, REPLICA: name };
      child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', log], env });
      let wasReady = false;
      child.stdout?.once('data', () => {
        wasReady = true;
      });
      await once(child, 'exit');
      if (state === 'running' && wasReady) onEnded();
      if (state === 'running') await sleep(restartMs);
    }
  };
  const running = keepRunning();
  const end = async (next: 'killed' | 'stopped') => {
    state = next;
    const ended =
      child && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child?.kill('SIGKILL');
    await ended;
  };
  return {
    name,
    ingressUrl: `http://127.0.0.1:${port}`,
    isReady,
    signal: signal => void child?.kill(signal),
    kill: () => end('killed'),
    stop: async () => {
      await end('stopped');
      await running;
    },
  };
}

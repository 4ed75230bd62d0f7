import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { atEnd } from '../support/factory.ts';

const pollMs = 50;

/** Returns the version of a program, or undefined if it is not installed. `start` is how its `--version` starts. */
export async function findVersion(program: string, start: string): Promise<string | undefined> {
  const { stdout, failed } = await execa(program, ['--version'], { reject: false });
  return failed || !stdout?.startsWith(start) ? undefined : /\d+(\.\d+)+/.exec(stdout)?.[0];
}

export interface RunningProgram {
  readonly pid: number;
  /** Kills it, and waits for its end. */
  stop(): Promise<void>;
}

/** Starts a program that listens on a port of 127.0.0.1, and waits until it does. */
export async function startProgram(
  program: string,
  words: readonly string[],
  port: number,
): Promise<RunningProgram> {
  const child = spawn(program, words, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  atEnd(() => void child.kill('SIGKILL'));
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await delay(pollMs);
  }
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Waits until the processes that a process works with in the background are gone. */
export async function waitForChildren(pid: number): Promise<void> {
  while (await hasChildren(pid)) await delay(pollMs);
}

async function hasChildren(pid: number): Promise<boolean> {
  const { stdout } = await execa('ps', ['-A', '-o', 'ppid=']);
  return stdout.split('\n').some(parent => Number(parent) === pid);
}

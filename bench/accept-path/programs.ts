import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { execa } from 'execa';
import { atEnd } from '../support/factory.ts';
import { until } from '../support/timing.ts';

const pollMs = 50;

/** Returns the version of a program, or undefined if it is not installed. `start` is how its `--version` starts. */
export async function findVersion(program: string, start: string): Promise<string | undefined> {
  const { stdout, failed } = await execa(program, ['--version'], { reject: false });
  return failed || !stdout?.startsWith(start) ? undefined : /\d+(\.\d+)+/.exec(stdout)?.[0];
}

/** Starts a program that listens on a port of 127.0.0.1, and waits until it does. */
export async function startProgram(program: string, words: readonly string[], port: number) {
  const child = spawn(program, words, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  atEnd(kill);
  await until(pollMs, () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    return isListening(port);
  });
  const stop = async () => {
    kill();
    await ended;
  };
  return { pid: child.pid ?? 0, stop };
}

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  );
  return connected.finally(() => socket.destroy());
}

/** Waits until the processes that a process works with in the background are gone. */
export async function waitForChildren(pid: number): Promise<void> {
  await until(pollMs, async () => {
    const { stdout } = await execa('ps', ['-A', '-o', 'ppid=']);
    return !stdout.split('\n').some(parent => Number(parent) === pid);
  });
}

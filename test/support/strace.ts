import { spawnSync } from 'node:child_process';

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** Words before a command that send it a signal at the nth such system call of one of its threads. */
export function signalAt(call: string, signal: NodeJS.Signals, n: number): string[] {
  const quietly = ['strace', '-f', '-qq', '-o', '/dev/null'];
  return [...quietly, '-e', `trace=${call}`, '-e', `inject=${call}:signal=${signal}:when=${n}`];
}

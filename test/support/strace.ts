import { spawnSync } from 'node:child_process';

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** Words before a command that send it a signal at the nth such system call of one of its threads. */
export function signalAt(call: string, signal: NodeJS.Signals, n: number): string[] {
  // With the filter, strace counts wrongly from the second call on; without it, a stopped process hardly goes on.
  const filter = signal === 'SIGSTOP' ? ['--seccomp-bpf'] : [];
  const quietly = ['strace', '-f', ...filter, '-qq', '-o', '/dev/null'];
  return [...quietly, '-e', `trace=${call}`, '-e', `inject=${call}:signal=${signal}:when=${n}`];
}

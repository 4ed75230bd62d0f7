import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** Words before a command that send it a signal at the nth such system call of one of its threads. */
export function signalAt(call: string, signal: NodeJS.Signals, n: number): string[] {
  // With the filter, strace counts wrongly from the second call on; without it, a stopped process hardly goes on.
  const filter = signal === 'SIGSTOP' ? ['--seccomp-bpf'] : [];
  const quietly = ['strace', '-f', ...filter, '-qq', '-o', '/dev/null'];
  return [...quietly, '-e', `trace=${call}`, '-e', `inject=${call}:signal=${signal}:when=${n}`];
}

/** Words before a command that write these calls of its threads to a file, each descriptor with its path. */
export function tracing(calls: string, output: string): string[] {
  return ['strace', '-f', '-y', '-qq', '-s', '64', '-e', `trace=${calls}`, '-o', output];
}

/**
 * Reads what `tracing` wrote, in the order in which the calls ended: joins `fsync(9</x> <unfinished ...>` and a later
 * `<... fsync resumed>) = 0` of the same thread, at the latter's place.
 */
export function readTrace(output: string): string[] {
  const unfinished = new Map<string, string>();
  return readFileSync(output, 'utf8')
    .split('\n')
    .flatMap(line => {
      const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
      if (call.endsWith('<unfinished ...>')) {
        unfinished.set(thread, call);
        return [];
      }
      return call.startsWith('<...') ? [`${unfinished.get(thread)}${call}`] : [call];
    });
}

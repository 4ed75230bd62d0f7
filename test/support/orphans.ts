import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ends the processes that have this directory in their arguments or environment and outlived what started them, with
 * what they started: the commands of a killed daemon, and the daemons of a worker that Ctrl-C ended. Returns a line for
 * each.
 */
export function endOrphans(directory: string): string[] {
  if (process.platform !== 'linux') return [];
  const ended = new Map<string, string>();
  // A process that was killed is the parent of its children until it is gone, and may be seen twice.
  for (let found = true; found; ) {
    found = false;
    for (const pid of readdirSync('/proc')) {
      try {
        const [status = '', words = '', environment = ''] = ['status', 'cmdline', 'environ'].map(file =>
          readFileSync(`/proc/${Number(pid)}/${file}`, 'utf8'),
        );
        const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1] ?? '';
        const isOrphan = parent === '1' || ended.has(parent);
        if (!isOrphan || !`${words}\0${environment}`.includes(directory)) continue;
        process.kill(Number(pid), 'SIGKILL');
        ended.set(pid, `${pid} ${words.replaceAll('\0', ' ')}`);
        found = true;
      } catch {
        // It is no process, belongs to somebody else, or has just ended.
      }
    }
  }
  return [...ended.values()];
}

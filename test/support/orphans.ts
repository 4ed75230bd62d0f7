import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ends the processes that have this directory in their arguments or environment and outlived what started them: the
 * commands of a killed daemon, and the daemons of a worker that Ctrl-C ended. Returns a line for each.
 */
export function endOrphans(directory: string): string[] {
  if (process.platform !== 'linux') return [];
  const ended = readdirSync('/proc').flatMap(pid => {
    try {
      const [status = '', words = '', environment = ''] = ['status', 'cmdline', 'environ'].map(file =>
        readFileSync(`/proc/${Number(pid)}/${file}`, 'utf8'),
      );
      if (!/^PPid:\t1$/m.test(status) || !`${words}\0${environment}`.includes(directory)) return [];
      process.kill(Number(pid), 'SIGKILL');
      return [`${pid} ${words.replaceAll('\0', ' ')}`];
    } catch {
      // It is no process, belongs to somebody else, or has just ended.
      return [];
    }
  });
  // Their children are orphans now.
  return ended.length === 0 ? [] : [...ended, ...endOrphans(directory)];
}

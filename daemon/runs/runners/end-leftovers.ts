import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '../../../store/ports/delivery-log.ts';

/** @limit Time between two looks for processes that a killed daemon left, in ms. */
const leftoverLookMs = 100;
/** @limit Looks for processes that a killed daemon left until they get SIGKILL after SIGTERM (5 s): a command has the same time. */
const leftoverGraceLooks = 50;
/** @limit Looks for processes that a killed daemon left until the attempt is put off (10 s): some cannot be ended, such as one whose disk hangs. */
const leftoverLooksMax = 100;

/**
 * Ends what earlier attempts at a run left on this machine, because a daemon that is killed cannot end its commands.
 * Sends SIGTERM, then SIGKILL, to their process groups. Returns whether none is left; false also after `signal` aborts.
 *
 * Finds them by the variables in their environment, which processes inherit. So nothing has to be recorded after a
 * command has started, and no process that merely got the same number is ended. Finds nothing without Linux's `/proc`, and
 * no process of another user, unless the daemon may read its environment.
 */
export async function endLeftovers(run: Pick<Run, 'id' | 'claims'>, signal: AbortSignal): Promise<boolean> {
  for (let look = 0; look < leftoverLooksMax && !signal.aborted; look++) {
    const ended = new Set<number>();
    for await (const group of findLeftoverGroups(run)) {
      if (!ended.has(group) && look === 0) endGroup(group, 'SIGTERM');
      if (!ended.has(group) && look >= leftoverGraceLooks) endGroup(group, 'SIGKILL');
      ended.add(group);
    }
    if (ended.size === 0) return true;
    await sleep(leftoverLookMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

async function* findLeftoverGroups({ id, claims }: Pick<Run, 'id' | 'claims'>): AsyncGenerator<number> {
  const entries = await readdir('/proc').catch(() => []);
  for (const pid of entries.filter(name => /^[0-9]+$/.test(name))) {
    const environment = await readProcessFile(pid, 'environ');
    if (!environment.includes(id)) continue;
    const variables = environment.split('\0');
    const token = variables.find(variable => variable.startsWith(tokenPrefix))?.slice(tokenPrefix.length);
    if (!variables.includes(`HOOKMILL_RUN_ID=${id}`) || !token || Number(token) >= claims) continue;
    // After the command's name in brackets: the state, the parent, the process group (proc_pid_stat(5)).
    const stat = await readProcessFile(pid, 'stat');
    const group = Number(stat.slice(stat.lastIndexOf(')')).split(' ')[3]);
    if (group > 1) yield group;
  }
}

const tokenPrefix = 'HOOKMILL_FENCING_TOKEN=';

/** Reads a file about a process; empty if the process has ended, or may not be read. */
async function readProcessFile(pid: string, name: 'environ' | 'stat'): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '');
}

function endGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It has just ended, or may not be ended: the next look shows which.
  }
}

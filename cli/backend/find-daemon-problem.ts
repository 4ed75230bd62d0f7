import type { AppliedStatus } from '../../operations/status.ts';
import type { Remediable } from '../../operations/why/why-facts.ts';
import { type DaemonHealth, isServed } from './daemon-health.ts';

/** Finds why the daemon of a home receives no deliveries and starts no runs; null if it does, or if a replica elsewhere does. */
export function findDaemonProblem(
  health: DaemonHealth,
  { serial: applied, replicas }: Pick<AppliedStatus, 'serial' | 'replicas'>,
): Remediable | null {
  const { state, url, reason, serial } = health;
  if ((state === 'none' || state === 'no answer') && (replicas?.alive.length ?? 0) > 0) return null;
  const readLog = 'Read its log; `hookmill status` shows its state.';
  if (state === 'none')
    return { message: 'none has run with this home', remedy: 'Start one with `hookmill serve`.' };
  if (state === 'no answer')
    return { message: `none answers at ${url}`, remedy: 'Start it with `hookmill serve`.' };
  if (state === 'not ready')
    return { message: `it is not ready${reason === null ? '' : `: ${reason}`}`, remedy: readLog };
  if (reason !== null) return { message: reason, remedy: readLog };
  if (state === 'ready' && !isServed(health, applied))
    return { message: `it serves serial ${serial ?? 0}, but ${applied} is applied`, remedy: readLog };
  return null;
}

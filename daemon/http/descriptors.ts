import { readFileSync } from 'node:fs';

/** @limit Descriptors that connections leave to files, threads, runs and the database. */
const descriptorsKept = 256;
/** @limit Part of the other descriptors that connections to the management port may have, as a divisor: senders have the rest. */
const managementPart = 4;

/** The connections that each port may have open. */
export interface ConnectionShares {
  readonly ingress: number;
  readonly management: number;
}

/** Divides the descriptors that a process may have open among the ports; undefined: as many as are wanted. */
export function shareConnections(
  wanted: ConnectionShares,
  descriptors: number | undefined,
): ConnectionShares {
  if (descriptors === undefined) return wanted;
  // A process with very few descriptors keeps half of them.
  const free = Math.max(descriptors - descriptorsKept, Math.floor(descriptors / 2));
  const management = Math.min(wanted.management, Math.floor(free / managementPart));
  return { ingress: Math.min(wanted.ingress, free - management), management };
}

/** The most descriptors that a process may have open; undefined if there is no limit, or the system does not say (only Linux does). */
export function readDescriptorLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

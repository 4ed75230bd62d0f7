import { CommandError } from './exit-status.ts';
import { printStatus } from './output.ts';

/** The first descriptor that a service manager passes (sd_listen_fds(3)). */
const firstDescriptor = 3;

/**
 * Takes the listening sockets that systemd passes to this process out of its environment (sd_listen_fds(3)), so that no
 * process that is started later takes them for its own. Node closes the descriptors themselves in its children.
 */
export function takeSockets(
  environment: NodeJS.ProcessEnv,
  pid: number,
): { readonly ingress?: number; readonly management?: number } {
  const { LISTEN_FDS: count, LISTEN_PID: owner, LISTEN_FDNAMES: names } = environment;
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete environment[name];
  if (count === undefined) return {};
  if (owner !== String(pid)) {
    printStatus(
      `hookmill: LISTEN_FDS is ignored, because its sockets are for process ${owner}. Start hookmill without a launcher such as npx.`,
    );
    return {};
  }
  if (count === '1' && names !== 'management') return { ingress: firstDescriptor };
  const known = names?.split(':') ?? [];
  if (String(known.length) !== count || !areKnown(known)) {
    throw new CommandError(
      `the passed sockets have the names ${names}; set FileDescriptorName to ingress in one socket unit, and to management in the other`,
    );
  }
  return Object.fromEntries(known.map((name, index) => [name, firstDescriptor + index]));
}

function areKnown(names: readonly string[]): boolean {
  return new Set(names).size === names.length && names.every(name => /^(ingress|management)$/.test(name));
}

import { CommandError } from './exit-status.ts';
import { printStatus } from './output.ts';

/** The first descriptor that a service manager passes (sd_listen_fds(3)). */
const firstDescriptor = 3;

/**
 * Takes what systemd passes to this process out of its environment (sd_listen_fds(3)), so that no process that is started
 * later takes it for its own: listening sockets, and `notify`, which is connected to systemd's socket for messages. Node
 * closes the descriptors themselves in its children. Fails if it is not clear which socket is whose.
 */
export function takeSockets(
  environment: NodeJS.ProcessEnv,
  pid: number,
): { readonly ingress?: number; readonly management?: number; readonly notify?: number } {
  const { LISTEN_FDS: count, LISTEN_PID: owner, LISTEN_FDNAMES: names } = environment;
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete environment[name];
  if (count === undefined) return {};
  if (owner !== String(pid)) {
    printStatus(
      `hookmill: LISTEN_FDS is ignored, because its sockets are for process ${owner}. Start hookmill without a launcher such as npx.`,
    );
    return {};
  }
  const known = (names ?? 'unknown').split(':');
  // A single socket is the ingress', whatever its name.
  const only = known.filter(name => name !== 'notify').length === 1;
  const uses = known.map(name => (only && !/^(management|notify)$/.test(name) ? 'ingress' : name));
  if (String(uses.length) !== count || !areKnown(uses)) {
    throw new CommandError(
      `the passed sockets have the names ${names}; set FileDescriptorName to ingress in one socket unit, and to management in the other`,
    );
  }
  return Object.fromEntries(uses.map((use, index) => [use, firstDescriptor + index]));
}

function areKnown(names: readonly string[]): boolean {
  return (
    new Set(names).size === names.length && names.every(name => /^(ingress|management|notify)$/.test(name))
  );
}

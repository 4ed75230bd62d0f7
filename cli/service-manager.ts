import { write } from 'node:fs';
import { promisify } from 'node:util';
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

export interface ServiceManager {
  /** Says that the daemon is ready. From then on, says twice in each interval of the watchdog that it is alive. */
  ready(): Promise<void>;
  stopping(): Promise<void>;
}

/**
 * Tells systemd the state of the daemon (sd_notify(3)), and answers its watchdog (sd_watchdog_enabled(3)) as long as
 * the event loop runs. `descriptor` is what systemd connected to its own socket, and passed (`OpenFile` in
 * systemd.service(5)): Node cannot connect to it, and systemd hears no other process with `NotifyAccess=main`. Takes the
 * variables out of the environment. Returns undefined if no service manager expects messages, or none can be sent.
 */
export function openServiceManager(
  environment: NodeJS.ProcessEnv,
  descriptor: number | undefined,
): ServiceManager | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  if (!NOTIFY_SOCKET) return undefined;
  if (descriptor === undefined) {
    printStatus(
      'hookmill: systemd waits for messages and passed no descriptor for them; add OpenFile=/run/systemd/notify:notify to the unit, or set Type=exec and WatchdogSec=0',
    );
    return undefined;
  }
  const notify = async (message: string) => {
    await promisify(write)(descriptor, `${message}\n`).catch(({ message: reason }: Error) =>
      printStatus(`hookmill: cannot tell systemd ${message}: ${reason}`),
    );
  };
  const isWatched = WATCHDOG_USEC && (WATCHDOG_PID ?? String(process.pid)) === String(process.pid);
  return {
    ready: async () => {
      await notify('READY=1');
      if (isWatched) setInterval(() => void notify('WATCHDOG=1'), Number(WATCHDOG_USEC) / 2_000).unref();
    },
    stopping: () => notify('STOPPING=1'),
  };
}

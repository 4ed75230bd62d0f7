import { write } from 'node:fs';
import { promisify } from 'node:util';
import { printStatus } from './output.ts';

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

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { printStatus } from './output.ts';

/** @limit Time in which systemd must take a message, in ms: a message that hangs must not hold back the daemon. */
const notifyMs = 5_000;

export interface ServiceManager {
  /** Says that the daemon is ready. From then on, says twice in each interval of the watchdog that it is alive. */
  ready(): Promise<void>;
  stopping(): Promise<void>;
}

/**
 * Tells systemd the state of the daemon (sd_notify(3)), and answers its watchdog (sd_watchdog_enabled(3)) as long as
 * the event loop runs. Takes the variables out of the environment, so that no process that is started later speaks for
 * the daemon. Node cannot send datagrams to Unix sockets, so systemd's own program sends the messages. Returns
 * undefined if no service manager expects messages.
 */
export function openServiceManager(environment: NodeJS.ProcessEnv): ServiceManager | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  if (!NOTIFY_SOCKET) return undefined;
  const env = { PATH: environment.PATH, NOTIFY_SOCKET };
  const notify = async (...messages: string[]) => {
    await promisify(execFile)('systemd-notify', messages, { env, timeout: notifyMs }).catch(
      ({ message }: Error) => printStatus(`hookmill: cannot tell systemd ${messages.join(' ')}: ${message}`),
    );
  };
  const isWatched = WATCHDOG_USEC && (WATCHDOG_PID ?? String(process.pid)) === String(process.pid);
  return {
    ready: async () => {
      await notify('READY=1', `MAINPID=${process.pid}`);
      if (isWatched) setInterval(() => void notify('WATCHDOG=1'), Number(WATCHDOG_USEC) / 2_000).unref();
    },
    stopping: () => notify('STOPPING=1'),
  };
}

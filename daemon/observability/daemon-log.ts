import { type Logger, pino } from 'pino';

/** @limit Most bytes of log lines in memory while nobody reads standard error; further lines are dropped and counted. */
const logBytesWaitingMax = 4 * 1024 * 1024;
/** @limit Time for which a daemon that stops waits until its last log lines are read, in ms: a reader that works needs less. */
const logDrainMs = 1_000;

export interface DaemonLog {
  readonly log: Logger;
  /** Writes what is waiting, if somebody reads it in time. Nothing can be logged afterwards. */
  close(): Promise<void>;
}

/**
 * Opens the daemon's log on standard error. Writing never blocks and never fails: lines that nobody reads, or that the
 * disk has no space for, are dropped. The log says how many as soon as lines can be written again.
 */
export function openDaemonLog(level: string): DaemonLog {
  let dropped = 0;
  let isOpen = true;
  const destination = pino.destination({
    ...{ fd: 2, sync: false, maxLength: logBytesWaitingMax },
    // A full pipe is EAGAIN: main.ts has put it into non-blocking mode.
    retryEAGAIN: () => isOpen,
  });
  // pino calls this after a fatal line and when the process ends. It would try for ever where nobody reads.
  destination.flushSync = () => undefined;
  const log = pino({ level }, destination);
  destination.on('drop', () => {
    dropped++;
  });
  destination.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    log.warn({ lines }, 'dropped log lines, because standard error was not read in time');
  });
  // What could not be written stays in memory, within the limit, and is tried again with the next line.
  destination.on('error', () => undefined);
  const flush = () => new Promise<void>(resolve => destination.flush(() => resolve()));
  return {
    log,
    close: async () => {
      const timeout = new Promise<void>(resolve => setTimeout(resolve, logDrainMs).unref());
      await Promise.race([flush(), timeout]);
      isOpen = false;
      log.level = 'silent';
      destination.destroy();
    },
  };
}

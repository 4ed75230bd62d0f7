import pino from 'pino';
import { onTestFinished } from 'vitest';
import { startDaemon } from '../../daemon/daemon.ts';
import { settingsShape } from '../../daemon/settings.ts';
import type { Home } from '../../store/home/home.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store, StoreOptions } from '../../store/ports/store.ts';
import { newHome } from './factory.ts';
import { placeOfHome } from './home-place.ts';

/** A daemon in the test's own process, on free ports. The test sets its clock and reads everything that it logs. */
export interface DaemonHere {
  readonly home: Home;
  /** Its own store. */
  readonly store: Store;
  readonly ingressUrl: string;
  readonly managementUrl: string;
  /** Both clocks. Only a test that counts intervals moves the monotonic one. */
  readonly clock: { nowMs: number; monotonicMs: number };
  /** Every line that it logged, of every level. */
  logged(): string;
  stop(): Promise<void>;
}

export async function startDaemonHere(
  settings: object = {},
  home = newHome(),
  given: Pick<StoreOptions, 'environment' | 'postgres'> = placeOfHome(home.directory),
  clock: DaemonHere['clock'] = { nowMs: Date.now(), monotonicMs: 0 },
): Promise<DaemonHere> {
  let logged = '';
  const write = (line: string) => {
    logged += line;
  };
  const store = await openStore({
    home: home.directory,
    ...given,
    lockTimeoutMs: 5_000,
    now: () => new Date(clock.nowMs),
    readsInThread: true,
  });
  const { ingressUrl, managementUrl, ...daemon } = await startDaemon({
    store,
    settings: settingsShape.parse({ port: 0, managementPort: 0, ...settings }),
    version: '0.0.0-test',
    environment: {},
    log: pino({ level: 'trace' }, { write }),
    nowMs: () => clock.nowMs,
    stopping: new AbortController().signal,
    monotonicMs: () => clock.monotonicMs,
    onFatal: error => {
      throw error;
    },
  });
  const stop = async () => {
    await daemon.stop();
    await store.close();
  };
  return { home, store, ingressUrl, managementUrl, clock, logged: () => logged, stop };
}

/** Clocks that go on as time does. */
export const runningClock: DaemonHere['clock'] = {
  get nowMs() {
    return Date.now();
  },
  get monotonicMs() {
    return performance.now();
  },
};

/** Starts a daemon on a store, whose clocks go on, and stops it when the test ends unless the test has done so. */
export async function startDaemonHereForTest(
  settings: object,
  home: Home,
  place: Pick<StoreOptions, 'environment' | 'postgres'>,
): Promise<DaemonHere> {
  return stopAfterTest(await startDaemonHere(settings, home, place, runningClock));
}

/** Stops a daemon when the test ends, unless the test has done so. */
export function stopAfterTest<Daemon extends { stop(): Promise<void> }>(daemon: Daemon): Daemon {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= daemon.stop();
    return stopping;
  };
  onTestFinished(stop);
  return { ...daemon, stop };
}

/** Where a command with these variables has its store. */
export function placeOf({ HOOKMILL_STORE: url, ...environment }: Readonly<Record<string, string>>) {
  return { environment, ...(url !== undefined && { postgres: { url, mayLose: false } }) };
}

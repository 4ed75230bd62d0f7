import { setTimeout as sleep } from 'node:timers/promises';
import { readJson } from '../../json/parse-json-text.ts';
import type { Readiness } from '../../schema/readiness.ts';

/** @limit Time in which a daemon must say whether it is ready, in ms: it answers at once, or hangs. */
const answerMs = 3_000;
/** @limit Time that `hookmill apply` and `status` wait until the daemon serves what was just applied, in ms: it usually takes much less than one second. */
const servedMs = 5_000;
/** @limit Time between two checks of a daemon that does not serve the applied state yet, in ms. */
const lookAgainMs = 25;

/** The state of the daemon and of the factory that it serves, as `hookmill status` shows it. */
export interface DaemonHealth {
  /** `none`: no daemon has run with this home. `unknown`: it answers, but its `/readyz` cannot be reached. */
  readonly state: 'none' | 'no answer' | 'unknown' | 'not ready' | 'ready';
  /** The URL of its management port. */
  readonly url: string | null;
  /** The reason why it is not ready, or cannot serve a newer applied state. */
  readonly reason: string | null;
  /** The serial that it serves; null if that is not known. */
  readonly serial: number | null;
}

interface DaemonAsked {
  readonly url: string;
  /** The id of the daemon that is meant, if another one may have its port now. */
  readonly id?: string;
  /** Gets an API token, without which a daemon behind a proxy says only whether it is ready. */
  readonly getToken?: () => Promise<string>;
  readonly factory: string;
  /** The serial of the applied state. */
  readonly serial: number;
}

/** Asks a daemon whether it is ready and serves the serial. Waits a little if it was applied only just now. */
export async function askDaemon(asked: DaemonAsked): Promise<DaemonHealth> {
  const untilMs = performance.now() + servedMs;
  for (;;) {
    const health = await ask(asked);
    const isLate = health.state === 'ready' && health.reason === null && !isServed(health, asked.serial);
    if (!isLate || performance.now() >= untilMs) return health;
    await sleep(lookAgainMs);
  }
}

/** Whether a daemon serves the serial or a newer one. */
export function isServed({ serial }: DaemonHealth, applied: number): boolean {
  return (serial ?? 0) >= applied;
}

/** Whether a daemon that answers does not serve what is applied. */
export function isAmiss(daemon: DaemonHealth, applied: number): boolean {
  const { state, reason } = daemon;
  if (state === 'not ready') return true;
  return state === 'ready' && (reason !== null || !isServed(daemon, applied));
}

/**
 * Asks the daemon at a URL whether it is ready; with an id, only the daemon with that id. Undefined if it does not
 * answer, null if the answer is not a daemon's.
 */
export async function askReadiness(
  url: string,
  { id, getToken }: { readonly id?: string | undefined } & Pick<DaemonAsked, 'getToken'> = {},
): Promise<Readiness | null | undefined> {
  const readiness = await readReadiness(url, await getToken?.());
  return id === undefined || readiness?.daemon === id ? readiness : undefined;
}

async function ask({ url, factory, ...asked }: DaemonAsked): Promise<DaemonHealth> {
  const readiness = await askReadiness(url, asked);
  if (readiness === undefined) return { state: 'no answer', url, reason: null, serial: null };
  if (readiness === null) return { state: 'unknown', url, reason: null, serial: null };
  const { status, reason, factories } = readiness;
  const served = factories.find(one => one.factory === factory);
  return {
    state: status,
    url,
    reason: reason ?? served?.problem?.message ?? null,
    serial: served?.serial ?? null,
  };
}

async function readReadiness(url: string, token: string | undefined): Promise<Readiness | null | undefined> {
  try {
    const response = await fetch(`${url}/readyz`, {
      ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    });
    const text = await response.text();
    // Only status needs it, and each command would load it.
    const { readinessShape } = await import('../../schema/readiness.ts');
    return readinessShape.safeParse(readJson(text)).data ?? null;
  } catch {
    return undefined;
  }
}

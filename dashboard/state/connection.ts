import { signal } from '@preact/signals';

/** The media type of every refusal. */
export const problemMediaType = 'application/problem+json';
/** The wait before the daemon is asked again, in ms; it doubles with each try. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;
/** The statuses of a proxy whose daemon does not answer. */
const gatewayStatuses = [502, 503, 504];

interface Away {
  readonly nextTryMs: number;
  /** When the daemon answered last; undefined if it never has. */
  readonly answeredMs: number | undefined;
}

/** While the daemon does not answer: when it is asked again. What was loaded before stays on the page. */
export const daemonAway = signal<Away | undefined>(undefined);

/** How often everything on the page must be read again: because the daemon is back, somebody signed in again, or an alert was changed. */
export const rereads = signal(0);

let answeredMs: number | undefined;
let waitMs = firstWaitMs;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Notices that a request was answered. Returns whether it was the daemon that answered, not a proxy before it. */
export function noticeAnswer({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean {
  if (gatewayStatuses.includes(status) && !headers.get('content-type')?.startsWith(problemMediaType)) {
    noticeSilence();
    return false;
  }
  answeredMs = Date.now();
  if (daemonAway.value) {
    clearTimeout(timer);
    waitMs = firstWaitMs;
    daemonAway.value = undefined;
    readAgain();
  }
  return true;
}

/** Notices that a request was not answered, and asks again until one is. */
export function noticeSilence(): void {
  if (!daemonAway.value) askLater();
}

/** Asks now whether the daemon is back. */
export async function askNow(): Promise<void> {
  clearTimeout(timer);
  try {
    // Public, and answered from memory.
    if (noticeAnswer(await fetch('/api/v1/sign-in', { cache: 'no-store' }))) return;
  } catch {
    // Still away.
  }
  askLater();
}

export function readAgain(): void {
  rereads.value += 1;
}

function askLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void askNow(), waitMs);
  daemonAway.value = { nextTryMs: Date.now() + waitMs, answeredMs };
  waitMs = Math.min(2 * waitMs, longestWaitMs);
}

import type { Outcome } from '../delivery.ts';

/** What is shown of a delivery in one line, beside its webhook and its time. */
export interface Title {
  /** The event, such as `pull_request opened`; of a rejected request the reason. */
  readonly title: string;
  /** What the event is about, such as `acme/shop#482 · Charge VAT by country`; null if nothing is known. */
  readonly text: string | null;
}

/**
 * Titles a request of which only the outcome is kept, and the cause if it may be shown. A cause is a short clause, and often
 * more after a colon or a semicolon, as `describeFailure` writes them.
 */
export function titleRefusal(outcome: Outcome, cause: string | undefined): Title {
  switch (outcome) {
    case 'Rejected (auth)':
      return cause === undefined ? { title: 'Credential refused', text: null } : titleCause(cause);
    case 'Rejected (invalid JSON)':
      return { title: 'Invalid JSON', text: cause?.replace(/^the body is not JSON: /, '') ?? null };
    case 'Rejected (too large)':
      return { title: 'Too large', text: null };
    default:
      return { title: outcome, text: cause ?? null };
  }
}

function titleCause(cause: string): Title {
  const [, seconds = '', direction] = /^the timestamp is (\d+) s (old|in the future)/.exec(cause) ?? [];
  if (direction === 'old') return { title: 'Signature too old', text: `${roundTime(Number(seconds))} old` };
  if (direction) return { title: 'Signature from the future', text: `${roundTime(Number(seconds))} ahead` };
  const [, clause = '', more] = /^(?:the )?(.+?)(?:[:;] (.+))?$/s.exec(cause) ?? [];
  return { title: clause.charAt(0).toUpperCase() + clause.slice(1), text: more ?? null };
}

/** Rounds a time to its largest unit. */
function roundTime(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3_600) return `${Math.round(seconds / 60)} min`;
  return seconds < 2 * 86_400 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

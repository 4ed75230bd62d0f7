import { hourMs } from '../../schema/time-units.ts';
import { countOf, type TalliedRow, type Tally } from '../ports/tallies.ts';

/** @limit Rows of the delivery log that are tallied in one step: some ms of reading, and a small write. */
export const tallyRowsMax = 5_000;

/** The states in which something may be wrong, as SQL has them in a list. */
export const unhealthyStates = "'quiet', 'failing'";
/** @limit Webhooks that are not healthy and listed by name in metrics: with more, something common to them has failed. */
export const unhealthyListedMax = 1_000;
/** @limit Time without a daemon that looks at webhooks after which silence before it no longer counts, in ms: senders could not deliver. */
export const listeningBreakMs = 120_000;

/** Adds rows up, one tally for each webhook and hour. The rows are in the order of their commits. */
export function tallyRows(rows: Iterable<TalliedRow>): Tally[] {
  const tallies = new Map<string, Mutable<Tally>>();
  for (const { factory, uid, webhook, outcome, atMs } of rows) {
    if (outcome === 'Manual') continue;
    const hour = Math.floor(atMs / hourMs);
    const key = `${uid} ${hour}`;
    const tally = tallies.get(key) ?? { ...noDeliveries, factory, uid, webhook, hour };
    tallies.set(key, tally);
    tally.webhook = webhook;
    tally[countOf[outcome]]++;
    if (outcome === 'Accepted' || outcome === 'Duplicate') addGood(tally, atMs);
    else if (outcome !== 'Handshake') {
      tally.rejectedInRow++;
      tally.lastRejectedMs = Math.max(atMs, tally.lastRejectedMs ?? 0);
    }
  }
  return [...tallies.values()];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const noDeliveries = {
  ...{ accepted: 0, duplicates: 0, rejectedAuth: 0, rejectedJson: 0, rejectedLarge: 0, handshakes: 0 },
  ...{ firstGoodMs: null, lastGoodMs: null, longestGapMs: 0, rejectedInRow: 0, lastRejectedMs: null },
};

function addGood(tally: Mutable<Tally>, atMs: number): void {
  if (tally.lastGoodMs !== null) tally.longestGapMs = Math.max(tally.longestGapMs, atMs - tally.lastGoodMs);
  tally.firstGoodMs = Math.min(atMs, tally.firstGoodMs ?? atMs);
  tally.lastGoodMs = Math.max(atMs, tally.lastGoodMs ?? atMs);
  tally.rejectedInRow = 0;
}

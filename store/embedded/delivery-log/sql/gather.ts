import type Database from 'better-sqlite3';
import { deliveriesPerRunMax, deliveryBytesPerRunMax } from '../../../delivery-log/run-flow.ts';
import type { RunFlow } from '../../../ports/delivery-log.ts';
import type { Snapshots } from './snapshots.ts';

type Burst = NonNullable<RunFlow['burst']>;

/** A delivery to take up. */
interface Taken {
  readonly delivery: number;
  readonly bytes: number;
  readonly snapshot: number | null;
  readonly atMs: number;
}

/** Lets a queued run take up the deliveries of its burst. At most one run of a burst lane gathers. */
export interface Gather {
  /** Adds a delivery to the lane's run, which is due later then; false if none gathers, or the one that did is full. */
  join(burst: Burst, taken: Taken): boolean;
  /** Lets a run that was just recorded gather. */
  begin(run: number, burst: Burst, taken: Taken): void;
}

export function prepareGather(database: Database.Database, snapshots: Snapshots): Gather {
  const selectGathering = database.prepare<[string], Gathering>(`
    SELECT seq, created_at_ms AS sinceMs, delivery_count AS count, delivery_bytes AS bytes, snapshot
    FROM runs WHERE gathers = ?`);
  const begin = database.prepare<[string, number, number, number]>(
    'UPDATE runs SET gathers = ?, not_before_ms = ?, delivery_count = 1, delivery_bytes = ? WHERE seq = ?',
  );
  // It is due later, so a claim looks at it again then.
  const join = database.prepare<[number, number | null, number, number, number]>(`
    UPDATE runs SET delivery = ?, snapshot = ?, not_before_ms = ?, parked = NULL, delivery_count = delivery_count + 1,
      delivery_bytes = delivery_bytes + ?
    WHERE seq = ?`);
  const close = database.prepare<[number, number]>(
    'UPDATE runs SET gathers = NULL, not_before_ms = min(not_before_ms, ?), parked = NULL WHERE seq = ?',
  );
  const insert = database.prepare<[number, number]>(
    'INSERT INTO run_deliveries (run, delivery) VALUES (?, ?)',
  );
  return {
    begin(run, { lane, forMs }, { delivery, bytes, atMs }) {
      begin.run(lane, atMs + forMs, bytes, run);
      insert.run(run, delivery);
    },
    join({ lane, forMs, atMostMs }, { delivery, bytes, snapshot, atMs }) {
      const run = selectGathering.get(lane);
      if (!run) return false;
      const fits = run.bytes + bytes <= deliveryBytesPerRunMax;
      if (fits) {
        const dueMs = Math.min(atMs + forMs, run.sinceMs + atMostMs);
        join.run(delivery, snapshot, dueMs, bytes, run.seq);
        insert.run(run.seq, delivery);
        if (run.snapshot !== null) snapshots.addUses(run.snapshot, -1);
      }
      if (!fits || run.count + 1 === deliveriesPerRunMax) close.run(atMs, run.seq);
      return fits;
    },
  };
}

interface Gathering {
  readonly seq: number;
  readonly sinceMs: number;
  readonly count: number;
  readonly bytes: number;
  readonly snapshot: number | null;
}

import { hourMs } from '../../../../schema/time-units.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import { selectFirst } from './rows.ts';

/** The lanes of a run; null if it is in none of that kind. */
export interface RunLanes {
  readonly orderLane: string | null;
  readonly limitLane: string | null;
}

export const selectLanes = 'order_lane AS orderLane, limit_lane AS limitLane';

/** The reason why a due run must not start: other runs of a lane, the runs per hour of its automation, or a pause. */
export type Obstacle = 'order' | 'limit' | 'runsPerHour' | 'paused';

/** Decides whether runs may start. */
export interface Lanes {
  findObstacle(seq: number, nowMs: number): Obstacle | null;
  /** Lets claims look again at the first run of each lane. Call it when a run of the lanes starts, ends or is postponed. */
  release(lanes: RunLanes): void;
  /** Does so for all lanes. */
  releaseAll(): void;
}

export function prepareLanes(database: SqliteDatabase): Lanes {
  const find = database.prepareColumn<[{ seq: number; nowMs: number }], Obstacle | null>(findObstacle);
  const release = (which: string) =>
    database.prepare<unknown[]>(`UPDATE runs SET parked = NULL WHERE ${which}`);
  const releaseFirst = release(`parked = 'order' AND seq = (${selectFirst('?')})`);
  const releaseNext = release("seq = (SELECT min(seq) FROM runs WHERE parked = 'limit' AND limit_lane = ?)");
  const releaseEachFirst = release(`parked = 'order' AND seq = (${selectFirst('runs.order_lane')})`);
  const releaseEachNext = release(
    "seq IN (SELECT min(seq) FROM runs WHERE parked = 'limit' GROUP BY limit_lane)",
  );
  return {
    findObstacle: (seq, nowMs) => find.get({ seq, nowMs }) ?? null,
    release({ orderLane, limitLane }) {
      if (orderLane !== null) releaseFirst.run(orderLane);
      if (limitLane !== null) releaseNext.run(limitLane);
    },
    releaseAll() {
      releaseEachFirst.run();
      releaseEachNext.run();
    },
  };
}

/** The rule by which runs start. A started run counts for an hour, also if the clock was set back since. */
const findObstacle = `
  SELECT CASE
    WHEN order_lane IS NOT NULL AND seq > (${selectFirst('run.order_lane')}) THEN 'order'
    WHEN EXISTS (SELECT 1 FROM runs AS other WHERE other.order_lane = run.order_lane AND other.state = 'running')
      THEN 'order'
    WHEN limit_runs <= (SELECT count(*) FROM runs AS other WHERE other.limit_lane = run.limit_lane AND other.state = 'running')
      THEN 'limit'
    WHEN afterwards IS NULL AND runs_per_hour <= (
      SELECT count(*) FROM runs AS other WHERE other.factory = run.factory AND other.automation = run.automation
        AND other.runs_per_hour IS NOT NULL AND other.seq <> run.seq
        AND other.started_at_ms > @nowMs - ${hourMs} AND other.started_at_ms < @nowMs + ${hourMs})
      THEN 'runsPerHour'
  END FROM runs AS run WHERE seq = @seq`;

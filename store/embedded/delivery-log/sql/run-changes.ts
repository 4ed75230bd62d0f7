import { hasEnded } from '../../../../schema/delivery.ts';
import { lifeColumns, type StoredLife, toLife, toStoredChange } from '../../../delivery-log/life-columns.ts';
import { live, type RunChange, type RunEvent, toSuperseded } from '../../../delivery-log/run-life.ts';
import type { NewRunRow } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase, Statement } from '../../../home/sqlite.ts';
import { type Lanes, type RunLanes, selectLanes } from './lanes.ts';
import { prepareNoteEnd } from './note-end.ts';

/** A run as its changes need it. */
export interface RunToChange extends StoredLife, RunLanes {
  readonly seq: number;
  readonly id: string;
  readonly factory: string;
  readonly automation: string;
  readonly createdAtMs: number;
  /** The ends of which receivers are told, as JSON. */
  readonly notify: string | null;
}

/** Selects the columns of a `RunToChange`. */
export const selectToChange = `
  SELECT seq, id, factory, automation, created_at_ms AS createdAtMs, flow -> '$.notify' AS notify, ${selectLanes},
    ${Object.entries(lifeColumns)
      .map(([key, [column]]) => `${column} AS ${key}`)
      .join(', ')}
  FROM runs`;

/** Changes a run as its life says, and returns what changed; undefined if the event comes too late. */
export type ChangeRun = (run: RunToChange, event: RunEvent) => RunChange | undefined;

/** Prepares the one way in which runs change. It notes how they end, and lets others of their lanes go on. */
export function prepareChangeRun(database: SqliteDatabase, lanes: Lanes): ChangeRun {
  const updates = new Map<string, Statement<[object], unknown>>();
  const prepareUpdate = (keys: readonly string[]) => {
    const set = keys.map(key => `${lifeColumns[key as keyof StoredLife][0]} = @${key}`);
    const gathers = keys.includes('state') ? ["gathers = iif(@state = 'queued', gathers, NULL)"] : [];
    return database.prepare<[object], unknown>(
      `UPDATE runs SET ${[...set, ...gathers].join(', ')} WHERE seq = @seq`,
    );
  };
  const noteEnd = prepareNoteEnd(database);
  return (run, event) => {
    const change = live(toLife(run), event);
    const keys = Object.keys(change ?? {});
    if (!change || keys.length === 0) return change;
    const update = updates.get(keys.join()) ?? prepareUpdate(keys);
    updates.set(keys.join(), update);
    update.run({ ...toStored(toStoredChange(change)), seq: run.seq });
    const { state, finishedAtMs = null } = change;
    if (state !== undefined && hasEnded(state)) noteEnd({ ...run, state, finishedAtMs });
    releaseAfter(run, event, change, lanes);
    return change;
  };
}

/** Lets a run that was just recorded cancel those before it in its order, if it says so. */
export type Supersede = (run: NewRunRow, atMs: number) => void;

export function prepareSupersede(database: SqliteDatabase, change: ChangeRun): Supersede {
  const select = database.prepare<[string, string], RunToChange>(`
    ${selectToChange} WHERE order_lane = ? AND state IN ('queued', 'running')
      AND seq < (SELECT seq FROM runs WHERE id = ?)`);
  return (run, atMs) => {
    const event = toSuperseded(run, atMs);
    const earlier = event && run.latest ? select.all(run.latest.lane, run.id) : [];
    for (const one of earlier) if (event) change(one, event);
  };
}

function toStored(change: Partial<StoredLife>): object {
  const stored = Object.entries(change).map(([key, value]) => [key, value === true ? 1 : value]);
  return Object.fromEntries(stored);
}

/** Lets claims look again at those that may start now. */
function releaseAfter(run: RunToChange, event: RunEvent, { state }: RunChange, lanes: Lanes): void {
  const leaves = run.state === 'running' && state !== undefined && state !== 'running';
  const ends = state === 'failed' || state === 'cancelled';
  const isDecided = event.kind === 'parked' || (event.kind === 'claimed' && event.for !== 'cancel');
  // A run that the limit does not stop lets claims look at the next one of its lane: there may be more places.
  const passes = isDecided && !(event.kind === 'parked' && event.behind === 'limit');
  lanes.release({
    orderLane: leaves || ends || event.kind === 'dismissed' ? run.orderLane : null,
    limitLane: leaves || ends || passes ? run.limitLane : null,
  });
}

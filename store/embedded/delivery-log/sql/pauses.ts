import { releasesMax } from '../../../delivery-log/run-flow.ts';
import { withoutNulls } from '../../../delivery-log/stored-rows.ts';
import type { VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { Pause, SynchronousReader } from '../../../ports/delivery-log.ts';
import { rowsPerPageMax, type TransferPause } from '../../../ports/transfer.ts';

/** Pauses automations, and lets claims release their runs. */
export interface Pauses extends Pick<VerbTable, 'pauseAutomation' | 'resumeAutomation'> {
  /** Lets claims look again at runs whose pause has ended. */
  releaseResumed(nowMs: number): void;
}

/** Whether a run, by its columns in `runs`, is of an automation that is paused. */
export const isPaused = `EXISTS (SELECT 1 FROM pauses
  WHERE pauses.factory = runs.factory AND pauses.automation = runs.automation AND (until_ms IS NULL OR until_ms > @nowMs))`;

export function preparePauses(database: SqliteDatabase): Pauses {
  const pause = database.prepare<Omit<Pause, 'untilMs'> & { untilMs: number | null }>(`
    INSERT INTO pauses (factory, automation, by, at_ms, until_ms) VALUES (@factory, @automation, @by, @atMs, @untilMs)
    ON CONFLICT DO UPDATE SET by = excluded.by, until_ms = excluded.until_ms,
      at_ms = iif(pauses.until_ms <= excluded.at_ms, excluded.at_ms, pauses.at_ms)`);
  const resume = database.prepare<Pick<Pause, 'factory' | 'automation'> & { nowMs: number }>(`
    UPDATE pauses SET until_ms = @nowMs
    WHERE factory = @factory AND automation = @automation AND (until_ms IS NULL OR until_ms > @nowMs)`);
  const selectEnded = database.prepare<[number], { seq: number; factory: string; automation: string }>(
    'SELECT seq, factory, automation FROM pauses WHERE until_ms <= ?',
  );
  const release = database.prepare<[string, string]>(`
    UPDATE runs SET parked = NULL WHERE seq IN (
      SELECT seq FROM runs WHERE parked = 'paused' AND factory = ? AND automation = ? LIMIT ${releasesMax})`);
  const remove = database.prepare<[number]>('DELETE FROM pauses WHERE seq = ?');
  return {
    pauseAutomation: ({ untilMs = null, ...given }) => void pause.run({ untilMs, ...given }),
    resumeAutomation: given => resume.run(given).changes > 0,
    releaseResumed: nowMs => {
      for (const { seq, factory, automation } of selectEnded.all(nowMs)) {
        if (release.run(factory, automation).changes === 0) remove.run(seq);
      }
    },
  };
}

/** Prepares reading the pauses that have not ended. */
export function prepareListPauses(database: SqliteDatabase): SynchronousReader['listPauses'] {
  const select = database.prepare<{ factory: string | null; nowMs: number }, Pause>(`
    SELECT factory, automation, by, at_ms AS atMs, until_ms AS untilMs FROM pauses
    WHERE (@factory IS NULL OR factory = @factory) AND (until_ms IS NULL OR until_ms > @nowMs) ORDER BY at_ms, seq`);
  return ({ factory = null, nowMs }) => select.all({ factory, nowMs }).map(withoutNulls);
}

export function readTransferPauses(
  database: SqliteDatabase,
  factory: string,
  after: number,
): TransferPause[] {
  return database
    .prepare<[string, number, number], TransferPause>(`
      SELECT seq AS position, automation AS id, factory, NULL AS snapshot, NULL AS bytes, automation, by, at_ms AS atMs,
        until_ms AS untilMs
      FROM pauses WHERE factory = ? AND seq > ? ORDER BY seq LIMIT ?`)
    .all(factory, after, rowsPerPageMax);
}

/** Appends pauses in one transaction. */
export function writeTransferPauses(database: SqliteDatabase, rows: readonly TransferPause[]): void {
  const insert = database.prepare<[TransferPause]>(`
    INSERT INTO pauses (factory, automation, by, at_ms, until_ms) VALUES (@factory, @automation, @by, @atMs, @untilMs)`);
  database.transact(() => {
    for (const row of rows) insert.run(row);
  });
}

import type pg from 'pg';

/** A change of a run's state, as the database committed it. */
export interface RunEvent {
  readonly run: string;
  /** The `application_name` of the connection, which is the name of the replica. */
  readonly replica: string;
  readonly atMs: number;
  readonly kind: 'claimed' | 'queued' | 'finished';
}

type Query = (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

/** Makes the database write down each change of a run, in the transaction that makes it. */
export async function recordHistory(query: Query): Promise<void> {
  await query(`
    CREATE SCHEMA faults;
    CREATE TABLE faults.history (
      position bigint GENERATED ALWAYS AS IDENTITY,
      run text NOT NULL,
      replica text NOT NULL DEFAULT current_setting('application_name'),
      at_ms float8 NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000,
      state text NOT NULL
    );
    CREATE FUNCTION faults.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO faults.history (run, state) VALUES (NEW.id, NEW.state);
      RETURN NULL;
    END $$;
    CREATE TRIGGER history AFTER UPDATE OF state ON hookmill.runs FOR EACH ROW EXECUTE FUNCTION faults.note();`);
}

export async function readHistory(query: Query): Promise<RunEvent[]> {
  const { rows } = await query(`
    SELECT run, replica, at_ms AS "atMs",
      CASE state WHEN 'running' THEN 'claimed' WHEN 'queued' THEN 'queued' ELSE 'finished' END AS kind
    FROM faults.history ORDER BY at_ms, position`);
  return rows;
}

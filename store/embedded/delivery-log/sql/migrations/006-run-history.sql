-- The attempts at the run, as a JSON array, the oldest first; an attempt without an end is being made. Null: none is known.
ALTER TABLE runs ADD COLUMN history TEXT;

-- The ends of runs by automation and hour, counted from 1970, and the last run of the hour.
CREATE TABLE run_tallies (
  factory TEXT NOT NULL,
  automation TEXT NOT NULL,
  hour INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  last_run TEXT NOT NULL,
  last_state TEXT NOT NULL,
  last_at_ms INTEGER NOT NULL,
  PRIMARY KEY (factory, automation, hour)
) STRICT, WITHOUT ROWID;
-- Retention.
CREATE INDEX run_tallies_by_age ON run_tallies (hour);

-- The time from the creation of runs to their success or failure, by hour. Each doubling of the time is divided into 8
-- buckets.
CREATE TABLE run_durations (
  factory TEXT NOT NULL,
  hour INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  PRIMARY KEY (factory, hour, bucket)
) STRICT, WITHOUT ROWID;
-- Retention.
CREATE INDEX run_durations_by_age ON run_durations (hour);

-- Inserting the end of a run into this view tallies it.
CREATE VIEW run_results AS
  SELECT factory, automation, id AS run_id, state, finished_at_ms AS at_ms, finished_at_ms - created_at_ms AS took_ms
  FROM runs WHERE state IN ('succeeded', 'failed', 'cancelled') AND finished_at_ms IS NOT NULL;
CREATE TRIGGER run_result_is_tallied INSTEAD OF INSERT ON run_results BEGIN
  INSERT INTO run_tallies VALUES (new.factory, new.automation, new.at_ms / 3600000, new.state = 'succeeded',
    new.state = 'failed', new.state = 'cancelled', new.run_id, new.state, new.at_ms)
  ON CONFLICT DO UPDATE SET
    succeeded = succeeded + excluded.succeeded,
    failed = failed + excluded.failed,
    cancelled = cancelled + excluded.cancelled,
    last_run = iif(excluded.last_at_ms >= last_at_ms, excluded.last_run, last_run),
    last_state = iif(excluded.last_at_ms >= last_at_ms, excluded.last_state, last_state),
    last_at_ms = max(last_at_ms, excluded.last_at_ms);
  INSERT INTO run_durations
  SELECT new.factory, new.at_ms / 3600000, CAST(ln(max(1, new.took_ms)) * 8 / ln(2) AS INTEGER), 1
  WHERE new.state <> 'cancelled'
  ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER run_end_is_tallied AFTER UPDATE OF state ON runs
WHEN new.state IN ('succeeded', 'failed', 'cancelled') AND old.state <> new.state
  AND new.finished_at_ms IS NOT NULL BEGIN
  INSERT INTO run_results (factory, automation, run_id, state, at_ms, took_ms)
  VALUES (new.factory, new.automation, new.id, new.state, new.finished_at_ms, new.finished_at_ms - new.created_at_ms);
END;

-- Runs that somebody cancels, and automations that somebody pauses. The indexes read the rows that are there, which is
-- short only because no version was released before this one.

-- Who asked to cancel the run, and when, as JSON. Until it has ended as cancelled, a daemon must end what it started.
ALTER TABLE hookmill.runs ADD COLUMN cancel text;
CREATE INDEX runs_to_cancel ON hookmill.runs (claimed_by)
  WHERE cancel IS NOT NULL AND state IN ('queued', 'parked', 'running');

-- Automations whose runs do not start. After until_ms, claims release the runs that wait, and then remove the row.
CREATE TABLE hookmill.pauses (
  seq bigint GENERATED ALWAYS AS IDENTITY,
  factory text NOT NULL,
  automation text NOT NULL,
  by text NOT NULL,
  at_ms bigint NOT NULL,
  until_ms bigint,
  PRIMARY KEY (factory, automation)
) WITH (fillfactor = 50);
CREATE INDEX runs_paused ON hookmill.runs (factory, automation) WHERE state = 'parked' AND waits_for = 'paused';

-- As before, and also releases the lanes of a run that is cancelled before it starts.
CREATE OR REPLACE FUNCTION hookmill.follow_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  given jsonb := NEW.flow;
BEGIN
  INSERT INTO hookmill.run_flows (run_id, seq, factory, automation, order_lane, holds, limit_lane, limit_runs,
    runs_per_hour, day, state, waits_for, dismissed, started_at_ms)
  VALUES (NEW.id, NEW.seq, NEW.factory, NEW.automation, given #>> '{order,lane}', (given #>> '{order,hold}')::boolean,
    given #>> '{limit,lane}', (given #>> '{limit,runs}')::integer, (given ->> 'runsPerHour')::integer,
    NEW.day, NEW.state, NEW.waits_for, NEW.dismissed, NEW.started_at_ms)
  -- A row that moves to another partition is inserted there.
  ON CONFLICT (run_id) DO UPDATE SET day = excluded.day, state = excluded.state, waits_for = excluded.waits_for,
    dismissed = excluded.dismissed, started_at_ms = excluded.started_at_ms,
    gathers = CASE WHEN excluded.state IN ('queued', 'parked') THEN run_flows.gathers END;
  IF TG_OP = 'UPDATE' AND (OLD.state = 'running' OR NEW.state IN ('failed', 'cancelled')) THEN
    PERFORM hookmill.release_lanes(given #>> '{order,lane}', given #>> '{limit,lane}');
  END IF;
  RETURN NULL;
END $$;

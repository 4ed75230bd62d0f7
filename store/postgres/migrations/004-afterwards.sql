-- When the command of a run had ended and its second command, afterwards, was due, as JSON: since when, and who approved
-- it. A run that waits for approval is parked, and waits for 'approval'.
ALTER TABLE hookmill.runs ADD COLUMN afterwards text;
ALTER TABLE hookmill.run_flows ADD COLUMN afterwards boolean;
CREATE INDEX runs_to_approve ON hookmill.runs (factory) WHERE state = 'parked' AND waits_for = 'approval';

-- The run that somebody let do its work again, by this one.
ALTER TABLE hookmill.runs ADD COLUMN again_of text;

-- As before, but the limit of runs per hour does not stop a run on its way to its second command.
CREATE OR REPLACE FUNCTION hookmill.find_obstacle(run hookmill.run_flows, now_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE
    WHEN run.order_lane IS NOT NULL AND run.seq > (
      SELECT seq FROM hookmill.run_flows
      WHERE order_lane = run.order_lane
        AND (state IN ('queued', 'parked', 'running') OR state = 'failed' AND holds AND dismissed IS NULL)
      ORDER BY seq LIMIT 1) THEN 'order'
    WHEN EXISTS (SELECT FROM hookmill.run_flows WHERE order_lane = run.order_lane AND state = 'running') THEN 'order'
    WHEN run.limit_runs <= (
      SELECT count(*) FROM hookmill.run_flows WHERE limit_lane = run.limit_lane AND state = 'running') THEN 'limit'
    WHEN run.afterwards IS NOT TRUE AND run.runs_per_hour <= (
      SELECT count(*) FROM hookmill.run_flows WHERE factory = run.factory AND automation = run.automation
        AND runs_per_hour IS NOT NULL AND run_id <> run.run_id
        AND started_at_ms > now_ms - 3600000 AND started_at_ms < now_ms + 3600000) THEN 'runsPerHour'
  END;
END $$;

-- As before, and also says whether the second command is due.
CREATE OR REPLACE FUNCTION hookmill.follow_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  given jsonb := NEW.flow;
BEGIN
  INSERT INTO hookmill.run_flows (run_id, seq, factory, automation, order_lane, holds, limit_lane, limit_runs,
    runs_per_hour, day, state, waits_for, dismissed, started_at_ms, afterwards)
  VALUES (NEW.id, NEW.seq, NEW.factory, NEW.automation, given #>> '{order,lane}', (given #>> '{order,hold}')::boolean,
    given #>> '{limit,lane}', (given #>> '{limit,runs}')::integer, (given ->> 'runsPerHour')::integer,
    NEW.day, NEW.state, NEW.waits_for, NEW.dismissed, NEW.started_at_ms, NEW.afterwards IS NOT NULL)
  -- A row that moves to another partition is inserted there.
  ON CONFLICT (run_id) DO UPDATE SET day = excluded.day, state = excluded.state, waits_for = excluded.waits_for,
    dismissed = excluded.dismissed, started_at_ms = excluded.started_at_ms, afterwards = excluded.afterwards,
    gathers = CASE WHEN excluded.state IN ('queued', 'parked') THEN run_flows.gathers END;
  IF TG_OP = 'UPDATE' AND (OLD.state = 'running' OR NEW.state IN ('failed', 'cancelled')) THEN
    PERFORM hookmill.release_lanes(given #>> '{order,lane}', given #>> '{limit,lane}');
  END IF;
  RETURN NULL;
END $$;

-- As before, but a run keeps what its first command reported.
CREATE OR REPLACE FUNCTION hookmill.decide_runs(ids text[], claimer text, now_ms bigint, stop_reason text)
RETURNS SETOF hookmill.runs LANGUAGE plpgsql AS $$
DECLARE
  own hookmill.run_flows;
  obstacle text;
BEGIN
  PERFORM hookmill.lock_lanes(29401485, ARRAY(
    SELECT unnest(ARRAY[order_lane, limit_lane]) FROM hookmill.run_flows WHERE run_id = ANY (ids)));
  FOR own IN
    SELECT run_flows.* FROM unnest(ids) WITH ORDINALITY AS due (id, position)
      JOIN hookmill.run_flows ON run_id = due.id ORDER BY position
  LOOP
    obstacle := hookmill.find_obstacle(own, now_ms);
    IF obstacle IS NULL THEN
      RETURN QUERY UPDATE hookmill.runs SET state = 'running', attempts = attempts + 1, claims = claims + 1,
        claimed_by = claimer, started_at_ms = now_ms, finished_at_ms = NULL, waits_until_ms = NULL,
        report = CASE WHEN afterwards IS NOT NULL THEN report END,
        waits_for = NULL WHERE day = own.day AND id = own.run_id RETURNING runs.*;
    ELSIF obstacle = 'runsPerHour' THEN
      RETURN QUERY UPDATE hookmill.runs SET state = 'failed', finished_at_ms = now_ms, error = stop_reason,
        stopped = true, waits_for = NULL WHERE day = own.day AND id = own.run_id RETURNING runs.*;
    ELSE
      UPDATE hookmill.runs SET state = 'parked', waits_for = obstacle WHERE day = own.day AND id = own.run_id;
    END IF;
    -- A run that the limit does not stop lets claims look at the next one of its lane: there may be more places.
    IF obstacle IS DISTINCT FROM 'limit' THEN
      PERFORM hookmill.release_lanes(NULL, own.limit_lane);
    END IF;
  END LOOP;
END $$;

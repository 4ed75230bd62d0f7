-- The attempts at the run, as a JSON array, the oldest first; an attempt without an end is being made. Null: none is known.
ALTER TABLE hookmill.runs ADD COLUMN history text;

-- Adds an attempt that begins, and forgets the oldest one of too many.
CREATE FUNCTION hookmill.begin_attempt(history text, attempt integer, at_ms bigint, attempts_max integer) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN (CASE WHEN jsonb_array_length(history::jsonb) >= attempts_max THEN history::jsonb - 0
    ELSE coalesce(history::jsonb, '[]') END
  || jsonb_build_object('attempt', attempt, 'startedAtMs', at_ms))::text;

-- Ends the last attempt, if that is being made.
CREATE FUNCTION hookmill.end_attempt(history text, at_ms bigint, error text) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN history::jsonb -> -1 ? 'startedAtMs' AND NOT history::jsonb -> -1 ? 'endedAtMs'
  THEN jsonb_set(history::jsonb, '{-1}', history::jsonb -> -1 || jsonb_build_object('endedAtMs', at_ms)
    || CASE WHEN error IS NULL THEN '{}' ELSE jsonb_build_object('error', error) END)::text
  ELSE history END;

-- Forgets the last attempt, if that is being made: the claim was none.
CREATE FUNCTION hookmill.forget_attempt(history text) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN history::jsonb -> -1 ? 'endedAtMs' THEN history
  ELSE nullif((history::jsonb - -1)::text, '[]') END;

-- As decide_runs, but also notes the attempts that begin.
CREATE FUNCTION hookmill.decide_runs_2(ids text[], claimer text, now_ms bigint, stop_reason text, attempts_max integer)
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
        history = hookmill.begin_attempt(history, attempts + 1, now_ms, attempts_max),
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

-- The ends of runs by automation and hour, counted from 1970, and the last run of the hour.
CREATE TABLE hookmill.run_tallies (
  factory text NOT NULL,
  automation text NOT NULL,
  hour bigint NOT NULL,
  succeeded bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  last_run text NOT NULL,
  last_state text NOT NULL,
  last_at_ms bigint NOT NULL,
  PRIMARY KEY (factory, automation, hour)
) WITH (fillfactor = 80);
-- Retention.
CREATE INDEX run_tallies_by_age ON hookmill.run_tallies (hour);

-- The time from the creation of runs to their success or failure, by hour. Each doubling of the time is divided into 8
-- buckets.
CREATE TABLE hookmill.run_durations (
  factory text NOT NULL,
  hour bigint NOT NULL,
  bucket integer NOT NULL,
  runs bigint NOT NULL,
  PRIMARY KEY (factory, hour, bucket)
) WITH (fillfactor = 80);
-- Retention.
CREATE INDEX run_durations_by_age ON hookmill.run_durations (hour);

-- The ends of runs that are not tallied yet. So no two runs that end at the same time wait for the row of their hour.
CREATE TABLE hookmill.run_results (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  factory text NOT NULL,
  automation text NOT NULL,
  run_id text NOT NULL,
  state text NOT NULL,
  at_ms bigint NOT NULL,
  took_ms bigint NOT NULL
);
-- Readers add them up beside the tallies.
CREATE INDEX run_results_by_factory ON hookmill.run_results (factory);
CREATE FUNCTION hookmill.note_result() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hookmill.run_results (factory, automation, run_id, state, at_ms, took_ms)
  VALUES (NEW.factory, NEW.automation, NEW.id, NEW.state, NEW.finished_at_ms, NEW.finished_at_ms - NEW.created_at_ms);
  RETURN NULL;
END $$;
-- Not when a row moves to another partition, which inserts it there.
CREATE TRIGGER run_end_is_tallied AFTER UPDATE OF state ON hookmill.runs FOR EACH ROW
  WHEN (NEW.state IN ('succeeded', 'failed', 'cancelled') AND OLD.state <> NEW.state
    AND NEW.finished_at_ms IS NOT NULL)
  EXECUTE FUNCTION hookmill.note_result();

CREATE FUNCTION hookmill.duration_bucket(took_ms bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN floor(ln(greatest(1, took_ms)::float8) * 8 / ln(2::float8))::integer;

-- Tallies the ends that are not tallied yet, up to a number. Only one transaction at a time does, so that no two lock the
-- same rows in another order. Returns how many there were.
CREATE FUNCTION hookmill.tally_results(rows_max integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  tallied bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(29401487, 0) THEN
    RETURN 0;
  END IF;
  WITH ended AS (
    DELETE FROM hookmill.run_results WHERE seq IN (SELECT seq FROM hookmill.run_results ORDER BY seq LIMIT rows_max)
    RETURNING *
  ), tallies AS (
    INSERT INTO hookmill.run_tallies AS known
    SELECT factory, automation, at_ms / 3600000, count(*) FILTER (WHERE state = 'succeeded'),
      count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE state = 'cancelled'),
      (array_agg(run_id ORDER BY at_ms DESC, seq DESC))[1], (array_agg(state ORDER BY at_ms DESC, seq DESC))[1], max(at_ms)
    FROM ended GROUP BY 1, 2, 3
    ON CONFLICT (factory, automation, hour) DO UPDATE SET
      succeeded = known.succeeded + excluded.succeeded,
      failed = known.failed + excluded.failed,
      cancelled = known.cancelled + excluded.cancelled,
      last_run = CASE WHEN excluded.last_at_ms >= known.last_at_ms THEN excluded.last_run ELSE known.last_run END,
      last_state = CASE WHEN excluded.last_at_ms >= known.last_at_ms THEN excluded.last_state ELSE known.last_state END,
      last_at_ms = greatest(known.last_at_ms, excluded.last_at_ms)
  ), durations AS (
    INSERT INTO hookmill.run_durations AS known
    SELECT factory, at_ms / 3600000, hookmill.duration_bucket(took_ms), count(*)
    FROM ended WHERE state <> 'cancelled' GROUP BY 1, 2, 3
    ON CONFLICT (factory, hour, bucket) DO UPDATE SET runs = known.runs + excluded.runs
  )
  SELECT count(*) INTO tallied FROM ended;
  RETURN tallied;
END $$;

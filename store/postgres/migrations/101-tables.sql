-- The tables and functions of a store in PostgreSQL. Times (`_ms`) are in ms since 1970, by the clock of a daemon; a
-- timestamptz is by the clock of the database. Days, hours and minutes are counted from 1970. `seq` is the order of
-- commits.


-- What a home has in files.

-- Applied states, team secrets, API tokens, reconcile statuses and alerts, each as the JSON text that a home has in a
-- file.
CREATE TABLE hookmill.documents (
  kind text NOT NULL,
  factory text NOT NULL,
  version bigint NOT NULL,
  json text NOT NULL,
  PRIMARY KEY (kind, factory)
);

-- The audit log. An entry without a factory is about all of them.
CREATE TABLE hookmill.audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  factory text,
  entry text NOT NULL
);

-- Sign-ins to the dashboard.
CREATE TABLE hookmill.sessions (
  id_digest text PRIMARY KEY,
  -- The digest of the API token, or of the person's issuer and subject.
  owner_sha256 text NOT NULL,
  host text NOT NULL,
  until timestamptz NOT NULL,
  -- The person whose session it is, as JSON. Without one, an API token began the session.
  person text,
  -- Where and when somebody signed in, and when they last used the session.
  address text NOT NULL,
  began timestamptz NOT NULL DEFAULT now(),
  used timestamptz NOT NULL DEFAULT now()
);

-- The output of runs, so that every replica can show it: one row for each attempt.
CREATE TABLE hookmill.run_outputs (
  run_id text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  day integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (run_id, seq)
);
CREATE INDEX run_outputs_by_day ON hookmill.run_outputs (day);


-- Deliveries.

-- The automations that were applied when a delivery was evaluated: few rows, many references.
CREATE TABLE hookmill.snapshots (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest text NOT NULL UNIQUE,
  json text NOT NULL,
  -- The last day on which a delivery or a run referred to it.
  used_day integer NOT NULL
);

-- The rule that no identity and no signed content is accepted twice. It contains no time, and no partition can hold
-- a second one. The two digests are SHA-256 over the webhook's UID and what identifies the delivery.
CREATE TABLE hookmill.accepted (
  identity bytea NOT NULL,
  content bytea,
  delivery_id text NOT NULL,
  day integer NOT NULL
);
CREATE UNIQUE INDEX accepted_by_identity ON hookmill.accepted (identity);
CREATE UNIQUE INDEX accepted_by_content ON hookmill.accepted (content) WHERE content IS NOT NULL;
CREATE INDEX accepted_by_day ON hookmill.accepted (day);
-- A day's rows are deleted in small steps, so little is dead at any time, measured against the whole table.
ALTER TABLE hookmill.accepted
  SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- One partition for each day since 1970, and partition 0 for what retention keeps longer than its day.
CREATE SEQUENCE hookmill.delivery_seq CACHE 1;
CREATE TABLE hookmill.deliveries (
  day integer NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('hookmill.delivery_seq'),
  id text NOT NULL,
  factory text NOT NULL,
  webhook text NOT NULL,
  uid text NOT NULL,
  at_ms bigint NOT NULL,
  size integer NOT NULL,
  outcome text NOT NULL,
  identity text,
  identity_source text,
  content_digest text,
  authenticated_by text,
  reason text,
  duplicate_of text,
  snapshot bigint,
  headers text,
  -- How the body became the payload, as a JSON object; null if the body is JSON.
  form text,
  payload bytea,
  -- 'previous' if the value of the secret before the current one verified the delivery; null: the current one, or none.
  verified_with text
) PARTITION BY LIST (day);
CREATE UNIQUE INDEX deliveries_by_id ON hookmill.deliveries (id, day);
CREATE INDEX deliveries_by_factory ON hookmill.deliveries (factory, seq);
CREATE INDEX deliveries_by_age ON hookmill.deliveries (uid, at_ms, seq);
CREATE TABLE hookmill.deliveries_0 PARTITION OF hookmill.deliveries FOR VALUES IN (0);

-- Requests that have no row: one count for each webhook, minute, reason and detail.
CREATE TABLE hookmill.unlogged (
  seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  factory text NOT NULL,
  minute bigint NOT NULL,
  uid text NOT NULL,
  reason text NOT NULL,
  detail text NOT NULL,
  count bigint NOT NULL,
  last_at_ms bigint NOT NULL,
  PRIMARY KEY (factory, minute, uid, reason, detail)
) WITH (fillfactor = 50);
-- Retention.
CREATE INDEX unlogged_by_age ON hookmill.unlogged (minute);


-- Runs.

-- In the partition of the day of its delivery, so that both are dropped together. `run-life.ts` decides how runs change.
CREATE SEQUENCE hookmill.run_seq CACHE 1;
CREATE TABLE hookmill.runs (
  day integer NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('hookmill.run_seq'),
  id text NOT NULL,
  delivery_id text NOT NULL,
  factory text NOT NULL,
  webhook text NOT NULL,
  automation text NOT NULL,
  replay boolean NOT NULL,
  snapshot bigint,
  state text NOT NULL DEFAULT 'queued',
  attempts integer NOT NULL DEFAULT 0,
  not_before_ms bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  started_at_ms bigint,
  finished_at_ms bigint,
  -- The daemon that has the run, and whether it does so to attempt it, to attempt it 'alone', or to 'cancel' it.
  claimed_by text,
  claimed_for text,
  error text,
  -- The number of all claims of the run: the fencing token of its attempt.
  claims bigint NOT NULL DEFAULT 0,
  -- The time until which a running run waits for its receiver, under no daemon; and the receiver's last report, JSON.
  waits_until_ms bigint,
  report text,
  -- The lanes, limits and bursts of the run, as JSON; null for most runs.
  flow text,
  -- The reason why a queued run does not start: 'deliveries'; or 'order', 'limit', 'paused' or 'approval', if its state is
  -- 'parked' instead.
  waits_for text,
  -- The number of deliveries that it has gathered.
  delivery_count integer,
  -- Three flags: the run failed because runs_per_hour was reached; an operator gave it up; somebody started it by hand.
  stopped boolean,
  dismissed boolean,
  manual boolean,
  -- Who asked to cancel the run, and when, as JSON. Until it has ended as cancelled, a daemon must end what it started.
  cancel text,
  -- When the command of a run had ended and its second command, afterwards, was due, as JSON: since when, and who approved.
  afterwards text,
  -- The run that somebody let do its work again, by this one.
  again_of text,
  -- The attempts at the run, as a JSON array, the oldest first; one without an end is being made. Null: none is known.
  history text,
  -- How many attempts in a row a daemon did not survive, as JSON.
  interrupted text
) PARTITION BY LIST (day);
CREATE UNIQUE INDEX runs_by_id ON hookmill.runs (id, day);
CREATE INDEX runs_by_delivery ON hookmill.runs (delivery_id);
CREATE INDEX runs_by_factory ON hookmill.runs (factory, seq);
CREATE INDEX runs_queued ON hookmill.runs ((coalesce(flow::jsonb ->> 'runner', 'default')), not_before_ms, seq)
  WHERE state = 'queued';
CREATE INDEX runs_interrupted ON hookmill.runs (not_before_ms) WHERE state = 'queued' AND interrupted IS NOT NULL;
CREATE INDEX runs_to_cancel ON hookmill.runs (claimed_by, not_before_ms)
  WHERE cancel IS NOT NULL AND state IN ('queued', 'parked', 'running');
CREATE INDEX runs_paused ON hookmill.runs (factory, automation) WHERE state = 'parked' AND waits_for = 'paused';
CREATE INDEX runs_to_approve ON hookmill.runs (factory) WHERE state = 'parked' AND waits_for = 'approval';
CREATE INDEX runs_running ON hookmill.runs (claimed_by) WHERE state = 'running';
CREATE TABLE hookmill.runs_0 PARTITION OF hookmill.runs FOR VALUES IN (0);

-- A row for each run that has a flow, kept by a trigger. Lanes are decided in this table, because runs without a flow,
-- which are most, then need no index for them.
CREATE TABLE hookmill.run_flows (
  run_id text PRIMARY KEY,
  seq bigint NOT NULL,
  factory text NOT NULL,
  automation text NOT NULL,
  order_lane text,
  holds boolean,
  limit_lane text,
  limit_runs integer,
  runs_per_hour integer,
  -- The same as in the run's row.
  day integer NOT NULL,
  state text NOT NULL,
  waits_for text,
  dismissed boolean,
  started_at_ms bigint,
  afterwards boolean,
  -- The burst lane whose deliveries a queued run still gathers, and the bytes that it has gathered.
  gathers text,
  delivery_bytes bigint
) WITH (fillfactor = 70);
CREATE INDEX run_flows_by_day ON hookmill.run_flows (day);
-- The runs that keep later ones of their order lane waiting.
CREATE INDEX run_flows_in_order ON hookmill.run_flows (order_lane, seq) WHERE order_lane IS NOT NULL
  AND (state IN ('queued', 'parked', 'running') OR state = 'failed' AND holds AND dismissed IS NULL);
CREATE INDEX run_flows_running_in_order ON hookmill.run_flows (order_lane)
  WHERE order_lane IS NOT NULL AND state = 'running';
CREATE INDEX run_flows_running_in_limit ON hookmill.run_flows (limit_lane)
  WHERE limit_lane IS NOT NULL AND state = 'running';
CREATE INDEX run_flows_parked ON hookmill.run_flows (waits_for, limit_lane, seq) WHERE state = 'parked';
CREATE INDEX run_flows_started ON hookmill.run_flows (factory, automation, started_at_ms)
  WHERE runs_per_hour IS NOT NULL AND started_at_ms IS NOT NULL;
CREATE UNIQUE INDEX run_flows_gathering ON hookmill.run_flows (gathers) WHERE gathers IS NOT NULL;

-- All deliveries of runs that gather them. The day is the delivery's.
CREATE TABLE hookmill.run_deliveries (
  run_id text NOT NULL,
  delivery_id text NOT NULL,
  day integer NOT NULL,
  PRIMARY KEY (run_id, delivery_id)
);
CREATE INDEX run_deliveries_by_delivery ON hookmill.run_deliveries (delivery_id);
CREATE INDEX run_deliveries_by_day ON hookmill.run_deliveries (day);

-- The automations with runs that have failed since somebody last looked. Each failure has a seq of its own.
CREATE SEQUENCE hookmill.failure_seq CACHE 1;
CREATE TABLE hookmill.failures (
  factory text NOT NULL,
  automation text NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (factory, automation)
) WITH (fillfactor = 50);

-- The ends of runs of which receivers are to be told, because their automation says so (notify).
CREATE TABLE hookmill.run_ends (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text NOT NULL,
  state text NOT NULL
);

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


-- The health of webhooks.

-- The deliveries of each webhook by hours, added up after their commits.
CREATE TABLE hookmill.tallies (
  factory text NOT NULL,
  uid text NOT NULL,
  hour bigint NOT NULL,
  webhook text NOT NULL,
  accepted bigint NOT NULL,
  duplicates bigint NOT NULL,
  rejected_auth bigint NOT NULL,
  rejected_json bigint NOT NULL,
  rejected_large bigint NOT NULL,
  handshakes bigint NOT NULL,
  first_good_ms bigint,
  last_good_ms bigint,
  longest_gap_ms bigint NOT NULL,
  rejected_in_row bigint NOT NULL,
  last_rejected_ms bigint,
  PRIMARY KEY (factory, uid, hour)
) WITH (fillfactor = 80);
-- Retention.
CREATE INDEX tallies_by_age ON hookmill.tallies (hour);

-- The last row that was tallied, and when webhooks were last looked at. One row.
CREATE TABLE hookmill.tally_position (
  key integer PRIMARY KEY CHECK (key = 1),
  seq bigint NOT NULL,
  day integer NOT NULL,
  seen_ms bigint NOT NULL,
  listening_since_ms bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO hookmill.tally_position VALUES (1, 0, 0, 0, 0);

-- The last judgement of each webhook that got a delivery, and when it must be judged again.
CREATE TABLE hookmill.webhook_health (
  uid text PRIMARY KEY,
  factory text NOT NULL,
  webhook text NOT NULL,
  state text NOT NULL,
  from_ms bigint NOT NULL,
  due_ms bigint NOT NULL,
  -- Since when it is quiet or failing.
  since_ms bigint
) WITH (fillfactor = 50);
CREATE INDEX webhook_health_by_factory ON hookmill.webhook_health (factory);
CREATE INDEX webhook_health_due ON hookmill.webhook_health (due_ms);
CREATE INDEX webhook_health_by_state ON hookmill.webhook_health (state);


-- The daemons that share the database.

-- A run belongs to the daemon that claimed it while its lease lasts, by the clock of the database.
CREATE TABLE hookmill.replicas (
  id text PRIMARY KEY,
  lease_until timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- The runners that each daemon offers, as JSON; they count as long as its lease.
CREATE TABLE hookmill.offered_runners (
  daemon_id text PRIMARY KEY,
  runners text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- Work that the daemons take turns at: the reconciles of a factory, retention.
CREATE TABLE hookmill.turns (
  name text PRIMARY KEY,
  holder text NOT NULL,
  lease_until timestamptz NOT NULL,
  ended_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Deliveries in the current minute. Not logged: after a crash of the server, the minute counts from 0.
CREATE UNLOGGED TABLE hookmill.rate_windows (
  key text PRIMARY KEY,
  until timestamptz NOT NULL,
  count bigint NOT NULL
) WITH (fillfactor = 50);

-- A row that is written to see whether the database accepts writes.
CREATE TABLE hookmill.probe (at timestamptz NOT NULL) WITH (fillfactor = 10);
INSERT INTO hookmill.probe VALUES (now());


-- Functions: the values of columns.

-- The digest by which an identity or a signed content is recognised. `kind` is the identity's source, or 'content'.
CREATE FUNCTION hookmill.accepted_key(uid text, kind text, value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(uid || E'\n' || kind || E'\n' || value, 'UTF8'));

-- The day of a time. Day 0 is the partition of what retention keeps longer than its day.
CREATE FUNCTION hookmill.day_of(at_ms bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN greatest(1, at_ms / 86400000)::integer;


-- Functions: which runs may start.
--
-- Every change of a run's state is followed, whatever made it. Two kinds of locks serialise work on a lane: 29401485 to
-- decide about its runs and their ends, so that limits hold across replicas and no parked run is forgotten, and
-- 29401486 to record, so that `seq` is the order of commits. Recording takes no lock of the first kind. It can still
-- meet a claim in a circle of row locks, if it gathers for two runs of a limit lane: PostgreSQL ends one of the two
-- transactions, which is then done again.

-- Locks lanes. Many lanes share a lock, and locks are always taken in the same order.
CREATE FUNCTION hookmill.lock_lanes(kind integer, lanes text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(kind, part) FROM (
    SELECT DISTINCT hashtext(lane) & 255 AS part FROM unnest(lanes) AS lane
    WHERE lane IS NOT NULL ORDER BY part) AS parts;
END $$;

-- The reason why a run may not start now; null if it may. A started run counts for an hour, also if the clock was set
-- back since.
CREATE FUNCTION hookmill.find_obstacle(run hookmill.run_flows, now_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
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

-- Lets claims look again at a run. Retention may have just moved it to partition 0.
CREATE FUNCTION hookmill.release_run(run_id text, day integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE hookmill.runs SET state = 'queued', waits_for = NULL
  WHERE runs.day IN (0, release_run.day) AND id = run_id AND state = 'parked';
END $$;

-- Lets claims look again at the first run of an order lane, and at the first one that waits for a limit lane.
CREATE FUNCTION hookmill.release_lanes(order_lane text, limit_lane text) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM hookmill.lock_lanes(29401485, ARRAY[release_lanes.order_lane, release_lanes.limit_lane]);
  PERFORM hookmill.release_run(run_id, day) FROM (
    SELECT run_id, day, waits_for FROM hookmill.run_flows
    WHERE order_lane = release_lanes.order_lane
      AND (state IN ('queued', 'parked', 'running') OR state = 'failed' AND holds AND dismissed IS NULL)
    ORDER BY seq LIMIT 1) AS first
  WHERE waits_for = 'order';
  PERFORM hookmill.release_run(run_id, day) FROM (
    SELECT run_id, day FROM hookmill.run_flows
    WHERE limit_lane = release_lanes.limit_lane AND waits_for = 'limit' AND state = 'parked'
    ORDER BY seq LIMIT 1) AS next;
END $$;

-- Lets claims look again at the first runs of all lanes, after runs were removed or restored.
CREATE FUNCTION hookmill.release_all_lanes() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM hookmill.release_run(run_id, day) FROM (
    SELECT DISTINCT ON (order_lane) run_id, day, waits_for FROM hookmill.run_flows
    WHERE order_lane IS NOT NULL
      AND (state IN ('queued', 'parked', 'running') OR state = 'failed' AND holds AND dismissed IS NULL)
    ORDER BY order_lane, seq) AS first
  WHERE waits_for = 'order';
  PERFORM hookmill.release_run(run_id, day) FROM (
    SELECT DISTINCT ON (limit_lane) run_id, day FROM hookmill.run_flows
    WHERE waits_for = 'limit' AND state = 'parked' ORDER BY limit_lane, seq) AS next;
END $$;

-- Keeps the run's row in run_flows, and releases its lanes when it ends.
CREATE FUNCTION hookmill.follow_run() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER run_follows AFTER INSERT OR UPDATE ON hookmill.runs
  FOR EACH ROW WHEN (NEW.flow IS NOT NULL) EXECUTE FUNCTION hookmill.follow_run();

-- Decides which of these runs may start, one after the other: one that starts counts for those after it. Their rows are
-- locked, and change only afterwards.
CREATE FUNCTION hookmill.decide_runs(ids text[], now_ms bigint) RETURNS TABLE (id text, obstacle text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  own hookmill.run_flows;
BEGIN
  PERFORM hookmill.lock_lanes(29401485, ARRAY(
    SELECT unnest(ARRAY[order_lane, limit_lane]) FROM hookmill.run_flows WHERE run_id = ANY (ids)));
  FOR own IN
    SELECT run_flows.* FROM unnest(ids) WITH ORDINALITY AS due (id, position)
      JOIN hookmill.run_flows ON run_id = due.id ORDER BY position
  LOOP
    decide_runs.id := own.run_id;
    decide_runs.obstacle := hookmill.find_obstacle(own, now_ms);
    IF decide_runs.obstacle IS NULL THEN
      UPDATE hookmill.run_flows SET state = 'running', started_at_ms = now_ms WHERE run_id = own.run_id;
    END IF;
    -- A run that the limit does not stop lets claims look at the next one of its lane: there may be more places.
    IF decide_runs.obstacle IS DISTINCT FROM 'limit' THEN
      PERFORM hookmill.release_lanes(NULL, own.limit_lane);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;


-- Functions: the ends of runs.

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


-- Functions: recording a batch of deliveries, in one round trip. Each returns the duplicates with their originals.

-- Records a batch of which some deliveries may have been accepted, or recorded, before. Sent again after a lost
-- connection, the same batch changes nothing and returns the same. Of deliveries with the same identity or content, any
-- one may be accepted: the caller sends the first one before the others. Keys are inserted in their order, so that two
-- replicas do not wait for each other.
CREATE FUNCTION hookmill.record_repeats(
  ids text[], factories text[], webhooks text[], uids text[], at_mss bigint[], sizes integer[], outcomes text[],
  identities text[], identity_sources text[], content_digests text[],
  body_identities text[], authenticated_bys text[], reasons text[],
  snapshot_keys bigint[], headers_jsons text[], forms text[], payload_lengths integer[], payloads bytea,
  run_ids text[], run_delivery_ids text[], run_automations text[]
) RETURNS TABLE (duplicate text, original text) LANGUAGE plpgsql AS $$
DECLARE
  fresh text[];
  conflicting text[] := '{}';
  originals text[] := '{}';
BEGIN
  WITH inserted AS (
    INSERT INTO hookmill.accepted (identity, content, delivery_id, day)
    SELECT hookmill.accepted_key(uid, identity_source, d.identity),
      hookmill.accepted_key(uid, 'content', content_digest), id, hookmill.day_of(at_ms)
    FROM unnest(ids, uids, at_mss, outcomes, identities, identity_sources, content_digests, body_identities)
      AS d (id, uid, at_ms, outcome, identity, identity_source, content_digest, body_identity)
    WHERE outcome = 'Accepted' AND NOT EXISTS (
      SELECT FROM hookmill.accepted WHERE accepted.identity = hookmill.accepted_key(uid, 'body', body_identity))
    ORDER BY 1
    ON CONFLICT DO NOTHING
    RETURNING delivery_id
  )
  SELECT coalesce(array_agg(delivery_id), '{}') INTO fresh FROM inserted;

  IF cardinality(fresh) < cardinality(array_positions(outcomes, 'Accepted')) THEN
    SELECT array_agg(id), array_agg(coalesce(by_identity.delivery_id, by_content.delivery_id,
      by_body.delivery_id))
    INTO conflicting, originals
    FROM unnest(ids, uids, outcomes, identities, identity_sources, content_digests, body_identities)
      AS d (id, uid, outcome, identity, identity_source, content_digest, body_identity)
      LEFT JOIN hookmill.accepted AS by_identity
        ON by_identity.identity = hookmill.accepted_key(uid, identity_source, d.identity)
      LEFT JOIN hookmill.accepted AS by_content
        ON by_content.content = hookmill.accepted_key(uid, 'content', content_digest)
      LEFT JOIN hookmill.accepted AS by_body
        ON by_body.identity = hookmill.accepted_key(uid, 'body', body_identity)
    WHERE outcome = 'Accepted' AND id <> ALL (fresh);
    -- Retention has just removed an original: the caller sends the batch again.
    IF array_position(originals, NULL) IS NOT NULL THEN
      RAISE EXCEPTION 'an original was removed' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;

  INSERT INTO hookmill.deliveries (day, id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source,
    content_digest, authenticated_by, reason, duplicate_of, snapshot, headers, form, payload)
  SELECT hookmill.day_of(at_ms), d.id, factory, webhook, uid, at_ms, size,
    CASE WHEN repeated.id IS NULL THEN outcome ELSE 'Duplicate' END, identity, identity_source,
    CASE WHEN repeated.id IS NULL THEN content_digest END, authenticated_by, reason, repeated.original, snapshot,
    CASE WHEN repeated.id IS NULL THEN headers END, CASE WHEN repeated.id IS NULL THEN form END,
    CASE WHEN repeated.id IS NULL AND outcome = 'Accepted'
      THEN substring(payloads FROM (payload_end - payload_length + 1)::integer FOR payload_length) END
  FROM (
    SELECT *, sum(payload_length) OVER (ORDER BY position) AS payload_end
    FROM unnest(ids, factories, webhooks, uids, at_mss, sizes, outcomes, identities, identity_sources,
        content_digests, authenticated_bys, reasons, snapshot_keys, headers_jsons, forms, payload_lengths)
      WITH ORDINALITY AS given (id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source,
        content_digest, authenticated_by, reason, snapshot, headers, form, payload_length, position)
  ) AS d
    LEFT JOIN unnest(conflicting, originals) AS repeated (id, original)
      ON repeated.id = d.id AND repeated.original <> d.id
  ORDER BY position
  ON CONFLICT (id, day) DO NOTHING;

  INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, snapshot, not_before_ms,
    created_at_ms)
  SELECT hookmill.day_of(at_ms), run_id, d.id, factory, webhook, automation, false, snapshot, at_ms, at_ms
  FROM unnest(run_ids, run_delivery_ids, run_automations) WITH ORDINALITY
      AS r (run_id, delivery_id, automation, position)
    JOIN unnest(ids, factories, webhooks, at_mss, snapshot_keys) AS d (id, factory, webhook, at_ms, snapshot)
      ON d.id = r.delivery_id
  WHERE NOT EXISTS (
    SELECT FROM unnest(conflicting, originals) AS repeated (id, original)
    WHERE repeated.id = d.id AND repeated.original <> d.id)
  ORDER BY position
  ON CONFLICT (id, day) DO NOTHING;

  RETURN QUERY SELECT * FROM unnest(conflicting, originals) AS repeated (id, original)
    WHERE repeated.original <> repeated.id;
END $$;

-- Records a batch in which nothing was accepted before, as usual, with less work: no row can be a duplicate, or have
-- been recorded before, so none is compared with the rows that are there. Leaves other batches to record_repeats, which then
-- finds the identities that this function has just inserted.
CREATE FUNCTION hookmill.record_batch(
  ids text[], factories text[], webhooks text[], uids text[], at_mss bigint[], sizes integer[], outcomes text[],
  identities text[], identity_sources text[], content_digests text[],
  body_identities text[], authenticated_bys text[], reasons text[],
  snapshot_keys bigint[], headers_jsons text[], forms text[], payload_starts integer[], payload_lengths integer[], payloads bytea,
  run_ids text[], run_delivery_ids text[], run_automations text[], known_keys bigint[], known_digests text[]
) RETURNS TABLE (duplicate text, original text) LANGUAGE plpgsql AS $$
DECLARE
  accepted_count integer := cardinality(array_positions(outcomes, 'Accepted'));
  fresh_count integer;
BEGIN
  -- A server that was restored, or has taken over, may not have the snapshots: the caller stores them and sends again.
  IF cardinality(known_keys) > (
    SELECT count(*) FROM unnest(known_keys, known_digests) AS known (key, digest)
      JOIN hookmill.snapshots ON snapshots.key = known.key AND snapshots.digest = known.digest)
  THEN
    RAISE EXCEPTION 'a snapshot is missing' USING ERRCODE = 'serialization_failure';
  END IF;

  -- The same digests as accepted_key makes, which PostgreSQL cannot inline.
  INSERT INTO hookmill.accepted (identity, content, delivery_id, day)
  SELECT sha256(convert_to(uid || E'\n' || identity_source || E'\n' || d.identity, 'UTF8')),
    sha256(convert_to(uid || E'\ncontent\n' || content_digest, 'UTF8')), id, hookmill.day_of(at_ms)
  FROM unnest(ids, uids, at_mss, outcomes, identities, identity_sources, content_digests, body_identities)
    AS d (id, uid, at_ms, outcome, identity, identity_source, content_digest, body_identity)
  WHERE outcome = 'Accepted' AND (body_identity IS NULL OR NOT EXISTS (
    SELECT FROM hookmill.accepted WHERE accepted.identity = hookmill.accepted_key(uid, 'body', body_identity)))
  ORDER BY 1
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS fresh_count = ROW_COUNT;

  IF accepted_count = 0 OR fresh_count < accepted_count THEN
    RETURN QUERY SELECT * FROM hookmill.record_repeats(ids, factories, webhooks, uids, at_mss, sizes, outcomes, identities,
      identity_sources, content_digests, body_identities, authenticated_bys, reasons, snapshot_keys, headers_jsons, forms,
      payload_lengths, payloads, run_ids, run_delivery_ids, run_automations);
    RETURN;
  END IF;

  INSERT INTO hookmill.deliveries (day, id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source,
    content_digest, authenticated_by, reason, snapshot, headers, form, payload)
  SELECT hookmill.day_of(at_ms), id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source,
    content_digest, authenticated_by, reason, snapshot, headers, form,
    CASE WHEN outcome = 'Accepted' THEN substring(payloads FROM payload_start + 1 FOR payload_length) END
  FROM unnest(ids, factories, webhooks, uids, at_mss, sizes, outcomes, identities, identity_sources, content_digests,
      authenticated_bys, reasons, snapshot_keys, headers_jsons, forms, payload_starts, payload_lengths)
    AS d (id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source, content_digest,
      authenticated_by, reason, snapshot, headers, form, payload_start, payload_length);

  IF cardinality(run_ids) > 0 THEN
    INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, snapshot, not_before_ms,
      created_at_ms)
    SELECT hookmill.day_of(at_ms), run_id, d.id, factory, webhook, automation, false, snapshot, at_ms, at_ms
    FROM unnest(run_ids, run_delivery_ids, run_automations) WITH ORDINALITY
        AS r (run_id, delivery_id, automation, position)
      JOIN unnest(ids, factories, webhooks, at_mss, snapshot_keys) AS d (id, factory, webhook, at_ms, snapshot)
        ON d.id = r.delivery_id
    ORDER BY position;
  END IF;
END $$;

-- Lets the run of a burst gather a delivery, or starts one that does. The lane is locked for recording. The bounds are
-- the most deliveries and bytes that a run gathers.
CREATE FUNCTION hookmill.gather(run hookmill.runs, burst jsonb, bytes bigint, bounds integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  gathering record;
  lane text := burst ->> 'lane';
  candidate hookmill.run_flows;
BEGIN
  -- A batch that is sent again.
  IF EXISTS (
    SELECT FROM hookmill.run_deliveries AS taken JOIN hookmill.run_flows USING (run_id)
    WHERE taken.delivery_id = run.delivery_id AND run_flows.automation = run.automation)
  THEN
    RETURN;
  END IF;
  SELECT * INTO candidate FROM hookmill.run_flows WHERE gathers = lane;
  -- Waits for a claim that is deciding about it. Retention may have just moved it to partition 0.
  PERFORM FROM hookmill.runs WHERE day IN (0, candidate.day) AND id = candidate.run_id FOR UPDATE;
  SELECT runs.day, runs.id, created_at_ms, runs.delivery_count, delivery_bytes + bytes <= bounds[2] AS fits
  INTO gathering
  FROM hookmill.run_flows JOIN hookmill.runs ON runs.id = run_id
  WHERE run_id = candidate.run_id AND gathers = lane AND runs.day IN (0, candidate.day);
  IF gathering.fits THEN
    UPDATE hookmill.runs SET day = run.day, delivery_id = run.delivery_id, webhook = run.webhook,
      snapshot = run.snapshot, state = 'queued', waits_for = 'deliveries', delivery_count = delivery_count + 1,
      not_before_ms = least(run.created_at_ms + (burst ->> 'forMs')::bigint,
        created_at_ms + (burst ->> 'atMostMs')::bigint)
    WHERE day = gathering.day AND id = gathering.id;
    UPDATE hookmill.run_flows SET delivery_bytes = delivery_bytes + bytes WHERE run_id = gathering.id;
    INSERT INTO hookmill.run_deliveries VALUES (gathering.id, run.delivery_id, run.day);
  END IF;
  IF NOT gathering.fits OR gathering.delivery_count + 1 = bounds[1] THEN
    UPDATE hookmill.run_flows SET gathers = NULL WHERE run_id = gathering.id;
    UPDATE hookmill.runs SET state = 'queued', waits_for = NULL, not_before_ms = least(not_before_ms, run.created_at_ms)
    WHERE day IN (gathering.day, run.day) AND id = gathering.id;
  END IF;
  IF gathering.fits IS NOT TRUE THEN
    INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, snapshot, created_at_ms,
      flow, waits_for, delivery_count, not_before_ms)
    VALUES (run.day, run.id, run.delivery_id, run.factory, run.webhook, run.automation, false, run.snapshot,
      run.created_at_ms, run.flow, 'deliveries', 1, run.created_at_ms + (burst ->> 'forMs')::bigint);
    UPDATE hookmill.run_flows SET gathers = lane, delivery_bytes = bytes WHERE run_id = run.id;
    INSERT INTO hookmill.run_deliveries VALUES (run.id, run.delivery_id, run.day);
  END IF;
END $$;

-- Records a batch in which runs have a flow: what record_batch does, and then those runs.
CREATE FUNCTION hookmill.record_flows(
  ids text[], factories text[], webhooks text[], uids text[], at_mss bigint[], sizes integer[], outcomes text[],
  identities text[], identity_sources text[], content_digests text[],
  body_identities text[], authenticated_bys text[], reasons text[],
  snapshot_keys bigint[], headers_jsons text[], forms text[], payload_starts integer[], payload_lengths integer[], payloads bytea,
  run_ids text[], run_delivery_ids text[], run_automations text[], known_keys bigint[], known_digests text[],
  flow_ids text[], flow_delivery_ids text[], flow_automations text[], flows text[],
  burst_bounds integer[]
) RETURNS TABLE (duplicate text, original text) LANGUAGE plpgsql AS $$
DECLARE
  repeated text[] := '{}';
  run hookmill.runs;
  bytes bigint;
BEGIN
  -- Before anything else is locked.
  PERFORM hookmill.lock_lanes(29401486, ARRAY(
    SELECT unnest(ARRAY[flow #>> '{order,lane}', flow #>> '{burst,lane}']) FROM unnest(flows::jsonb[]) AS flow));
  FOR duplicate, original IN
    SELECT * FROM hookmill.record_batch(ids, factories, webhooks, uids, at_mss, sizes, outcomes, identities,
      identity_sources, content_digests, body_identities, authenticated_bys, reasons, snapshot_keys, headers_jsons, forms,
      payload_starts, payload_lengths, payloads, run_ids, run_delivery_ids, run_automations, known_keys, known_digests)
  LOOP
    repeated := repeated || duplicate;
    RETURN NEXT;
  END LOOP;
  FOR run.id, run.automation, run.flow, run.day, run.delivery_id, run.factory, run.webhook, run.snapshot,
    run.created_at_ms, bytes IN
    SELECT run_id, r.automation, flow, hookmill.day_of(at_ms), d.id, d.factory, d.webhook, d.snapshot, at_ms, length
    FROM unnest(flow_ids, flow_delivery_ids, flow_automations, flows) WITH ORDINALITY
        AS r (run_id, delivery_id, automation, flow, position)
      JOIN unnest(ids, factories, webhooks, at_mss, snapshot_keys, payload_lengths)
        AS d (id, factory, webhook, at_ms, snapshot, length) ON d.id = r.delivery_id
    WHERE d.id <> ALL (repeated)
    ORDER BY position
  LOOP
    IF run.flow::jsonb ? 'burst' THEN
      PERFORM hookmill.gather(run, run.flow::jsonb -> 'burst', bytes, burst_bounds);
    ELSE
      INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, snapshot, not_before_ms,
        created_at_ms, flow)
      VALUES (run.day, run.id, run.delivery_id, run.factory, run.webhook, run.automation, false, run.snapshot,
        run.created_at_ms, run.created_at_ms, run.flow)
      ON CONFLICT (id, day) DO NOTHING;
    END IF;
  END LOOP;
END $$;

-- Records a batch in which previous values of secrets verified these deliveries: what record_flows does, and that.
CREATE FUNCTION hookmill.record_previous(
  previous_ids text[],
  ids text[], factories text[], webhooks text[], uids text[], at_mss bigint[], sizes integer[], outcomes text[],
  identities text[], identity_sources text[], content_digests text[],
  body_identities text[], authenticated_bys text[], reasons text[],
  snapshot_keys bigint[], headers_jsons text[], forms text[], payload_starts integer[], payload_lengths integer[], payloads bytea,
  run_ids text[], run_delivery_ids text[], run_automations text[], known_keys bigint[], known_digests text[],
  flow_ids text[], flow_delivery_ids text[], flow_automations text[], flows text[],
  burst_bounds integer[]
) RETURNS TABLE (duplicate text, original text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM hookmill.record_flows(ids, factories, webhooks, uids, at_mss, sizes, outcomes, identities,
    identity_sources, content_digests, body_identities, authenticated_bys, reasons, snapshot_keys, headers_jsons, forms,
    payload_starts, payload_lengths, payloads, run_ids, run_delivery_ids, run_automations, known_keys, known_digests,
    flow_ids, flow_delivery_ids, flow_automations, flows, burst_bounds);
  UPDATE hookmill.deliveries SET verified_with = 'previous'
  FROM unnest(ids, at_mss) AS d (id, at_ms)
  WHERE d.id = ANY (previous_ids) AND deliveries.id = d.id AND deliveries.day = hookmill.day_of(d.at_ms);
END $$;

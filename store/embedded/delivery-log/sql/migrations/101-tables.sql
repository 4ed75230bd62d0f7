-- The delivery log of a home, `deliveries.db`. Times (`_ms`) are in ms since 1970, and `seq` is the order of commits.
-- SQLite 3.38 and newer can read the file. Only hookmill may write to it.


-- Deliveries.

-- The automations that were applied when a delivery was evaluated, each state once: few rows, many references.
CREATE TABLE snapshots (
  key INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;

-- The number of deliveries and runs that refer to a snapshot, which is removed with the last of them.
CREATE TABLE snapshot_uses (
  snapshot INTEGER PRIMARY KEY REFERENCES snapshots,
  uses INTEGER NOT NULL
) STRICT;

-- The deliveries of a series have all of these columns alike. Few rows, which are never removed.
CREATE TABLE series (
  key INTEGER PRIMARY KEY,
  factory TEXT NOT NULL,
  webhook TEXT NOT NULL,
  uid TEXT NOT NULL,
  outcome TEXT NOT NULL,
  authenticated_by TEXT,
  identity_source TEXT,
  -- 'previous' if the value of the secret before the current one verified the deliveries; null: the current one, or none.
  verified_with TEXT
) STRICT;
CREATE INDEX series_by_factory ON series (factory);
CREATE INDEX series_by_uid ON series (uid);

-- One row for each delivery: small rows and few indexes, because each delivery waits until they are written.
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  series INTEGER NOT NULL REFERENCES series,
  at_ms INTEGER NOT NULL,
  size INTEGER NOT NULL,
  snapshot INTEGER,
  identity TEXT,
  -- Digests over the webhook's UID and the identity, or what a signature covers. Only accepted deliveries have them.
  identity_key BLOB,
  content_digest TEXT,
  content_key BLOB,
  reason TEXT,
  duplicate_of TEXT,
  -- The event headers, as a JSON object.
  headers TEXT,
  -- How the body became the payload, as a JSON object; null if the body is JSON.
  form TEXT,
  -- The body. It is last, because SQLite reads a row only as far as it needs.
  payload BLOB
) STRICT;
-- The rule that no identity and no signed content is accepted twice. It lives exactly as long as the row it accepted.
CREATE UNIQUE INDEX deliveries_by_identity ON deliveries (identity_key) WHERE identity_key IS NOT NULL;
CREATE UNIQUE INDEX deliveries_by_content ON deliveries (content_key) WHERE content_key IS NOT NULL;
-- Lists: the index ends with seq.
CREATE INDEX deliveries_by_series ON deliveries (series);
-- Counts and retention.
CREATE INDEX deliveries_by_age ON deliveries (series, at_ms);

-- Requests that have no row: one count for each webhook, minute, reason and detail.
CREATE TABLE unlogged (
  seq INTEGER PRIMARY KEY,
  factory TEXT NOT NULL,
  minute INTEGER NOT NULL,
  uid TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  count INTEGER NOT NULL,
  last_at_ms INTEGER NOT NULL,
  UNIQUE (factory, minute, uid, reason, detail)
) STRICT;
-- Retention.
CREATE INDEX unlogged_by_age ON unlogged (minute);


-- Runs.

-- `run-life.ts` decides how these columns change.
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  delivery INTEGER NOT NULL REFERENCES deliveries,
  factory TEXT NOT NULL,
  automation TEXT NOT NULL,
  replay INTEGER NOT NULL,
  snapshot INTEGER,
  state TEXT NOT NULL DEFAULT 'queued',
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before_ms INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  finished_at_ms INTEGER,
  -- The daemon that has the run, and whether it does so to attempt it, to attempt it 'alone', or to 'cancel' it.
  claimed_by TEXT,
  claimed_for TEXT,
  error TEXT,
  -- The number of all claims of the run: the fencing token of its attempt.
  claims INTEGER NOT NULL DEFAULT 0,
  -- The time until which a running run waits for its receiver, under no daemon; and the receiver's last report, JSON.
  waits_until_ms INTEGER,
  report TEXT,
  -- The lanes, limits and bursts of the run, as JSON, from which the next six columns are read; null for most runs.
  flow TEXT,
  order_lane TEXT AS (flow ->> '$.order.lane'),
  holds INTEGER AS (flow ->> '$.order.hold'),
  limit_lane TEXT AS (flow ->> '$.limit.lane'),
  limit_runs INTEGER AS (flow ->> '$.limit.runs'),
  runs_per_hour INTEGER AS (flow ->> '$.runsPerHour'),
  runner TEXT AS (coalesce(flow ->> '$.runner', 'default')),
  -- The reason why a due run waits: 'order', 'limit', 'paused' or 'approval'. Claims pass over it until that is over.
  parked TEXT,
  -- The burst lane whose deliveries a queued run still gathers, and what it has gathered.
  gathers TEXT,
  delivery_count INTEGER,
  delivery_bytes INTEGER,
  -- Three flags: the run failed because runs_per_hour was reached; an operator gave it up; somebody started it by hand.
  stopped INTEGER,
  dismissed INTEGER,
  manual INTEGER,
  -- Who asked to cancel the run, and when, as JSON. Until it has ended as cancelled, a daemon must end what it started.
  cancel TEXT,
  -- When the command of a run had ended and its second command, afterwards, was due, as JSON: since when, and who approved.
  afterwards TEXT,
  -- The run that somebody let do its work again, by this one.
  again_of TEXT,
  -- The attempts at the run, as a JSON array, the oldest first; one without an end is being made. Null: none is known.
  history TEXT,
  -- How many attempts in a row a daemon did not survive, as JSON.
  interrupted TEXT
) STRICT;
-- Lists: each index ends with seq.
CREATE INDEX runs_by_state ON runs (factory, state);
CREATE INDEX runs_by_automation ON runs (factory, automation, state);
CREATE INDEX runs_by_delivery ON runs (delivery);
-- Claims.
CREATE INDEX runs_due ON runs (runner, not_before_ms) WHERE state = 'queued' AND parked IS NULL;
CREATE INDEX runs_interrupted ON runs (not_before_ms) WHERE state = 'queued' AND interrupted IS NOT NULL;
CREATE INDEX runs_running ON runs (claimed_by) WHERE state = 'running';
CREATE INDEX runs_to_cancel ON runs (claimed_by, not_before_ms)
  WHERE cancel IS NOT NULL AND state IN ('queued', 'running');
CREATE INDEX runs_parked ON runs (parked, limit_lane) WHERE parked IS NOT NULL;
CREATE INDEX runs_paused ON runs (factory, automation) WHERE parked = 'paused';
-- The runs that keep later ones of their lane waiting.
CREATE INDEX runs_in_order ON runs (order_lane) WHERE order_lane IS NOT NULL
  AND (state IN ('queued', 'running') OR state = 'failed' AND holds AND dismissed IS NULL);
CREATE INDEX runs_running_in_order ON runs (order_lane) WHERE state = 'running' AND order_lane IS NOT NULL;
CREATE INDEX runs_running_in_limit ON runs (limit_lane) WHERE state = 'running' AND limit_lane IS NOT NULL;
CREATE INDEX runs_started ON runs (factory, automation, started_at_ms)
  WHERE started_at_ms IS NOT NULL AND runs_per_hour IS NOT NULL;
CREATE UNIQUE INDEX runs_gathering ON runs (gathers) WHERE gathers IS NOT NULL;
-- The runs that retention keeps because they hold others.
CREATE INDEX runs_holding ON runs (factory, automation) WHERE state = 'failed' AND holds AND dismissed IS NULL;

-- All deliveries of runs that gather them.
CREATE TABLE run_deliveries (
  seq INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  delivery INTEGER NOT NULL
) STRICT;
CREATE INDEX run_deliveries_by_run ON run_deliveries (run);
CREATE INDEX run_deliveries_by_delivery ON run_deliveries (delivery);

-- The automations with runs that have failed since somebody last looked. Each further failure gets a higher seq.
CREATE TABLE failures (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  factory TEXT NOT NULL,
  automation TEXT NOT NULL,
  UNIQUE (factory, automation)
) STRICT;

-- The ends of runs of which receivers are to be told, because their automation says so (notify).
CREATE TABLE run_ends (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;

-- Automations whose runs do not start. After until_ms, claims release the runs that wait, and then remove the row.
CREATE TABLE pauses (
  seq INTEGER PRIMARY KEY,
  factory TEXT NOT NULL,
  automation TEXT NOT NULL,
  by TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  until_ms INTEGER,
  UNIQUE (factory, automation)
) STRICT;
CREATE INDEX pauses_that_end ON pauses (until_ms) WHERE until_ms IS NOT NULL;

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


-- The health of webhooks.

-- The deliveries of each webhook by hours, counted from 1970, added up after their commits.
CREATE TABLE tallies (
  factory TEXT NOT NULL,
  uid TEXT NOT NULL,
  hour INTEGER NOT NULL,
  webhook TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  rejected_auth INTEGER NOT NULL,
  rejected_json INTEGER NOT NULL,
  rejected_large INTEGER NOT NULL,
  handshakes INTEGER NOT NULL,
  first_good_ms INTEGER,
  last_good_ms INTEGER,
  longest_gap_ms INTEGER NOT NULL,
  rejected_in_row INTEGER NOT NULL,
  last_rejected_ms INTEGER,
  PRIMARY KEY (factory, uid, hour)
) STRICT, WITHOUT ROWID;
-- Retention.
CREATE INDEX tallies_by_age ON tallies (hour);

-- The last row that was tallied, and when webhooks were last looked at. One row.
CREATE TABLE tally_position (
  key INTEGER PRIMARY KEY CHECK (key = 1),
  seq INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL,
  listening_since_ms INTEGER NOT NULL
) STRICT;
INSERT INTO tally_position VALUES (1, 0, 0, 0);

-- The last judgement of each webhook that got a delivery, and when it must be judged again.
CREATE TABLE webhook_health (
  uid TEXT PRIMARY KEY,
  factory TEXT NOT NULL,
  webhook TEXT NOT NULL,
  state TEXT NOT NULL,
  from_ms INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,
  -- Since when it is quiet or failing.
  since_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_health_by_factory ON webhook_health (factory);
CREATE INDEX webhook_health_due ON webhook_health (due_ms);
CREATE INDEX webhook_health_by_state ON webhook_health (state);

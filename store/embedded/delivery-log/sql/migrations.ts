import type Database from 'better-sqlite3';
import { DeliveryLogError } from '../../../delivery-log-error.ts';
import { makeContentKey, makeIdentityKey } from './keys.ts';

/**
 * Creates or updates the tables in one transaction. Migrations are only ever appended, and `user_version` counts those
 * that ran. A file from a newer version is refused and stays unchanged.
 */
export function migrate(database: Database.Database): void {
  const bringUp = database.transaction(() => {
    const version = readSchemaVersion(database);
    if (version > migrations.length) throw versionError(version);
    database.function('identity_key', { deterministic: true }, makeIdentityKey as never);
    database.function('content_key', { deterministic: true }, makeContentKey as never);
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.pragma(`user_version = ${migrations.length}`);
  });
  if (readSchemaVersion(database) === schemaVersionCurrent) return;
  // A table that others refer to can then be dropped and made again.
  database.pragma('foreign_keys = OFF');
  bringUp.immediate();
  database.pragma('foreign_keys = ON');
}

/** The number of migrations that ran; 0 for a file without tables. */
export function readSchemaVersion(database: Database.Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}

/** Writes the version again: the smallest commit that reaches the disk. */
export function rewriteSchemaVersion(database: Database.Database): void {
  database.pragma(`user_version = ${schemaVersionCurrent}`);
}

export function versionError(version: number): DeliveryLogError {
  return new DeliveryLogError(
    'version',
    `the delivery log has format ${version}, but this hookmill reads format ${schemaVersionCurrent}; ${
      version > schemaVersionCurrent
        ? 'use the newer hookmill that wrote it'
        : 'start the daemon once, which updates the file'
    }`,
  );
}

const migrations: readonly string[] = [
  `
  -- The automations that were applied when a delivery was evaluated: few rows, many references.
  CREATE TABLE snapshots (
    key INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    json TEXT NOT NULL
  ) STRICT;

  -- seq is the order of commit.
  CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    factory TEXT NOT NULL,
    webhook TEXT NOT NULL,
    uid TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    size INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    identity TEXT,
    identity_source TEXT,
    authenticated_by TEXT,
    reason TEXT,
    duplicate_of TEXT,
    snapshot INTEGER REFERENCES snapshots,
    CHECK (outcome <> 'Accepted' OR identity IS NOT NULL)
  ) STRICT;

  -- The rule that no identity is accepted twice. It lives exactly as long as the row it accepted.
  CREATE UNIQUE INDEX deliveries_by_identity ON deliveries (uid, identity) WHERE outcome = 'Accepted';
  -- Lists: outcome and webhook are in the index so that a filtered list passes over rows without reading them.
  CREATE INDEX deliveries_by_factory ON deliveries (factory, seq, outcome, webhook);
  -- Retention.
  CREATE INDEX deliveries_by_age ON deliveries (uid, at_ms);
  CREATE INDEX deliveries_by_snapshot ON deliveries (snapshot) WHERE snapshot IS NOT NULL;

  -- Apart from deliveries, so that lists never touch these pages.
  CREATE TABLE payloads (
    delivery INTEGER PRIMARY KEY REFERENCES deliveries,
    bytes BLOB NOT NULL
  ) STRICT;

  CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    delivery INTEGER NOT NULL REFERENCES deliveries,
    factory TEXT NOT NULL,
    automation TEXT NOT NULL,
    replay INTEGER NOT NULL,
    snapshot INTEGER REFERENCES snapshots,
    state TEXT NOT NULL DEFAULT 'queued',
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER,
    finished_at_ms INTEGER,
    claimed_by TEXT,
    error TEXT
  ) STRICT;

  CREATE INDEX runs_by_delivery ON runs (delivery);
  CREATE INDEX runs_by_factory ON runs (factory, seq, state, automation);
  CREATE INDEX runs_by_snapshot ON runs (snapshot) WHERE snapshot IS NOT NULL;
  CREATE INDEX runs_queued ON runs (not_before_ms) WHERE state = 'queued';
  CREATE INDEX runs_running ON runs (claimed_by) WHERE state = 'running';
  `,
  `
  -- The same with uid: the deliveries of one webhook, whatever it was called.
  DROP INDEX deliveries_by_factory;
  CREATE INDEX deliveries_by_factory ON deliveries (factory, seq, outcome, webhook, uid);
  `,
  `
  -- Identities from different sources are different.
  DROP INDEX deliveries_by_identity;
  CREATE UNIQUE INDEX deliveries_by_identity ON deliveries (uid, identity, identity_source) WHERE outcome = 'Accepted';
  -- What a signature covers is accepted once, whatever unsigned identity comes with it. Only accepted deliveries have it.
  ALTER TABLE deliveries ADD COLUMN content_digest TEXT;
  CREATE UNIQUE INDEX deliveries_by_content ON deliveries (uid, content_digest) WHERE content_digest IS NOT NULL;
  `,
  `
  -- The event headers of accepted deliveries, as a JSON object. Adding a column rewrites no row.
  ALTER TABLE deliveries ADD COLUMN headers TEXT;
  `,
  `
  -- Less to write for each delivery: fewer and smaller rows and indexes.
  -- The deliveries of a series have all of these columns alike. Few rows, which are never removed.
  CREATE TABLE series (
    key INTEGER PRIMARY KEY,
    factory TEXT NOT NULL,
    webhook TEXT NOT NULL,
    uid TEXT NOT NULL,
    outcome TEXT NOT NULL,
    authenticated_by TEXT,
    identity_source TEXT
  ) STRICT;
  CREATE INDEX series_by_factory ON series (factory);
  CREATE INDEX series_by_uid ON series (uid);
  INSERT INTO series (factory, webhook, uid, outcome, authenticated_by, identity_source)
    SELECT DISTINCT factory, webhook, uid, outcome, authenticated_by, identity_source FROM deliveries;

  -- The number of deliveries and runs that refer to a snapshot, which is removed with the last of them.
  CREATE TABLE snapshot_uses (
    snapshot INTEGER PRIMARY KEY REFERENCES snapshots,
    uses INTEGER NOT NULL
  ) STRICT;
  INSERT INTO snapshot_uses
    SELECT snapshot, count(*) FROM (SELECT snapshot FROM deliveries UNION ALL SELECT snapshot FROM runs)
    WHERE snapshot IS NOT NULL GROUP BY snapshot;

  -- seq is the order of commit. The payload is last, because SQLite reads a row only as far as it needs.
  CREATE TABLE lean_deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    series INTEGER NOT NULL REFERENCES series,
    at_ms INTEGER NOT NULL,
    size INTEGER NOT NULL,
    snapshot INTEGER,
    identity TEXT,
    identity_key BLOB,
    content_digest TEXT,
    content_key BLOB,
    reason TEXT,
    duplicate_of TEXT,
    headers TEXT,
    payload BLOB
  ) STRICT;
  INSERT INTO lean_deliveries
    SELECT seq, id, series.key, at_ms, size, snapshot, identity,
      iif(outcome = 'Accepted', identity_key(uid, deliveries.identity_source, identity), NULL),
      content_digest,
      iif(content_digest IS NULL, NULL, content_key(uid, content_digest)),
      reason, duplicate_of, headers, bytes
    FROM deliveries CROSS JOIN series USING (factory, webhook, uid, outcome) LEFT JOIN payloads ON delivery = seq
    WHERE series.authenticated_by IS deliveries.authenticated_by
      AND series.identity_source IS deliveries.identity_source
    ORDER BY seq;

  -- Runs refer to the table by its name, so they follow it. References to snapshots are counted instead of indexed.
  CREATE TABLE lean_runs (
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
    claimed_by TEXT,
    error TEXT
  ) STRICT;
  INSERT INTO lean_runs SELECT * FROM runs;
  DROP TABLE runs;
  DROP TABLE payloads;
  DROP TABLE deliveries;
  ALTER TABLE lean_deliveries RENAME TO deliveries;
  ALTER TABLE lean_runs RENAME TO runs;

  -- The rule that no identity is accepted twice. Only accepted deliveries have keys.
  CREATE UNIQUE INDEX deliveries_by_identity ON deliveries (identity_key) WHERE identity_key IS NOT NULL;
  CREATE UNIQUE INDEX deliveries_by_content ON deliveries (content_key) WHERE content_key IS NOT NULL;
  -- Lists: each index ends with seq.
  CREATE INDEX deliveries_by_series ON deliveries (series);
  CREATE INDEX runs_by_state ON runs (factory, state);
  CREATE INDEX runs_by_automation ON runs (factory, automation, state);
  -- Counts and retention.
  CREATE INDEX deliveries_by_age ON deliveries (series, at_ms);
  CREATE INDEX runs_by_delivery ON runs (delivery);
  CREATE INDEX runs_queued ON runs (not_before_ms) WHERE state = 'queued';
  CREATE INDEX runs_running ON runs (claimed_by) WHERE state = 'running';
  `,
  `
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
  `,
  `
  -- The deliveries of each webhook by hours, added up after their commits.
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
    due_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhook_health_by_factory ON webhook_health (factory);
  CREATE INDEX webhook_health_due ON webhook_health (due_ms);
  CREATE INDEX webhook_health_by_state ON webhook_health (state);
  `,
  `
  -- Since when it is quiet or failing.
  ALTER TABLE webhook_health ADD COLUMN since_ms INTEGER;
  `,
  `
  -- The number of all claims of the run: the fencing token of its attempt.
  ALTER TABLE runs ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- The time until which a running run waits for its receiver, under no daemon; and the receiver's last report, as JSON.
  ALTER TABLE runs ADD COLUMN waits_until_ms INTEGER;
  ALTER TABLE runs ADD COLUMN report TEXT;
  `,
  `
  -- A RunFlow as JSON, from which other columns are read; null for most runs.
  ALTER TABLE runs ADD COLUMN flow TEXT;
  ALTER TABLE runs ADD COLUMN order_lane TEXT AS (flow ->> '$.order.lane');
  ALTER TABLE runs ADD COLUMN holds INTEGER AS (flow ->> '$.order.hold');
  ALTER TABLE runs ADD COLUMN limit_lane TEXT AS (flow ->> '$.limit.lane');
  ALTER TABLE runs ADD COLUMN limit_runs INTEGER AS (flow ->> '$.limit.runs');
  ALTER TABLE runs ADD COLUMN runs_per_hour INTEGER AS (flow ->> '$.runsPerHour');
  -- The reason why a due run waits: 'order' or 'limit'. Claims pass over it until a run of that lane ends.
  ALTER TABLE runs ADD COLUMN parked TEXT;
  -- The burst lane whose deliveries a queued run still takes up.
  ALTER TABLE runs ADD COLUMN gathers TEXT;
  ALTER TABLE runs ADD COLUMN delivery_count INTEGER;
  ALTER TABLE runs ADD COLUMN delivery_bytes INTEGER;
  -- Two flags: the run failed because runs_per_hour was reached; an operator gave it up.
  ALTER TABLE runs ADD COLUMN stopped INTEGER;
  ALTER TABLE runs ADD COLUMN dismissed INTEGER;

  DROP INDEX runs_queued;
  CREATE INDEX runs_due ON runs (not_before_ms) WHERE state = 'queued' AND parked IS NULL;
  CREATE INDEX runs_parked ON runs (parked, limit_lane) WHERE parked IS NOT NULL;
  -- The runs that keep later ones of their lane waiting.
  CREATE INDEX runs_in_order ON runs (order_lane) WHERE order_lane IS NOT NULL
    AND (state IN ('queued', 'running') OR state = 'failed' AND holds AND dismissed IS NULL);
  CREATE INDEX runs_running_in_order ON runs (order_lane) WHERE state = 'running' AND order_lane IS NOT NULL;
  CREATE INDEX runs_running_in_limit ON runs (limit_lane) WHERE state = 'running' AND limit_lane IS NOT NULL;
  CREATE INDEX runs_started ON runs (factory, automation, started_at_ms)
    WHERE started_at_ms IS NOT NULL AND runs_per_hour IS NOT NULL;
  CREATE UNIQUE INDEX runs_gathering ON runs (gathers) WHERE gathers IS NOT NULL;

  -- All deliveries of runs that gather them, in the order of their commits.
  CREATE TABLE run_deliveries (
    seq INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    delivery INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX run_deliveries_by_run ON run_deliveries (run);
  CREATE INDEX run_deliveries_by_delivery ON run_deliveries (delivery);
  `,
  `
  -- A flag: somebody started it by hand.
  ALTER TABLE runs ADD COLUMN manual INTEGER;
  `,
  `
  -- The automations with runs that have failed since somebody last looked. Each further failure gets a higher seq.
  CREATE TABLE failures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    factory TEXT NOT NULL,
    automation TEXT NOT NULL,
    UNIQUE (factory, automation)
  ) STRICT;
  INSERT INTO failures (factory, automation) SELECT DISTINCT factory, automation FROM runs WHERE state = 'failed';
  CREATE TRIGGER run_fails AFTER UPDATE OF state ON runs WHEN new.state = 'failed' BEGIN
    INSERT OR REPLACE INTO failures (factory, automation) VALUES (new.factory, new.automation);
  END;
  -- A run that is copied from another log.
  CREATE TRIGGER failed_run_comes AFTER INSERT ON runs WHEN new.state = 'failed' BEGIN
    INSERT OR REPLACE INTO failures (factory, automation) VALUES (new.factory, new.automation);
  END;
  -- The runs that retention keeps because they hold others.
  CREATE INDEX runs_holding ON runs (factory, automation) WHERE state = 'failed' AND holds AND dismissed IS NULL;
  `,
];

export const schemaVersionCurrent = migrations.length;

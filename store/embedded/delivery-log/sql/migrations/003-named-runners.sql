-- The runner of each run, by which claims look for runs that are due.
ALTER TABLE runs ADD COLUMN runner TEXT AS (coalesce(flow ->> '$.runner', 'default'));
DROP INDEX runs_due;
CREATE INDEX runs_due ON runs (runner, not_before_ms) WHERE state = 'queued' AND parked IS NULL;

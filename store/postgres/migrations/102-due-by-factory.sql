-- Claims give places to factories in turns, so they find the first due runs of each factory. No release made the tables
-- of version 101, so this one may index a table that grows.
DROP INDEX hookmill.runs_queued;
CREATE INDEX runs_due ON hookmill.runs
  ((coalesce(flow::jsonb ->> 'runner', 'default')), factory, not_before_ms, seq) WHERE state = 'queued';

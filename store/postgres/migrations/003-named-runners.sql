-- Claims look for the due runs of each runner. The index is made again, which is short only because no version was
-- released before this one.
DROP INDEX hookmill.runs_queued;
CREATE INDEX runs_queued ON hookmill.runs ((coalesce(flow::jsonb ->> 'runner', 'default')), not_before_ms, seq)
  WHERE state = 'queued';

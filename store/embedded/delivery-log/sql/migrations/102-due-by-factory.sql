-- Claims give places to factories in turns, so they find the first due runs of each factory.
DROP INDEX runs_due;
CREATE INDEX runs_due ON runs (runner, factory, not_before_ms) WHERE state = 'queued' AND parked IS NULL;

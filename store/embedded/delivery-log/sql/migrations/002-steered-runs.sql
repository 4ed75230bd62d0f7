-- Runs that somebody cancels, and automations that somebody pauses.

-- Who asked to cancel the run, and when, as JSON. Until it has ended as cancelled, a daemon must end what it started.
ALTER TABLE runs ADD COLUMN cancel TEXT;
CREATE INDEX runs_to_cancel ON runs (claimed_by) WHERE cancel IS NOT NULL AND state IN ('queued', 'running');

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
CREATE INDEX runs_paused ON runs (factory, automation) WHERE parked = 'paused';
CREATE INDEX pauses_that_end ON pauses (until_ms) WHERE until_ms IS NOT NULL;

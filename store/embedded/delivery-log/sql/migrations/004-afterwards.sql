-- When the command of a run had ended and its second command, afterwards, was due, as JSON: since when, and who approved
-- it. A run that waits for approval is parked as 'approval'.
ALTER TABLE runs ADD COLUMN afterwards TEXT;

-- The run that somebody let do its work again, by this one.
ALTER TABLE runs ADD COLUMN again_of TEXT;

-- The ends of runs of which receivers are to be told, because their automation says so (notify).
CREATE TABLE run_ends (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;
CREATE TRIGGER run_tells_end AFTER UPDATE OF state ON runs WHEN new.flow IS NOT NULL AND new.state IN ('succeeded', 'failed')
  AND EXISTS (SELECT 1 FROM json_each(new.flow, '$.notify') WHERE value = new.state) BEGIN
  INSERT INTO run_ends (run, state) VALUES (new.id, new.state);
END;

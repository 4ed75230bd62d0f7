-- When the command of a run had ended and its second command, afterwards, was due, as JSON: since when, and who approved
-- it. A run that waits for approval is parked as 'approval'.
ALTER TABLE runs ADD COLUMN afterwards TEXT;

-- The run that somebody let do its work again, by this one.
ALTER TABLE runs ADD COLUMN again_of TEXT;

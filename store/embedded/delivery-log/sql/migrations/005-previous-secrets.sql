-- 'previous' if the value of the secret before the current one verified the deliveries; null: the current one, or none.
ALTER TABLE series ADD COLUMN verified_with TEXT;

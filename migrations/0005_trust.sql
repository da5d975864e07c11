-- A digest of the title and text that someone with write access asked for; empty for tasks from before this column.
ALTER TABLE tasks ADD COLUMN vouched TEXT NOT NULL DEFAULT '';

-- The statuses whose labels an unfinished move may have left on the issue (JSON); any other is a person's.
ALTER TABLE tasks ADD COLUMN moving_over TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(moving_over));

-- The last run from before a task was last merged: who wrote before it is no author of what comes after.
ALTER TABLE tasks ADD COLUMN done_after TEXT NOT NULL DEFAULT '';

-- The pull request that the task's own stands on, and its branch (JSON), until that one is merged.
ALTER TABLE tasks ADD COLUMN stack TEXT CHECK (stack IS NULL OR json_valid(stack));

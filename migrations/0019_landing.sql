-- The task's last merge (JSON): which commits, what became of the checks of the base by it, and what takes it back.
ALTER TABLE tasks ADD COLUMN landing TEXT CHECK (landing IS NULL OR json_valid(landing));

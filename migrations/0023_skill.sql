-- Skills by name, as JSON lists: what an internal task asks for beforehand, and what the router chose. The present route
-- of a task has them among its other values.
ALTER TABLE internal_tasks ADD COLUMN skills TEXT NOT NULL DEFAULT '[]';
ALTER TABLE routes ADD COLUMN skills TEXT NOT NULL DEFAULT '[]';

-- Why Nightcrew ends a run (JSON), the session of its CLI that it goes on with, and the monotonic clock (in seconds,
-- shared by all processes until the next boot) when it was started.

ALTER TABLE runs ADD COLUMN stop TEXT CHECK (stop IS NULL OR json_valid(stop));
ALTER TABLE runs ADD COLUMN resumes TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN began_s REAL;

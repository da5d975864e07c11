-- The last rows of each job are asked for at every look, in the order in which they were recorded, and there may be a
-- thousand of each. (An index ends with the rowid.)
CREATE INDEX job_runs_as_recorded ON job_runs (project, job);

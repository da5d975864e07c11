-- Since when each job has its schedule (`mark`): it is not due for what was before. `enabled` NULL: as its settings say.
CREATE TABLE jobs (
    project  TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    mark     TEXT    NOT NULL,
    since_at INTEGER NOT NULL,
    enabled  INTEGER          CHECK (enabled IN (0, 1)),
    PRIMARY KEY (project, name)
) STRICT;

-- One row for each due time of a job, written before anything is done for it: the key is what keeps it from being done
-- twice. `number` is the task (or issue) that it asked for.
CREATE TABLE job_runs (
    project   TEXT    NOT NULL,
    job       TEXT    NOT NULL,
    due_at    INTEGER NOT NULL,
    began_at  INTEGER NOT NULL,
    state     TEXT    NOT NULL CHECK (state IN ('begun', 'done', 'failed', 'skipped', 'lost')),
    is_late   INTEGER NOT NULL CHECK (is_late IN (0, 1)),
    by_hand   INTEGER NOT NULL CHECK (by_hand IN (0, 1)),
    number    INTEGER,
    words     TEXT    NOT NULL,
    exit_code INTEGER,
    log       TEXT    NOT NULL,
    ended_at  INTEGER,
    PRIMARY KEY (project, job, due_at)
) STRICT;

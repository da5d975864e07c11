-- Internal tasks: what an issue would say of a task that none stands for. Their rows in `tasks` have numbers above
-- 10000000000, which no issue has. `mark` is unique for ever: by it the issue is found that was made of the task.
CREATE TABLE internal_tasks (
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL CHECK (number > 10000000000),
    kind       TEXT    NOT NULL CHECK (kind IN ('change', 'report')),
    mark       TEXT    NOT NULL UNIQUE CHECK (mark <> ''),
    body       TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    complexity TEXT    NOT NULL,
    job        TEXT    NOT NULL,
    result     TEXT    NOT NULL,
    issue      INTEGER,
    is_closed  INTEGER NOT NULL CHECK (is_closed IN (0, 1)),
    PRIMARY KEY (project, number),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

-- What may be asked for about any pull request: commands about one that is no task have no row there.
CREATE TABLE commands_kept (
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    comment    INTEGER NOT NULL,
    place      INTEGER NOT NULL CHECK (place >= 0),
    verb       TEXT    NOT NULL CHECK (verb IN ('retry', 'block', 'unblock', 'close', 'stop', 'agent', 'model', 'start', 'claim', 'review')),
    said       TEXT    NOT NULL,
    author     TEXT    NOT NULL,
    given_at   INTEGER NOT NULL,
    settlement TEXT    NOT NULL CHECK (settlement IN ('done', 'refused', 'ignored')),
    words      TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (project, comment, place)
) STRICT;

INSERT INTO commands_kept SELECT * FROM commands;
DROP TABLE commands;
ALTER TABLE commands_kept RENAME TO commands;
CREATE INDEX commands_by_task ON commands (project, number, at);

-- A review that was asked for by itself is an internal task too.
CREATE TABLE internal_kept (
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL CHECK (number > 10000000000),
    kind       TEXT    NOT NULL CHECK (kind IN ('change', 'report', 'review')),
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

INSERT INTO internal_kept SELECT * FROM internal_tasks;
DROP TABLE internal_tasks;
ALTER TABLE internal_kept RENAME TO internal_tasks;

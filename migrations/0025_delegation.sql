-- What a task hands over to sub-tasks, as JSON; NULL: nothing.
ALTER TABLE tasks ADD COLUMN delegated TEXT;

-- That can be answered by a command.
CREATE TABLE commands_kept (
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    comment    INTEGER NOT NULL,
    place      INTEGER NOT NULL CHECK (place >= 0),
    verb       TEXT    NOT NULL CHECK (verb IN ('retry', 'block', 'unblock', 'close', 'stop', 'agent', 'model', 'start', 'claim', 'review', 'say', 'delegate')),
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

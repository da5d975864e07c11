-- Commands that people gave in comments, once each: (project, comment, place) is there as soon as it was settled, in the
-- transaction of what it did. `comment` is the forge's id, `place` the command's own among those of the comment.
CREATE TABLE commands (
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    comment    INTEGER NOT NULL,
    place      INTEGER NOT NULL CHECK (place >= 0),
    verb       TEXT    NOT NULL CHECK (verb IN ('retry', 'block', 'unblock', 'close', 'stop', 'agent', 'model')),
    said       TEXT    NOT NULL,
    author     TEXT    NOT NULL,
    given_at   INTEGER NOT NULL,
    settlement TEXT    NOT NULL CHECK (settlement IN ('done', 'refused', 'ignored')),
    words      TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (project, comment, place),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

CREATE INDEX commands_by_task ON commands (project, number, at);

-- The issue's own time when it became a task; unknown for those that did before this column.
ALTER TABLE tasks ADD COLUMN adopted_at INTEGER;

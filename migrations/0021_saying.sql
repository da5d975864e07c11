-- What people say to the agent of a task, as its next turn. A message is bound to a run (`run`) in the transaction of that
-- run's row, so it stands in exactly one prompt; `tries` counts the runs that ended without a sign that it was read.
-- `receiver` is the place in a chat that is told what became of it.
CREATE TABLE sayings (
    id           TEXT    NOT NULL PRIMARY KEY,
    project      TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    author       TEXT    NOT NULL,
    text         TEXT    NOT NULL CHECK (text <> ''),
    said_at      INTEGER NOT NULL,
    receiver     TEXT    NOT NULL,
    interrupts   INTEGER NOT NULL CHECK (interrupts IN (0, 1)),
    state        TEXT    NOT NULL CHECK (state IN ('queued', 'delivered', 'seen', 'undelivered')),
    run          TEXT    REFERENCES runs (id),
    tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    delivered_at INTEGER,
    seen_at      INTEGER,
    session      TEXT    NOT NULL DEFAULT '',
    why          TEXT    NOT NULL DEFAULT '',
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;
CREATE INDEX sayings_by_task ON sayings (project, number);
CREATE INDEX sayings_by_run ON sayings (run);

-- Whether a run is a turn for such a message.
ALTER TABLE runs ADD COLUMN hears INTEGER NOT NULL DEFAULT 0 CHECK (hears IN (0, 1));

-- A notice for one place in a chat alone; empty: for all who want to be told of the like.
ALTER TABLE notices ADD COLUMN receiver TEXT NOT NULL DEFAULT '';
CREATE INDEX notices_by_receiver ON notices (receiver) WHERE receiver <> '';

-- `/say` as a command in comments.
CREATE TABLE commands_kept (
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    comment    INTEGER NOT NULL,
    place      INTEGER NOT NULL CHECK (place >= 0),
    verb       TEXT    NOT NULL CHECK (verb IN ('retry', 'block', 'unblock', 'close', 'stop', 'agent', 'model', 'start', 'claim', 'review', 'say')),
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

-- Reactions about a run (stuck, ended without a word, asks) have no pull request: they are kept under the run, with
-- pull 0 and an empty head. The key of a table can only be changed by making it anew.
CREATE TABLE reactions_kept (
    project  TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    pull     INTEGER NOT NULL,
    head_sha TEXT    NOT NULL,
    run      TEXT    NOT NULL DEFAULT '',
    kind     TEXT    NOT NULL,
    seen_at  INTEGER NOT NULL,
    sent     INTEGER NOT NULL DEFAULT 0 CHECK (sent >= 0),
    sent_at  INTEGER,
    told_at  INTEGER,
    PRIMARY KEY (project, number, pull, head_sha, run, kind),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

INSERT INTO reactions_kept (project, number, pull, head_sha, kind, seen_at, sent, sent_at, told_at)
SELECT project, number, pull, head_sha, kind, seen_at, sent, sent_at, told_at FROM reactions ORDER BY rowid;

DROP TABLE reactions;
ALTER TABLE reactions_kept RENAME TO reactions;

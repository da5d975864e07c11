-- Checks that Nightcrew had run again by itself: at most once for a head, whatever came of it. `mark` tells the answer
-- that was red from the one that comes next; `tests` are the failing tests that its log named (JSON). One that `passed`
-- is flaky, and so are its tests.
CREATE TABLE reruns (
    project  TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    pull     INTEGER NOT NULL,
    head_sha TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    source   TEXT    NOT NULL,
    mark     TEXT    NOT NULL,
    tests    TEXT    NOT NULL CHECK (json_valid(tests)),
    state    TEXT    NOT NULL CHECK (state IN ('wanted', 'asked', 'refused', 'passed', 'failed')),
    why      TEXT    NOT NULL DEFAULT '',
    at       INTEGER NOT NULL,
    PRIMARY KEY (project, number, pull, head_sha, name, source),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;
CREATE INDEX reruns_by_state ON reruns (state, project);

-- Counters and deadlines of reactions, one row a kind at one head of a pull request. A row is never taken back, so that
-- a status that flaps neither counts twice nor starts its deadline anew.
CREATE TABLE reactions (
    project  TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    pull     INTEGER NOT NULL,
    head_sha TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    seen_at  INTEGER NOT NULL,
    sent     INTEGER NOT NULL DEFAULT 0 CHECK (sent >= 0),
    sent_at  INTEGER,
    told_at  INTEGER,
    PRIMARY KEY (project, number, pull, head_sha, kind),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

-- Which run was given what somebody said: `thing` is `review:<id>` or `remark:<id>`, or `brief` for that the run's
-- prompt was written at all, so that what is on record is what stood in the prompt that it began with.
CREATE TABLE deliveries (
    project TEXT    NOT NULL,
    number  INTEGER NOT NULL,
    thing   TEXT    NOT NULL,
    run     TEXT    NOT NULL REFERENCES runs (id),
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, number, thing, run)
) STRICT;

-- What the merge queue builds and tests: the base with pull requests merged into it. `members` and `left_out` are JSON.
-- There is one open build a base; what became of those that ended tells who failed in company, alone, or has landed.
CREATE TABLE builds (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    project  TEXT    NOT NULL,
    base_ref TEXT    NOT NULL,
    base_sha TEXT    NOT NULL,
    method   TEXT    NOT NULL CHECK (method IN ('squash', 'merge', 'rebase')),
    members  TEXT    NOT NULL CHECK (json_valid(members)),
    left_out TEXT    NOT NULL CHECK (json_valid(left_out)),
    state    TEXT    NOT NULL CHECK (state IN ('testing', 'landed', 'red', 'stuck', 'dropped')),
    why      TEXT    NOT NULL DEFAULT '',
    made_at  INTEGER NOT NULL,
    ended_at INTEGER CHECK ((ended_at IS NULL) = (state = 'testing'))
) STRICT;

CREATE UNIQUE INDEX builds_open ON builds (project, base_ref) WHERE state = 'testing';

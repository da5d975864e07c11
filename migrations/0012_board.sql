-- Cards on a project's board (GitHub's Projects v2), as they were left: which item shows a task, for which status and in
-- which column it was put. Rows of a board that is not linked any more stay, for the day on which it is linked again.
CREATE TABLE cards (
    project  TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    board    TEXT    NOT NULL,
    item     TEXT    NOT NULL,
    status   TEXT    NOT NULL,
    "column" TEXT    NOT NULL,
    settled  INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
    "left"   TEXT    NOT NULL DEFAULT '',
    gone     INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    PRIMARY KEY (project, number, board),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

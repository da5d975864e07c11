-- What people are to be told: an outbox. A row is written in the transaction of the change that it tells of, and whoever
-- delivers notices (chat, notifiers) reads those that it has not delivered yet. Words are masked and may be shown as they
-- are; `mark` is set where something is told once only, however often it is seen.
CREATE TABLE notices (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    project  TEXT    NOT NULL,
    number   INTEGER,
    kind     TEXT    NOT NULL,
    priority TEXT    NOT NULL CHECK (priority IN ('urgent', 'action', 'warning', 'info')),
    words    TEXT    NOT NULL,
    mark     TEXT UNIQUE
) STRICT;

-- To whom a notice was delivered. `receiver` is a name that the one who delivers keeps, such as `telegram:12`.
CREATE TABLE notice_deliveries (
    notice   INTEGER NOT NULL REFERENCES notices (id) ON DELETE CASCADE,
    receiver TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (notice, receiver)
) STRICT, WITHOUT ROWID;

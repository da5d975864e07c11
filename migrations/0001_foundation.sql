-- Tasks, runs, routes, verdicts, cooldowns, events, the journal of effects, small values, request validators.
--
-- Times are integers: microseconds since 1970-01-01 UTC (read them with datetime(x / 1000000, 'unixepoch')).
-- A task is named by (project, number) everywhere. Columns that hold JSON say so.

CREATE TABLE tasks (
    project      TEXT    NOT NULL CHECK (project <> ''),
    number       INTEGER NOT NULL CHECK (number > 0),
    title        TEXT    NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('new', 'routed', 'in_progress', 'needs_review', 'in_review', 'done', 'blocked')),
    moving_to    TEXT             CHECK (moving_to IN ('new', 'routed', 'in_progress', 'needs_review', 'in_review', 'done', 'blocked')),
    priority     INTEGER NOT NULL,
    route        TEXT             CHECK (route IS NULL OR json_valid(route)),
    block        TEXT             CHECK (block IS NULL OR json_valid(block)),
    branch       TEXT    NOT NULL,
    base_ref     TEXT    NOT NULL,
    started_from TEXT,
    pull         INTEGER,
    attempts     INTEGER NOT NULL CHECK (attempts >= 0),
    cycles       INTEGER NOT NULL CHECK (cycles >= 0),
    tried        TEXT    NOT NULL CHECK (json_valid(tried)),
    approved_sha TEXT,
    merge_sha    TEXT,
    comment_id   INTEGER,
    told         TEXT    NOT NULL,
    reset_at     INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (project, number)
) STRICT;

-- What each pass reads: everything that is not over. A finished task whose labels are not yet right is not over.
CREATE INDEX tasks_open ON tasks (project, number) WHERE status <> 'done' OR moving_to IS NOT NULL;

CREATE TABLE runs (
    id            TEXT    NOT NULL PRIMARY KEY CHECK (id <> ''),
    project       TEXT    NOT NULL,
    number        INTEGER NOT NULL,
    role          TEXT    NOT NULL CHECK (role IN ('author', 'reviewer', 'router')),
    agent         TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    attempt       INTEGER NOT NULL CHECK (attempt > 0),
    state         TEXT    NOT NULL CHECK (state IN ('starting', 'running', 'ended')),
    session       TEXT    NOT NULL,
    folder        TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    deadline_s    REAL    NOT NULL,
    head_sha      TEXT,
    agent_session TEXT    NOT NULL,
    started_at    INTEGER,
    ended_at      INTEGER,
    outcome       TEXT             CHECK (outcome IS NULL OR json_valid(outcome)),
    UNIQUE (project, number, role, attempt),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

-- A workspace has one writer at a time, whatever the code believes.
CREATE UNIQUE INDEX runs_one_open_author ON runs (project, number) WHERE role = 'author' AND state <> 'ended';
CREATE INDEX runs_open ON runs (created_at, id) WHERE state <> 'ended';
CREATE INDEX runs_by_time ON runs (created_at, id);

CREATE TABLE routes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    agent      TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    complexity TEXT    NOT NULL CHECK (complexity IN ('simple', 'medium', 'complex')),
    source     TEXT    NOT NULL CHECK (source <> ''),
    why        TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

CREATE INDEX routes_by_task ON routes (project, number, id);

CREATE TABLE verdicts (
    run       TEXT    NOT NULL PRIMARY KEY REFERENCES runs (id),
    project   TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    decision  TEXT    NOT NULL CHECK (decision IN ('approve', 'request_changes')),
    head_sha  TEXT    NOT NULL,
    base_ref  TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    summary   TEXT    NOT NULL,
    findings  TEXT    NOT NULL CHECK (json_valid(findings)),
    at        INTEGER NOT NULL,
    posted    INTEGER NOT NULL CHECK (posted IN (0, 1)),
    review_id INTEGER          CHECK (review_id IS NULL OR posted = 1),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

CREATE INDEX verdicts_by_task ON verdicts (project, number, at);

-- `model` NULL is the whole agent; '' is the default model of its CLI, which is something else.
CREATE TABLE cooldowns (
    agent    TEXT    NOT NULL CHECK (agent <> ''),
    model    TEXT,
    kind     TEXT    NOT NULL CHECK (kind <> ''),
    until_at INTEGER NOT NULL,
    count    INTEGER NOT NULL CHECK (count >= 0),
    why      TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX cooldowns_once ON cooldowns (agent, model IS NULL, ifnull(model, ''), kind);

-- Ids are never used again (AUTOINCREMENT), so that a reader's cursor stays right after old events were cut off.
-- No foreign keys: an event may tell of what is not, or no longer, kept.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    kind    TEXT    NOT NULL CHECK (kind <> ''),
    why     TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    project TEXT,
    number  INTEGER,
    run     TEXT,
    data    TEXT    NOT NULL CHECK (json_valid(data)),
    CHECK ((project IS NULL) = (number IS NULL))
) STRICT;

CREATE INDEX events_by_task ON events (project, number, id) WHERE project IS NOT NULL;

-- History is append-only. It can be shortened at its old end alone, and only after saying so here: raise
-- `cut_through`, then delete events up to that id. The mark never goes back.
CREATE TABLE event_history (
    one         INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    cut_through INTEGER NOT NULL
) STRICT;

INSERT INTO event_history (one, cut_through) VALUES (1, 0);

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

CREATE TRIGGER events_never_vanish BEFORE DELETE ON events
WHEN old.id > (SELECT cut_through FROM event_history)
BEGIN
    SELECT raise(ABORT, 'events are append-only; raise event_history.cut_through first');
END;

CREATE TRIGGER event_history_never_goes_back BEFORE UPDATE ON event_history
WHEN new.cut_through < old.cut_through
BEGIN
    SELECT raise(ABORT, 'event_history.cut_through never goes back');
END;

CREATE TRIGGER event_history_stays BEFORE DELETE ON event_history
BEGIN
    SELECT raise(ABORT, 'event_history keeps its row');
END;

CREATE TABLE effects (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT    NOT NULL CHECK (key <> ''),
    kind       TEXT    NOT NULL CHECK (kind <> ''),
    state      TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'refused', 'unknown')),
    project    TEXT,
    number     INTEGER,
    run        TEXT,
    detail     TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    settled_at INTEGER,
    CHECK ((project IS NULL) = (number IS NULL)),
    CHECK ((state = 'intent') = (settled_at IS NULL))
) STRICT;

CREATE INDEX effects_open ON effects (id) WHERE state = 'intent';
CREATE INDEX effects_by_task ON effects (project, number, id) WHERE project IS NOT NULL;

CREATE TABLE "values" (
    name  TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
    value TEXT NOT NULL
) STRICT;

-- `body` is zlib-compressed; `size` is its length as kept.
CREATE TABLE validators (
    url       TEXT    NOT NULL CHECK (url <> ''),
    principal TEXT    NOT NULL,
    etag      TEXT    NOT NULL,
    link      TEXT    NOT NULL,
    body      BLOB    NOT NULL,
    size      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (url, principal)
) STRICT;

CREATE INDEX validators_by_age ON validators (at, size);

-- What a cooldown is counted by, and the failures that no pattern knows.

-- `since_at` is when it was set, `successes` how many runs in a row ended well since, `run` the run that was last counted
-- for it: one that is collected twice counts once.
ALTER TABLE cooldowns ADD COLUMN since_at INTEGER;
ALTER TABLE cooldowns ADD COLUMN successes INTEGER NOT NULL DEFAULT 0 CHECK (successes >= 0);
ALTER TABLE cooldowns ADD COLUMN run TEXT;

-- Texts that matched no pattern, for study. `shape` is the text with what differs from run to run taken out, so that one
-- kind of message is one row; `text` is the newest one, without secrets; `run` the newest run that said it.
CREATE TABLE unknown_failures (
    agent     TEXT    NOT NULL CHECK (agent <> ''),
    exit_code INTEGER NOT NULL,
    shape     TEXT    NOT NULL,
    text      TEXT    NOT NULL,
    count     INTEGER NOT NULL CHECK (count >= 1),
    first_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL,
    run       TEXT    NOT NULL,
    PRIMARY KEY (agent, exit_code, shape)
) STRICT, WITHOUT ROWID;

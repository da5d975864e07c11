-- Questions that people ask of Nightcrew. The row is written before anything is done for it. `tries` are the runs of agents
-- for it, which belong to no task; `answer` and `orders` (a JSON list) are an agent's words, and proposals: nothing of
-- them was done. `channel` is empty where whoever asked looks for the answer; else the chat at whose `place` it is said,
-- once `told_at` is not set yet.
CREATE TABLE inquiries (
    id           TEXT    NOT NULL PRIMARY KEY CHECK (id <> ''),
    talk         TEXT    NOT NULL CHECK (talk <> ''),
    question     TEXT    NOT NULL,
    asked_at     INTEGER NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('asked', 'running', 'answered', 'failed')),
    project      TEXT    NOT NULL,
    number       INTEGER,
    agent        TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    place        TEXT    NOT NULL,
    person       TEXT    NOT NULL,
    tries        TEXT    NOT NULL CHECK (json_valid(tries)),
    answer       TEXT    NOT NULL,
    orders       TEXT    NOT NULL CHECK (json_valid(orders)),
    kind         TEXT    NOT NULL,
    failure      TEXT    NOT NULL,
    is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)),
    ended_at     INTEGER,
    told_at      INTEGER,
    CHECK (number IS NULL OR project <> ''),
    CHECK (state NOT IN ('answered', 'failed') OR ended_at IS NOT NULL)
) STRICT;

CREATE INDEX inquiries_open ON inquiries (asked_at, id) WHERE state IN ('asked', 'running');
CREATE INDEX inquiries_by_talk ON inquiries (talk, asked_at);
CREATE INDEX inquiries_untold ON inquiries (channel, asked_at) WHERE told_at IS NULL AND channel <> '';

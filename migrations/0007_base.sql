-- How often the base was brought into the task's branch since a person last reset it: by the engine, and by its author
-- where that took a hand; and the conflict that the author has now (JSON).
ALTER TABLE tasks ADD COLUMN updates INTEGER NOT NULL DEFAULT 0 CHECK (updates >= 0);
ALTER TABLE tasks ADD COLUMN conflicts INTEGER NOT NULL DEFAULT 0 CHECK (conflicts >= 0);
ALTER TABLE tasks ADD COLUMN conflict TEXT CHECK (conflict IS NULL OR json_valid(conflict));

-- A verdict may be carried over to a head that has the same change on a newer base: one run then has several. They are
-- in the order of their ids.
CREATE TABLE verdicts_kept (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    run          TEXT    NOT NULL REFERENCES runs (id),
    project      TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    decision     TEXT    NOT NULL CHECK (decision IN ('approve', 'request_changes')),
    head_sha     TEXT    NOT NULL,
    base_ref     TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    summary      TEXT    NOT NULL,
    findings     TEXT    NOT NULL CHECK (json_valid(findings)),
    at           INTEGER NOT NULL,
    posted       INTEGER NOT NULL CHECK (posted IN (0, 1)),
    review_id    INTEGER          CHECK (review_id IS NULL OR posted = 1),
    carried_from TEXT,
    UNIQUE (run, head_sha),
    FOREIGN KEY (project, number) REFERENCES tasks (project, number)
) STRICT;

INSERT INTO verdicts_kept (run, project, number, decision, head_sha, base_ref, agent, model, summary, findings, at,
                           posted, review_id)
SELECT run, project, number, decision, head_sha, base_ref, agent, model, summary, findings, at, posted, review_id
FROM verdicts ORDER BY rowid;

DROP TABLE verdicts;
ALTER TABLE verdicts_kept RENAME TO verdicts;
CREATE INDEX verdicts_by_task ON verdicts (project, number, id);

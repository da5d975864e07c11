"""The tables of the local forge. Git facts are not kept here, except what was last seen, so as to notice a push."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS user (
    id INTEGER PRIMARY KEY AUTOINCREMENT, login TEXT NOT NULL COLLATE NOCASE, name TEXT, email TEXT NOT NULL,
    type TEXT NOT NULL DEFAULT 'User', site_admin INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS user_login ON user (login) WHERE deleted = 0;

CREATE TABLE IF NOT EXISTS app (
    id INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    owner_id INTEGER NOT NULL REFERENCES user, created_at TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS token (
    id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, user_id INTEGER NOT NULL REFERENCES user,
    app_id INTEGER REFERENCES app, permissions TEXT, expires_at TEXT);

CREATE TABLE IF NOT EXISTS repository (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL REFERENCES user, name TEXT NOT NULL COLLATE NOCASE,
    description TEXT, private INTEGER NOT NULL DEFAULT 0, default_branch TEXT NOT NULL,
    has_issues INTEGER NOT NULL DEFAULT 1,
    archived INTEGER NOT NULL DEFAULT 0,
    allow_merge_commit INTEGER NOT NULL DEFAULT 1, allow_squash_merge INTEGER NOT NULL DEFAULT 1,
    allow_rebase_merge INTEGER NOT NULL DEFAULT 1, delete_branch_on_merge INTEGER NOT NULL DEFAULT 0, block TEXT,
    next_number INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, pushed_at TEXT NOT NULL,
    UNIQUE (owner_id, name));
CREATE TABLE IF NOT EXISTS former_name (
    owner TEXT NOT NULL COLLATE NOCASE, name TEXT NOT NULL COLLATE NOCASE,
    repository_id INTEGER NOT NULL REFERENCES repository, PRIMARY KEY (owner, name));
CREATE TABLE IF NOT EXISTS collaborator (
    repository_id INTEGER NOT NULL REFERENCES repository, user_id INTEGER NOT NULL REFERENCES user,
    permission TEXT NOT NULL, PRIMARY KEY (repository_id, user_id));
CREATE TABLE IF NOT EXISTS branch (
    repository_id INTEGER NOT NULL REFERENCES repository, name TEXT NOT NULL, sha TEXT NOT NULL,
    PRIMARY KEY (repository_id, name));

CREATE TABLE IF NOT EXISTS label (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository, name TEXT NOT NULL,
    key TEXT NOT NULL, color TEXT NOT NULL, description TEXT, standard INTEGER NOT NULL DEFAULT 0,
    UNIQUE (repository_id, key));

CREATE TABLE IF NOT EXISTS issue (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository, number INTEGER NOT NULL,
    title TEXT NOT NULL, body TEXT, user_id INTEGER NOT NULL REFERENCES user, state TEXT NOT NULL DEFAULT 'open',
    state_reason TEXT, locked INTEGER NOT NULL DEFAULT 0, is_pull INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0, closed_by INTEGER REFERENCES user, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, closed_at TEXT, UNIQUE (repository_id, number));
CREATE INDEX IF NOT EXISTS issue_updated ON issue (repository_id, updated_at);
CREATE TABLE IF NOT EXISTS issue_label (
    issue_id INTEGER NOT NULL REFERENCES issue, label_id INTEGER NOT NULL REFERENCES label ON DELETE CASCADE,
    PRIMARY KEY (issue_id, label_id));
CREATE INDEX IF NOT EXISTS issue_label_label ON issue_label (label_id);
CREATE TABLE IF NOT EXISTS assignee (
    issue_id INTEGER NOT NULL REFERENCES issue, user_id INTEGER NOT NULL REFERENCES user,
    PRIMARY KEY (issue_id, user_id));
CREATE TABLE IF NOT EXISTS comment (
    id INTEGER PRIMARY KEY AUTOINCREMENT, issue_id INTEGER NOT NULL REFERENCES issue,
    user_id INTEGER NOT NULL REFERENCES user, body TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS comment_issue ON comment (issue_id);
CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository,
    issue_id INTEGER NOT NULL REFERENCES issue, event TEXT NOT NULL, actor_id INTEGER REFERENCES user, commit_id TEXT,
    detail TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS event_issue ON event (issue_id);
CREATE INDEX IF NOT EXISTS event_repository ON event (repository_id);

CREATE TABLE IF NOT EXISTS dependency (
    issue_id INTEGER NOT NULL REFERENCES issue, blocker_id INTEGER NOT NULL REFERENCES issue,
    PRIMARY KEY (issue_id, blocker_id));
CREATE INDEX IF NOT EXISTS dependency_blocker ON dependency (blocker_id);
CREATE TABLE IF NOT EXISTS sub_issue (
    child_id INTEGER PRIMARY KEY REFERENCES issue, parent_id INTEGER NOT NULL REFERENCES issue);
CREATE INDEX IF NOT EXISTS sub_issue_parent ON sub_issue (parent_id);

CREATE TABLE IF NOT EXISTS pull (
    id INTEGER PRIMARY KEY AUTOINCREMENT, issue_id INTEGER NOT NULL UNIQUE REFERENCES issue, head_ref TEXT NOT NULL,
    head_sha TEXT NOT NULL, base_ref TEXT NOT NULL, base_sha TEXT NOT NULL, draft INTEGER NOT NULL DEFAULT 0,
    merged_at TEXT, merged_by INTEGER REFERENCES user, merge_commit_sha TEXT,
    tried_head TEXT, tried_base TEXT, clean INTEGER);
CREATE TABLE IF NOT EXISTS review (
    id INTEGER PRIMARY KEY AUTOINCREMENT, issue_id INTEGER NOT NULL REFERENCES issue,
    user_id INTEGER NOT NULL REFERENCES user, state TEXT NOT NULL, body TEXT NOT NULL, commit_id TEXT NOT NULL,
    submitted_at TEXT);
CREATE TABLE IF NOT EXISTS review_comment (
    id INTEGER PRIMARY KEY AUTOINCREMENT, issue_id INTEGER NOT NULL REFERENCES issue,
    review_id INTEGER NOT NULL REFERENCES review, user_id INTEGER NOT NULL REFERENCES user, body TEXT NOT NULL,
    path TEXT NOT NULL, line INTEGER, side TEXT NOT NULL, start_line INTEGER, position INTEGER, hunk TEXT NOT NULL,
    commit_id TEXT NOT NULL, in_reply_to INTEGER, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS resolved_thread (
    comment_id INTEGER PRIMARY KEY REFERENCES review_comment, user_id INTEGER NOT NULL REFERENCES user,
    at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS installation (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app_id INTEGER NOT NULL REFERENCES app, public_key TEXT NOT NULL,
    permissions TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS review_request (
    issue_id INTEGER NOT NULL REFERENCES issue, user_id INTEGER NOT NULL REFERENCES user,
    PRIMARY KEY (issue_id, user_id));

CREATE TABLE IF NOT EXISTS status (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository, sha TEXT NOT NULL,
    state TEXT NOT NULL, context TEXT NOT NULL, description TEXT, target_url TEXT,
    user_id INTEGER NOT NULL REFERENCES user, created_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS status_sha ON status (repository_id, sha);
CREATE TABLE IF NOT EXISTS check_suite (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository, sha TEXT NOT NULL,
    app_id INTEGER NOT NULL REFERENCES app, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    UNIQUE (repository_id, sha, app_id));
CREATE TABLE IF NOT EXISTS check_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, suite_id INTEGER NOT NULL REFERENCES check_suite, name TEXT NOT NULL,
    status TEXT NOT NULL, conclusion TEXT, external_id TEXT, details_url TEXT, title TEXT, summary TEXT, text TEXT,
    started_at TEXT, completed_at TEXT);
CREATE TABLE IF NOT EXISTS annotation (
    id INTEGER PRIMARY KEY AUTOINCREMENT, run_id INTEGER NOT NULL REFERENCES check_run, detail TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS ruleset (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository, name TEXT NOT NULL,
    enforcement TEXT NOT NULL, include TEXT NOT NULL, exclude TEXT NOT NULL, rules TEXT NOT NULL,
    created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS protection (
    repository_id INTEGER NOT NULL REFERENCES repository, branch TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (repository_id, branch));

CREATE TABLE IF NOT EXISTS queue_entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository,
    issue_id INTEGER NOT NULL UNIQUE REFERENCES issue, base_ref TEXT NOT NULL, head_sha TEXT NOT NULL,
    base_sha TEXT NOT NULL, sha TEXT NOT NULL, created_at TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS token_scope (
    token_id INTEGER NOT NULL REFERENCES token, name TEXT NOT NULL, PRIMARY KEY (token_id, name));

CREATE TABLE IF NOT EXISTS board (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL REFERENCES user, number INTEGER NOT NULL,
    title TEXT NOT NULL, public INTEGER NOT NULL DEFAULT 0, closed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner_id, number));
CREATE TABLE IF NOT EXISTS board_member (
    board_id INTEGER NOT NULL REFERENCES board, user_id INTEGER NOT NULL REFERENCES user, role TEXT NOT NULL,
    PRIMARY KEY (board_id, user_id));
CREATE TABLE IF NOT EXISTS board_field (
    id INTEGER PRIMARY KEY AUTOINCREMENT, board_id INTEGER NOT NULL REFERENCES board, name TEXT NOT NULL COLLATE NOCASE,
    type TEXT NOT NULL, UNIQUE (board_id, name));
CREATE TABLE IF NOT EXISTS board_option (
    id TEXT PRIMARY KEY, field_id INTEGER NOT NULL REFERENCES board_field, name TEXT NOT NULL, color TEXT NOT NULL,
    description TEXT NOT NULL, place INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS board_item (
    id INTEGER PRIMARY KEY AUTOINCREMENT, board_id INTEGER NOT NULL REFERENCES board,
    issue_id INTEGER NOT NULL REFERENCES issue, archived INTEGER NOT NULL DEFAULT 0, UNIQUE (board_id, issue_id));
CREATE TABLE IF NOT EXISTS board_value (
    item_id INTEGER NOT NULL REFERENCES board_item ON DELETE CASCADE,
    field_id INTEGER NOT NULL REFERENCES board_field,
    option_id TEXT NOT NULL REFERENCES board_option ON DELETE CASCADE, user_id INTEGER NOT NULL REFERENCES user,
    PRIMARY KEY (item_id, field_id));

CREATE TABLE IF NOT EXISTS workflow_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, repository_id INTEGER NOT NULL REFERENCES repository, name TEXT NOT NULL,
    sha TEXT NOT NULL, branch TEXT, event TEXT NOT NULL, status TEXT NOT NULL, conclusion TEXT, path TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1, user_id INTEGER NOT NULL REFERENCES user, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS workflow_job (
    id INTEGER PRIMARY KEY AUTOINCREMENT, run_id INTEGER NOT NULL REFERENCES workflow_run, name TEXT NOT NULL,
    status TEXT NOT NULL, conclusion TEXT, attempt INTEGER NOT NULL DEFAULT 1, log BLOB,
    log_expired INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL, started_at TEXT NOT NULL, completed_at TEXT);

-- Ids of different things differ, as on GitHub, so that mixing them up shows.
INSERT INTO sqlite_sequence (name, seq)
    SELECT column1, column2 FROM (VALUES ('issue', 100000), ('comment', 200000), ('pull', 500000), ('review', 700000))
    WHERE column1 NOT IN (SELECT name FROM sqlite_sequence);
"""

"""The exact commands: what a CLI is started with, what it is given and what it is kept from."""

import json
from pathlib import Path

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.limit import WHAT, render_limits
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.agents.toml import render_toml
from nightcrew.agents.worktree import find_git_folders
from nightcrew.core.errors import ConfigError, Invalid
from nightcrew.core.model.run import Role
from nightcrew.ports.agent import Agent, AgentJob, Enforcement
from nightcrew.process import run_process
from nightcrew.runtimes.rendering import render_line
from tests.adapters.agents.recording import list_recordings, load_recording, make_settings

SESSION = "11111111-2222-4333-8444-555555555555"
PROMPT = "$(touch /tmp/x) `id` {model} 'é' --help\n"

CLASSES: dict[str, type] = {
    "claude": ClaudeAgent, "codex": CodexAgent, "opencode": OpencodeAgent, "gemini": GeminiAgent,
}  # fmt: skip


def make_job(
    role: Role = Role.AUTHOR,
    *,
    model: str = "",
    resume: str = "",
    workspace: Path = Path("/w/tree"),
    env: dict[str, str] | None = None,
    repository_settings: bool = False,
) -> AgentJob:
    folder = Path("/n/runs/a b")
    report = folder / "report.json"
    return AgentJob(
        role, PROMPT, folder, workspace, report, model, SESSION, env or {}, resume, repository_settings
    )  # fmt: skip


def agent(name: str, **options: object) -> Agent:
    made: Agent = CLASSES[name](make_settings(name, options=options))
    return made


def value_after(argv: tuple[str, ...], flag: str) -> str:
    return argv[argv.index(flag) + 1]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("role", list(Role))
def test_the_prompt_travels_by_file_and_never_by_argument(name, role):
    command = agent(name).command(make_job(role))
    assert command.files["prompt.md"] == PROMPT
    assert command.stdin == "prompt.md"
    assert not any("touch" in word for word in command.argv)
    assert not any("touch" in value for value in command.env.values())
    assert command.argv[0] == agent(name).program == name


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_is_named_only_if_there_is_one(name):
    assert "--model" not in agent(name).command(make_job()).argv
    assert value_after(agent(name).command(make_job(model="m-1")).argv, "--model") == "m-1"


@pytest.mark.parametrize("name", CLASSES)
def test_the_command_of_the_settings_stands_before_the_arguments(name):
    made = CLASSES[name](make_settings(name, name="mine", command=("/opt/bin/tool", "--flag")))
    assert made.command(make_job()).argv[:2] == ("/opt/bin/tool", "--flag")
    assert (made.name, made.program) == ("mine", "/opt/bin/tool")


@pytest.mark.parametrize("name", CLASSES)
def test_variables_of_the_settings_win(name):
    command = agent(name).command(make_job(env={"TMPDIR": "/t", "DISABLE_TELEMETRY": "0", "KEY": "s"}))
    assert (command.env["KEY"], command.env["TMPDIR"]) == ("s", "/t")
    assert not any(word == "s" for word in command.argv)


@pytest.mark.parametrize("name", CLASSES)
def test_the_table_of_limits_is_whole(name):
    rows = agent(name).limits()
    assert [row.what for row in rows] == list(WHAT.values())
    assert {row.how_far for row in rows} <= {Enforcement.ENFORCED, Enforcement.ADVICE, Enforcement.NONE}
    assert all(row.means for row in rows)
    assert agent(name).homes()


def test_a_table_of_limits_with_holes_is_refused():
    with pytest.raises(ValueError, match="rows missing or too many"):
        render_limits({"network": (Enforcement.NONE, "x")})


def test_claude_as_author():
    command = agent("claude").command(make_job(model="m-1"))
    assert command.argv[:7] == ("claude", "-p", "--output-format", "stream-json", "--verbose", "--session-id", SESSION)
    assert value_after(command.argv, "--setting-sources") == "user"
    assert value_after(command.argv, "--permission-mode") == "acceptEdits"
    assert value_after(command.argv, "--add-dir") == "/n/runs/a b"
    assert "--strict-mcp-config" in command.argv
    assert "--json-schema" not in command.argv
    assert not any("skip-permissions" in word for word in command.argv)
    rules = json.loads(value_after(command.argv, "--settings"))
    assert rules["permissions"]["allow"] == ["Bash"]
    assert "Bash(git push:*)" in rules["permissions"]["deny"]
    assert "sandbox" not in rules
    assert command.env["CLAUDE_CODE_MAX_RETRIES"] == "4"
    assert command.env["DISABLE_AUTOUPDATER"] == "1"


def test_claude_as_reviewer_and_router():
    review = agent("claude").command(make_job(Role.REVIEWER)).argv
    rules = json.loads(value_after(review, "--settings"))["permissions"]["allow"]
    assert "Bash" not in rules
    assert "Edit(//n/runs/a b/**)" in rules
    assert "Bash(git *--ou*)" in json.loads(value_after(review, "--settings"))["permissions"]["deny"]
    assert value_after(review, "--permission-mode") == "dontAsk"
    assert "decision" in json.loads(value_after(review, "--json-schema"))["properties"]
    route = agent("claude").command(make_job(Role.ROUTER)).argv
    assert value_after(route, "--tools") == ""
    assert json.loads(value_after(route, "--settings"))["permissions"]["allow"] == []


def test_claude_is_loosened_and_tightened_by_options():
    made = agent("claude", sandbox=True, max_turns=7, max_budget_usd=1.5, allow=["WebFetch"], deny=["Read(//etc/**)"],
                 max_retries=1)  # fmt: skip
    command = made.command(make_job())
    rules = json.loads(value_after(command.argv, "--settings"))
    assert rules["sandbox"]["enabled"] is True
    assert "WebFetch" in rules["permissions"]["allow"]
    assert "Read(//etc/**)" in rules["permissions"]["deny"]
    assert (value_after(command.argv, "--max-turns"), value_after(command.argv, "--max-budget-usd")) == ("7", "1.5")
    assert command.env["CLAUDE_CODE_MAX_RETRIES"] == "1"
    enforced = {row.what for row in made.limits() if row.how_far == Enforcement.ENFORCED}
    assert WHAT["write_outside"] in enforced
    loose = agent("claude", skip_permissions=True)
    assert "--dangerously-skip-permissions" in loose.command(make_job()).argv
    assert "--dangerously-skip-permissions" not in loose.command(make_job(Role.REVIEWER)).argv


def test_a_session_is_resumed():
    claude = agent("claude").command(make_job(resume="abc")).argv
    assert value_after(claude, "--resume") == "abc"
    assert "--session-id" not in claude
    assert agent("codex").command(make_job(resume="abc")).argv[-3:] == ("resume", "abc", "-")
    assert value_after(agent("opencode").command(make_job(resume="abc")).argv, "--session") == "abc"
    gemini = agent("gemini").command(make_job(resume="abc")).argv
    assert value_after(gemini, "--resume") == "abc"
    assert "--session-id" not in gemini


def test_codex_as_author_and_reviewer():
    command = agent("codex").command(make_job())
    assert command.argv[:5] == ("codex", "exec", "--json", "--skip-git-repo-check", "--cd")
    assert value_after(command.argv, "--sandbox") == "workspace-write"
    assert command.argv[-1] == "-"
    assert 'approval_policy="never"' in command.argv
    assert 'sandbox_workspace_write.writable_roots=["/n/runs/a b"]' in command.argv
    assert "sandbox_workspace_write.exclude_slash_tmp=true" in command.argv
    assert command.env["TMPDIR"] == "/n/runs/a b"
    review = agent("codex").command(make_job(Role.REVIEWER))
    assert value_after(review.argv, "--sandbox") == "read-only"
    assert value_after(review.argv, "--output-schema") == "/n/runs/a b/report-schema.json"
    assert "decision" in json.loads(review.files["report-schema.json"])["properties"]
    assert not any("writable_roots" in word for word in review.argv)


def test_codex_speaks_to_another_provider_by_config_alone():
    provider = {"base_url": "http://127.0.0.1:9/v1", "env_key": "MY_KEY", "wire_api": "responses"}
    argv = agent("codex", provider=provider, config={"model_reasoning_effort": "high"}).command(make_job()).argv
    assert 'model_provider="custom"' in argv
    assert ('model_providers.custom={name = "codex", base_url = "http://127.0.0.1:9/v1", env_key = "MY_KEY", '
            'wire_api = "responses"}') in argv  # fmt: skip
    assert 'model_reasoning_effort="high"' in argv


def test_opencode_sets_every_permission_over_what_is_given():
    given = json.dumps({"provider": {"x": {}}, "share": "auto", "permission": {"edit": "ask"}})
    env = (
        agent("opencode", permission={"webfetch": "deny"}).command(make_job(env={"OPENCODE_CONFIG_CONTENT": given})).env
    )
    content = json.loads(env["OPENCODE_CONFIG_CONTENT"])
    assert content["provider"] == {"x": {}}
    assert (content["share"], content["autoupdate"]) == ("disabled", False)
    assert content["permission"]["edit"] == "allow"
    assert content["permission"]["webfetch"] == "deny"
    assert list(content["permission"]["external_directory"].items()) == [("*", "deny"), ("/n/runs/a b/*", "allow")]
    assert env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    review = json.loads(agent("opencode").command(make_job(Role.REVIEWER)).env["OPENCODE_CONFIG_CONTENT"])
    assert review["permission"]["edit"] == "deny"
    assert next(iter(review["permission"]["bash"])) == "*"
    assert list(review["permission"]["bash"].items())[-1] == ("git *--ou*", "deny")
    assert "ask" not in json.dumps(review["permission"]).replace("task", "")
    allowed = agent("opencode").command(make_job(repository_settings=True))
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" not in allowed.env
    with pytest.raises(Invalid):
        agent("opencode").command(make_job(env={"OPENCODE_CONFIG_CONTENT": "[]"}))


def test_gemini_as_author_and_reviewer():
    command = agent("gemini").command(make_job())
    assert value_after(command.argv, "--approval-mode") == "yolo"
    assert value_after(command.argv, "--include-directories") == "/n/runs/a b"
    assert value_after(command.argv, "--allowed-mcp-server-names") == "none"
    assert command.env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    assert command.env["TMPDIR"] == "/n/runs/a b"
    assert value_after(agent("gemini").command(make_job(Role.REVIEWER)).argv, "--approval-mode") == "default"


def test_gemini_is_not_started_where_the_repository_has_settings_for_it(tmp_path):
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "styleguide.md").touch()
    agent("gemini").command(make_job(workspace=tmp_path))
    (tmp_path / ".gemini" / "settings.json").touch()
    with pytest.raises(Invalid, match=r"the repository has \.gemini/settings\.json"):
        agent("gemini").command(make_job(Role.REVIEWER, workspace=tmp_path))
    agent("gemini").command(make_job(workspace=tmp_path, repository_settings=True))


def test_claude_obeys_the_repository_only_where_it_is_let():
    own = agent("claude").command(make_job()).argv
    assert value_after(own, "--setting-sources") == "user"
    assert "--strict-mcp-config" in own
    allowed = agent("claude").command(make_job(repository_settings=True)).argv
    assert value_after(allowed, "--setting-sources") == "user,project"
    assert "--strict-mcp-config" not in allowed


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("claude", {"sandbx": True}, "agents.claude.options.sandbx: unknown option (did you mean sandbox?)"),
        ("claude", {"sandbox": "yes"}, "agents.claude.options.sandbox: is 'yes' (must be true or false)"),
        ("claude", {"max_turns": 0}, "agents.claude.options.max_turns: is 0 (must be a number above zero)"),
        ("claude", {"allow": "Bash"}, "agents.claude.options.allow: is 'Bash' (must be a list of texts)"),
        ("codex", {"sandbox": "none"}, "must be one of workspace-write, danger-full-access"),
        ("codex", {"provider": [1]}, "agents.codex.options.provider: is [1] (must be a table)"),
        ("codex", {"config": {"x": None}}, "agents.codex.options.config: x cannot be written as TOML"),
        ("opencode", {"config": {"x": {1, 2}}}, "agents.opencode.options.config: cannot be written as JSON"),
        ("gemini", {"approval": "all"}, "must be one of yolo, auto_edit, default"),
        ("gemini", {"zzz": 1}, "known: approval, mcp_servers, sandbox"),
    ],
)
def test_a_wrong_option_is_named(name, options, says):
    with pytest.raises(ConfigError) as caught:
        agent(name, **options)
    assert says in str(caught.value)


def test_all_wrong_options_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        agent("claude", sandbox=1, allow=2, nonsense=3)
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("value", "toml"),
    [
        (True, "true"),
        (3, "3"),
        (1.5, "1.5"),
        ('a"b\\c\n\x7f é 😀', '"a\\"b\\\\c\\n\\u007f é 😀"'),
        ([1, "x"], '[1, "x"]'),
        ({"a": {"b c": False}}, '{a = {"b c" = false}}'),
        (None, None),
        ([None], None),
        ({"a": object()}, None),
        (float("nan"), None),
    ],
)
def test_values_as_toml(value, toml):
    assert render_toml(value) == toml


async def test_the_git_folders_of_a_linked_worktree(tmp_path):
    bare, tree = tmp_path / "bare repo", tmp_path / "tree"
    await run_process(["git", "init", "-q", "--bare", str(bare)], timeout_s=20)
    name = ("-c", "user.name=n", "-c", "user.email=n@example.invalid")
    empty = await run_process(["git", "-C", str(bare), "hash-object", "-t", "tree", "-w", "/dev/null"], timeout_s=20)
    commit = await run_process(
        ["git", *name, "-C", str(bare), "commit-tree", "-m", "x", empty.text.strip()], timeout_s=20
    )
    added = await run_process(
        ["git", "-C", str(bare), "worktree", "add", "-q", "-b", "b", str(tree), commit.text.strip()], timeout_s=20
    )
    assert added.ok, added.complaint
    found = find_git_folders(tree)
    assert found[0] == bare / "worktrees" / "tree"
    assert {bare / "objects", bare / "refs"} <= set(found)
    assert not {bare, bare / "hooks"} & set(found)
    assert find_git_folders(bare) == find_git_folders(tmp_path / "nowhere") == ()
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert find_git_folders(tmp_path) == ()


SHOWN = {
    "claude/ok-stream-json": [
        "I will write the file.",
        "$ printf 'hello",
        "  1276f09 mock commit",
        "ended: Done. I wrote",
    ],
    "claude/http429once-stream": ["retrying: rate_limit"],
    "claude/http429reset-stream": ["failed: API Error: Request rejected (429)"],
    "codex/ok-json-danger": [
        "$ /bin/bash -lc",
        "  8c581d9 mock commit",
        "Done. I wrote hello.txt",
        "note: Model metadata",
    ],
    "codex/http401-json": ["error: Reconnecting... 1/5", "failed: unexpected status 401"],
    "opencode/ok-json": ["I will write the file.", "$ printf 'hello", "Done. I wrote"],
    "opencode/ask-in-run-json": ["refused: The user rejected permission"],
    "opencode/http401-json": ["failed: invalid x-api-key"],
    "gemini/ok-streamjson-yolo": [
        "I will write the file.",
        "$ printf 'hello",
        "  0910890 mock commit",
        "ended: success",
    ],
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_pane_shows_what_a_person_can_read(name):
    show = agent(name.partition("/")[0]).command(make_job()).show
    shown = [render_line(line, show) for line in load_recording(name).stdout.split(b"\n") if line]
    text = "\n".join(part for part in shown if part)
    for words in SHOWN[name]:
        assert words in text
    assert '{"' not in text


def test_every_recorded_stream_can_be_shown():
    for cli in CLASSES:
        show = agent(cli).command(make_job()).show
        for name in list_recordings(cli):
            for line in load_recording(name).stdout.split(b"\n"):
                render_line(line, show)

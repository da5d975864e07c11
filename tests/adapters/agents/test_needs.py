"""What each CLI needs of a home in a sandbox, and which servers it talks to."""

from pathlib import Path
from typing import Any

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.custom import CustomAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.home import host_of
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.agents.scripted import PLAYER, ScriptedAgent
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.ports.agent import Access, AgentJob, Needs
from nightcrew.sandbox import ensure_home_view

CLIS: dict[str, Any] = {"claude": ClaudeAgent, "codex": CodexAgent, "opencode": OpencodeAgent, "gemini": GeminiAgent}
LOGINS = {
    "claude": ".claude/.credentials.json",
    "codex": ".codex/auth.json",
    "opencode": ".local/share/opencode/auth.json",
    "gemini": ".gemini/oauth_creds.json",
}
OBEYED = {
    "claude": (".claude/settings.json", ".claude/hooks/x", ".claude/CLAUDE.md", ".claude/plugins/x"),
    "codex": (".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md", ".codex/skills/x"),
    "opencode": (".config/opencode/opencode.json", ".local/share/opencode/bin/rg"),
    "gemini": (".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/extensions/x", ".gemini/.env"),
}


def needs(made: Any, **env: str) -> Needs:
    folder = Path("/n/runs/1/agent")
    found: Needs = made.needs(AgentJob(Role.AUTHOR, "", folder, Path("/w/tree-1"), folder / "report.json", "", "", env))
    return found


def make(name: str, **options: object) -> Any:
    return CLIS[name](AgentSettings(name, name, options=options))


def is_writable(home: Path, found: Needs, path: str) -> bool | None:
    """Whether the agent can write that path of the home; None if it does not see the person's."""
    view = ensure_home_view(home, found.home)
    over = {**{bind.path: bind.writable for bind in view.binds}, **dict.fromkeys(view.private)}
    parts = [one for one in over if (home / path).is_relative_to(one)]
    return over[max(parts, key=lambda one: len(one.parts))] if parts else None


@pytest.mark.parametrize("name", CLIS)
def test_the_login_can_be_refreshed_and_nothing_that_is_obeyed_can_be_changed(tmp_path, name):
    found = needs(make(name))
    for path in (LOGINS[name], *OBEYED[name]):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    assert is_writable(tmp_path, found, LOGINS[name]) is True
    for path in OBEYED[name]:
        assert is_writable(tmp_path, found, path) is False, path
    for path in (".ssh/id_ed25519", ".config/gh/hosts.yml", ".bashrc"):
        assert is_writable(tmp_path, found, path) is None


def test_sessions_of_other_workspaces_are_not_seen_by_claude(tmp_path):
    (tmp_path / ".claude").mkdir()
    found = needs(make("claude"))
    assert is_writable(tmp_path, found, ".claude/projects/-w-tree-1/a.jsonl") is True
    assert is_writable(tmp_path, found, ".claude/projects/-w-tree-2/a.jsonl") is None


@pytest.mark.parametrize(("name", "variable"), [("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")])
def test_another_folder_of_the_login_is_bound_instead(tmp_path, name, variable):
    other = tmp_path / "elsewhere" / "second"
    other.mkdir(parents=True)
    home = tmp_path / "home"
    home.mkdir()
    found = needs(make(name), **{variable: str(other)})
    assert is_writable(home, found, str(other / "login")) is True
    assert is_writable(home, found, str(other / "skills" / "x")) is False
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "env", "hosts"),
    [
        ("claude", {}, "api.anthropic.com"),
        ("claude", {"ANTHROPIC_BASE_URL": "https://api.moonshot.ai/anthropic"}, "api.moonshot.ai"),
        ("claude", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:4000"}, "127.0.0.1:4000"),
        ("codex", {}, "api.openai.com"),
        ("gemini", {}, "generativelanguage.googleapis.com"),
    ],
)
def test_the_servers_of_a_model(name, env, hosts):
    assert needs(make(name), **env).hosts[0] == hosts


def test_the_server_of_a_provider_is_the_only_one():
    assert needs(make("codex", provider={"base_url": "https://llm.example.com/v1"})).hosts == ("llm.example.com",)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a.example/x", "a.example"),
        ("http://a.example", "a.example:80"),
        ("https://a.example:8443", "a.example:8443"),
        ("a.example", ""),
        ("https://a.example:port", ""),
    ],
)
def test_the_host_of_a_url(url, host):
    assert host_of(url) == host


def test_a_sandbox_of_their_own_is_told():
    assert needs(make("claude")).nested == needs(make("codex")).nested == ""
    assert needs(make("claude", sandbox=True)).nested == "option sandbox"


def test_a_scripted_agent_reads_its_playbook():
    made = ScriptedAgent(AgentSettings("owl", "scripted", options={"playbook": "/n/book.json"}))
    assert {PLAYER, Path("/n/book.json")} <= set(needs(made).read)


def test_a_custom_agent_names_its_own():
    options = {"home": [{"path": ".tool/"}, {"path": ".toolrc", "access": "read"}]}
    made = CustomAgent(AgentSettings("tool", "custom", command=("tool",), options=options))
    assert [(one.path, one.access) for one in needs(made).home] == [(".tool/", Access.WRITE), (".toolrc", Access.READ)]


@pytest.mark.parametrize("entry", [{"path": "/etc"}, {"path": "../x"}, {"path": "."}, {"path": ""}, {}, {"path": "~/x"},
                                   {"path": ".x", "access": "own"}])  # fmt: skip
def test_a_custom_agent_cannot_name_more_than_parts_of_the_home(entry):
    with pytest.raises(ConfigError, match=r"agents\.tool\.options\.home"):
        CustomAgent(AgentSettings("tool", "custom", command=("tool",), options={"home": [entry]}))

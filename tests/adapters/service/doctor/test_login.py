"""What vendors' CLIs answer when they are asked whether they are logged in, as they answered it."""

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.model.settings import AgentSettings
from nightcrew.ports.agent import ShowsLogin
from nightcrew.service.doctor.program import parse_version

_CLAUDE_OUT = '{\n  "loggedIn": false,\n  "authMethod": "none",\n  "apiProvider": "firstParty"\n}\n'
_CLAUDE_IN = '{\n  "loggedIn": true,\n  "authMethod": "api_key",\n  "apiKeySource": "ANTHROPIC_API_KEY"\n}\n'
_CODEX_WARNING = "WARNING: proceeding, even though we could not create PATH aliases\n"
_OPENCODE = "\u250c  Credentials \x1b[90m~/.local/share/opencode/auth.json\n\u2502\n\u2514  {} credentials\n\x1b[0m\n"


@pytest.mark.parametrize(
    ("kind", "code", "output", "answer"),
    [
        (ClaudeAgent, 1, _CLAUDE_OUT, False),
        (ClaudeAgent, 0, _CLAUDE_IN, True),
        (ClaudeAgent, 1, "error: unknown command 'auth'", None),
        (ClaudeAgent, 0, '{"loggedIn": "perhaps"}', None),
        (ClaudeAgent, 0, "[1] } {", None),
        (CodexAgent, 1, f"{_CODEX_WARNING}Not logged in\n", False),
        (CodexAgent, 0, "Logged in using ChatGPT\n", True),
        (CodexAgent, 2, "error: unrecognized subcommand 'status'", None),
        (OpencodeAgent, 0, _OPENCODE.format(0), None),
        (OpencodeAgent, 0, _OPENCODE.format(2), True),
        (OpencodeAgent, 1, "2 credentials, and a crash", None),
        (GeminiAgent, 0, "whatever", None),
    ],
)
def test_what_is_unclear_is_not_no(kind, code, output, answer):
    agent = kind(AgentSettings("one", "x"))
    assert isinstance(agent, ShowsLogin)
    assert agent.read_login(code, output) is answer


def test_a_provider_of_its_own_is_not_asked_for():
    options = {"provider": {"base_url": "http://127.0.0.1:9/v1", "env_key": "KEY"}}
    assert CodexAgent(AgentSettings("one", "codex", options=options)).login_sign().command == ()


@pytest.mark.parametrize(
    ("words", "version"),
    [("2.1.197 (Claude Code)", (2, 1, 197)), ("codex-cli 0.171.0", (0, 171, 0)), ("tmux 3.3a", (3, 3)), ("dev", (99,))],
)
def test_versions(words, version):
    assert parse_version(words) == version

"""Asking a CLI for its models: a program that prints them, fails, or is no such CLI."""

import sys
from pathlib import Path

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.errors import PortError, Unavailable
from nightcrew.service.model_list import list_models
from tests.adapters.agents.recording import make_settings


def opencode(tmp_path: Path, program: str) -> OpencodeAgent:
    script = tmp_path / "opencode.py"
    script.write_text(program, encoding="utf-8")
    return OpencodeAgent(make_settings("opencode", command=(sys.executable, str(script))))


async def test_each_line_is_a_name(tmp_path):
    program = "import os, sys; print('\\x1b[1mopencode/a-free\\x1b[0m'); print(*sys.argv[1:], os.environ['KEY'])"
    assert await list_models(opencode(tmp_path, program), {"KEY": "mine"}) == ("opencode/a-free", "models mine")


async def test_a_cli_that_cannot_say_names_none():
    assert await list_models(ClaudeAgent(make_settings("claude")), {}) == ()


async def test_a_cli_that_fails_says_why(tmp_path):
    with pytest.raises(Unavailable, match="database is locked"):
        await list_models(opencode(tmp_path, "import sys; sys.exit('database is locked')"), {})
    with pytest.raises(PortError):
        await list_models(OpencodeAgent(make_settings("opencode", command=("no-such-program-here",))), {})

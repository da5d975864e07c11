"""Whether the end of a stream says that a tool is at work."""

import json
from typing import Any

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.model.settings import AgentSettings

Line = dict[str, Any]

CALL: Line = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I run them"},
              {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make test"}}]}}  # fmt: skip
ANSWER: Line = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}}
ITEM = {"id": "item_1", "type": "command_execution", "command": "make test"}
RUNS: dict[type, tuple[Line, Line]] = {
    ClaudeAgent: (CALL, ANSWER),
    CodexAgent: ({"type": "item.started", "item": ITEM}, {"type": "item.completed", "item": ITEM}),
    GeminiAgent: (
        {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "run_1", "parameters": {}},
        {"type": "tool_result", "tool_id": "run_1", "status": "success", "output": "ok"},
    ),
}


def stream(*lines: Line) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize("kind", RUNS)
def test_a_tool_is_at_work_between_its_call_and_its_answer(kind):
    agent = kind(AgentSettings("a", "a"))
    call, answer = RUNS[kind]
    assert agent.is_at_work(stream(call))
    assert not agent.is_at_work(stream(call, answer))
    assert not agent.is_at_work(stream(answer))
    assert not agent.is_at_work(b"")
    assert agent.is_at_work(b'the end of a line"}\n' + stream(answer, call))


@pytest.mark.parametrize("kind", [*RUNS, OpencodeAgent])
@pytest.mark.parametrize("output", [b"\xff\x00{", b"[]\n1\n", b'{"type": 1}\n', b'{"message": []}\n{"item": "x"}'])
def test_anything_may_stand_in_a_stream(kind, output):
    assert not kind(AgentSettings("a", "a")).is_at_work(output)

"""Whether the beginning of a recorded stream shows that the model has answered, and in which session."""

from pathlib import Path

import pytest

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.engine.view.run import find_answer
from tests.adapters.agents.recording import load_recording
from tests.adapters.agents.test_transcripts import AGENTS
from tests.core.build import NOW

RUN = Run(
    RunId("r1"), TaskKey("acme/widget", 7), Role.AUTHOR, "any", "", 2, RunState.RUNNING, "nc", "run", NOW, 60.0,
    agent_session="as-asked",
)  # fmt: skip


def answer(cli: str, folder: Path, stdout: bytes) -> str:
    (folder / "stdout.log").write_bytes(stdout)
    return find_answer(RUN, AGENTS[cli], folder)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("claude/ok-stream-json", True), ("claude/hang-before-headers-stream", False), ("claude/http401-stream", False),
        ("claude/http429-default-stream", False), ("claude/bad-flag", False),
        ("codex/ok-json-danger", True), ("codex/http401-json", False),
    ],
)  # fmt: skip
def test_only_a_word_of_the_model_is_an_answer(tmp_path, name, answers):
    stdout = load_recording(name).stdout
    found = answer(name.partition("/")[0], tmp_path, stdout)
    assert bool(found) is answers
    assert found != "as-asked"
    # It shows as the stream grows, once and for all.
    lines = stdout.splitlines(keepends=True)
    seen = [bool(answer(name.partition("/")[0], tmp_path, b"".join(lines[:count]))) for count in range(len(lines) + 1)]
    assert seen == sorted(seen)
    assert seen[0] is False


def test_where_nothing_was_printed_or_nobody_can_read_it_nothing_shows(tmp_path):
    assert find_answer(RUN, None, tmp_path) == ""
    assert find_answer(RUN, AGENTS["claude"], tmp_path) == ""

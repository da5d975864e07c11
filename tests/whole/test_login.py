"""A login that ran out, with the real adapter, the real service and a program that says what the CLI says."""

import stat

import pytest

from tests.waiting import eventually
from tests.whole.stage import WITHIN_S, attempt, staged

PROGRAM = """#!/bin/sh
cat >/dev/null
echo 'Not logged in · Please run /login'
exit 1
"""


@pytest.mark.case("C241")
async def test_a_person_is_told_once_what_to_run_and_the_task_goes_to_others():
    async with staged() as stage:
        program = stage.folder / "claude"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        scripted = {"adapter": "scripted", "options": {"playbook": str(stage.playbook)}}
        stage.configure(
            top={
                "agents": {
                    "claude": {"command": [str(program)], "can_review": False},
                    "fox": scripted,
                    "lynx": scripted,
                }
            }
        )
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})] * 3)
        stage.serve()
        number = await stage.file_issue("Find the answer")
        await stage.until(number, "done", within_s=120)
        told = "SELECT * FROM notices WHERE kind = 'agent_needs_person'"
        (notice,) = await eventually(lambda: stage.rows(told), within_s=WITHIN_S, what="the notice")
        assert f"run `{program} /login` on this machine" in notice["words"]
        assert "One task waits for it; fox, lynx can be used meanwhile" in notice["words"]
        assert (notice["priority"], notice["project"]) == ("action", "")
        assert await stage.stop() == 0
        stage.serve()
        await stage.answering()
        said = await stage.cli("notice", "list")
        assert said.code == 0
        assert said.out.count("agent_needs_person") == 1
        assert next(run["agent"] for run in stage.runs("author")) == "claude"

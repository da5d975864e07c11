"""A message to an agent, with the service killed around it: the next turn of the agent's own session, once."""

import json

import pytest

from tests.waiting import eventually
from tests.whole.stage import Stage, attempt, staged

TITLE = "Find the answer"
MOMENTS = [
    ("after", "workspace.collect", 1),
    ("before", "session.start", 2),
    ("after", "session.start", 2),
]


def told_prompts(stage: Stage, text: str) -> list[str]:
    """The run folders whose prompt holds a text."""
    return sorted(
        str(path.parent.name) for path in stage.home.root.glob("runs/**/prompt.md")
        if path.parent.name != "agent" and text in path.read_text(encoding="utf-8")
    )  # fmt: skip


async def shown(stage: Stage, number: int) -> list[dict[str, object]]:
    said = await stage.cli("task", "show", str(number), "--json")
    assert said.code == 0, said.err
    found: list[dict[str, object]] = json.loads(said.out)["sayings"]
    return found


@pytest.mark.parametrize("moment", [None, *MOMENTS], ids=str)
async def test_what_was_said_is_heard_once_in_the_agents_own_session(moment):
    async with staged() as stage:
        works = attempt({"half.txt": "half\n"}, "Half of it.", gate=stage.gate("go"))
        stage.play(TITLE, [works, attempt({"answer.txt": "42\n"}, heard="heard.txt")])
        number = await stage.file_issue(TITLE)
        stage.start(die_at=[moment] if moment else [])
        first = await stage.started("author")
        await stage.answering()
        said = await stage.cli("task", "say", str(number), "use a lock; $(touch x)")
        assert said.code == 0, said.err
        assert "next turn of" in said.out
        if moment is None:
            await stage.kill()
            stage.start()
            await stage.answering()
        assert [row["state"] for row in stage.rows("SELECT state FROM sayings")] == ["queued"]
        stage.open_gate("go")
        if moment is not None:
            await stage.ended()
            assert stage.moments_left == []
            stage.start()
        second = await stage.started("author", 2)
        await stage.until(number, "done")
        assert (second["agent"], second["resume"]) == (first["agent"], first["session"])
        (saying,) = await shown(stage, number)
        assert stage.git("show", "main:heard.txt") == f"{first['session']} {saying['message']} use a lock; $(touch x)"
        assert stage.git("show", "main:half.txt") == "half"
        assert (saying["state"], saying["session"]) == ("seen", first["session"])
        assert str(saying["words"]).startswith(f"delivered to {first['agent']} in turn 2, in its own session at 20")
        assert [name for name in told_prompts(stage, "use a lock") if name.startswith("author")] == ["author-2"]
        assert [run["role"] for run in stage.runs()] == ["author", "author", "reviewer"]
        assert len(await stage.pulls()) == 1


async def test_a_comment_that_is_not_to_wait_ends_the_turn():
    async with staged() as stage:
        stuck = attempt({"half.txt": "half\n"}, "Never said.", gate=stage.gate("never"))
        stage.play(TITLE, [stuck, attempt({"answer.txt": "42\n"}, heard="heard.txt")])
        number = await stage.file_issue(TITLE)
        stage.start()
        first = await stage.started("author")
        await eventually(lambda: stage.runs()[0]["state"] == "running", what="the run to be recorded")
        answer = await stage.bob.post(f"/issues/{number}/comments", json={"body": "/say --now turn round\n\nat once"})
        assert answer.status_code == 201
        await stage.until(number, "done")
        ended, turn = stage.runs("author")
        assert ended["outcome"]["interruption"]["kind"] == "stopped"
        assert turn["resumes"] == first["session"]
        assert stage.git("show", "main:heard.txt").endswith(" turn round")
        (saying,) = await shown(stage, number)
        assert (saying["author"], saying["text"], saying["state"]) == ("bob", "turn round\n\nat once", "seen")
        assert any("to its agent: delivered to" in body for body in await stage.comments(number))

"""The configuration file is edited while the service runs, as people and their editors do it."""

import json
import os
import signal
from typing import Any

from tests.waiting import eventually
from tests.whole.outside import PROJECT
from tests.whole.stage import AGENTS, WITHIN_S, Stage, attempt, staged

OTHER = "octo/other"


async def problems(stage: Stage) -> list[str]:
    found: list[str] = (await stage.api("GET", "/status")).json()["problems"]
    return found


async def config(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = (await stage.api("GET", "/config")).json()["config"]
    return found


def replaced(stage: Stage, text: str) -> None:
    """As most editors save: another file is put in the place of the old one."""
    draft = stage.home.config.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    draft.chmod(0o600)
    draft.replace(stage.home.config)


async def test_an_edited_file_takes_effect_while_an_agent_works(tmp_path):
    async with staged() as stage:
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"}, gate=stage.gate("go"))])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        start = await stage.started("author")
        left = [name for name in AGENTS if name != stage.runs("author")[0]["agent"]]
        options = {"playbook": str(stage.playbook)}
        agents = {name: {"adapter": "scripted", "options": options} for name in (*left, "newt")}
        stage.configure(top={"interval": 0.4, "agents": agents})

        async def taken_up() -> bool:
            return bool((await config(stage))["interval"] == 0.4)

        await eventually(taken_up, within_s=WITHIN_S, what="the edit to take effect")
        assert set((await config(stage))["agents"]) == {*left, "newt"}
        assert await problems(stage) == []
        os.kill(start["pid"], 0)  # it works on, although its agent was taken out
        stage.open_gate("go")
        await stage.until(number, "done")
        assert len(stage.starts("author")) == 1
        assert [event["kind"] for event in stage.events() if event["kind"].startswith("config.")] == ["config.reloaded"]
        assert await stage.stop() == 0


async def test_a_broken_file_changes_nothing_and_is_shown_until_it_is_mended(tmp_path):
    async with staged() as stage:
        good = stage.home.config.read_text(encoding="utf-8")
        stage.serve()
        await stage.answering()
        before = await config(stage)
        for broken in ("interval: [half-writ", json.dumps({**json.loads(good), "intervall": 3}), None):
            if broken is None:
                stage.home.config.unlink()
            else:
                replaced(stage, broken)
            shown = await eventually(lambda: problems(stage), within_s=WITHIN_S, what="the problem to be shown")
            assert all("the last good one stays" in words for words in shown), shown
            assert await config(stage) == before
            assert "the last good one stays" in (await stage.cli("status")).out
            done = await stage.cli("config", "reload")
            assert (done.code, done.out) == (1, "")
            replaced(stage, good)
            await eventually(lambda: _is_well(stage), within_s=WITHIN_S, what="the problem to be gone")
        assert await config(stage) == before
        kinds = [event["kind"] for event in stage.events() if event["kind"].startswith("config.")]
        assert kinds == ["config.refused", "config.mended"] * 3
        assert await stage.stop() == 0


async def _is_well(stage: Stage) -> bool:
    return await problems(stage) == []


async def test_a_project_comes_and_goes_by_command(tmp_path):
    async with staged() as stage:
        await stage.forge.create_repository(OTHER, files={"README.md": "# Other\n"})
        text = json.loads(stage.home.config.read_text(encoding="utf-8"))
        text["defaults"] = {"forge": "stage"}
        replaced(stage, "projects:\n" + f"  - {json.dumps(text.pop('projects')[0])}\n" + _lines(text))
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"}, gate=stage.gate("never"))])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.started("author")
        done = await stage.cli("project", "add", OTHER)
        assert "The running service has taken it up." in done.out, done
        status = (await stage.api("GET", "/status")).json()
        assert [project["project"] for project in status["projects"]] == [PROJECT, OTHER]
        done = await stage.cli("project", "remove", PROJECT)
        assert "The running service has taken it up." in done.out, done
        run = await eventually(lambda: _ended(stage), within_s=WITHIN_S, what="its run to be ended")
        assert "not configured any more" in json.dumps(run["outcome"])
        assert stage.sessions() == []
        task = stage.task(number)
        assert task is not None
        assert task["status"] == "in_progress"
        assert "status:in_progress" in await stage.labels(number)
        assert await stage.stop() == 0


def _lines(values: dict[str, Any]) -> str:
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in values.items())


def _ended(stage: Stage) -> Any:
    return next((run for run in stage.runs("author") if run["state"] == "ended"), None)


async def test_what_needs_a_restart_stays_as_it_was_and_says_so(tmp_path):
    async with staged() as stage:
        stage.serve()
        await stage.answering()
        before = (await config(stage))["forges"]
        text = json.loads(stage.home.config.read_text(encoding="utf-8"))
        text["forges"]["stage"]["write_interval"] = 2
        text["limits"] = {"max_runs": 7}
        stage.home.config.write_text(json.dumps(text), encoding="utf-8")
        os.kill(stage.pid, signal.SIGHUP)
        shown = await eventually(lambda: problems(stage), within_s=WITHIN_S, what="the restart to be asked for")
        assert shown == ["needs a restart: forges.stage.write_interval: was changed"]
        now = await config(stage)
        assert (now["forges"], now["limits"]["max_runs"]) == (before, 7)
        assert "needs a restart" in (await stage.cli("doctor")).out
        assert await stage.stop() == 0
        stage.serve()
        await stage.answering()
        assert await problems(stage) == []
        assert (await config(stage))["forges"]["stage"]["write_interval"] == "2s"
        assert await stage.stop() == 0

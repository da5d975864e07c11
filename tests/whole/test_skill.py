"""Skills of a real service: one required from the repository, one that the router chooses from the home, and one of a
pinned repository, all of them in the prompt and in the run's own folder; over a kill."""

from pathlib import Path

from tests.adapters.workspaces.house import git
from tests.fakes.skill import skill_text
from tests.waiting import eventually
from tests.whole.outside import PROJECT
from tests.whole.stage import WITHIN_S, attempt, staged

TITLE = "Write the answer"


def put(folder: Path, name: str, **more: str) -> None:
    (folder / name).mkdir(parents=True)
    for path, text in {"SKILL.md": skill_text(name, says=f"Mind the {name}."), **more}.items():
        (folder / name / path).write_text(text, encoding="utf-8")


async def test_skills_reach_the_agents_over_a_kill():
    async with staged() as stage:
        chosen = {"agent": "fox", "why": "plain", "skills": ["sql", "made-up"]}
        stage.play(TITLE, [attempt({"answer.txt": "42\n"})], route=chosen)
        put(stage.home.root / "skills", "sql", **{"schema.txt": "one table\n"})
        put(stage.home.root / "skills", "broken", **{"SKILL.md": "nothing"})
        put(stage.folder / "far", "judging")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "skills")):
            git(stage.folder / "far", *words)
        pinned = {"url": str(stage.folder / "far"), "ref": git(stage.folder / "far", "rev-parse", "HEAD")}
        stage.push("main", {".nightcrew/skills/style/SKILL.md": skill_text("style", says="Mind the style.")})
        stage.configure(
            top={"router": {"mode": "model", "agent": "owl"}},
            skills={"required": ["style"], "review": ["judging"], "repositories": [pinned]},
        )
        stage.start(die_at=[("after", "workspace.ensure", 1)])
        await stage.answering()
        number = await stage.file_issue(TITLE)
        await stage.ended()
        stage.start()
        await stage.until(number, "done")

        author, reviewer = stage.starts("author")[-1], stage.starts("reviewer")[-1]
        assert author["agent"] == "fox"
        prompt = (Path(author["folder"]) / "prompt.md").read_text(encoding="utf-8")
        assert "Mind the style." in prompt
        assert "Mind the sql." in prompt
        assert "Mind the judging." not in prompt
        own = Path(author["folder"]) / "agent" / "skills"
        assert (own / "sql" / "schema.txt").read_text(encoding="utf-8") == "one table\n"
        assert f"{own}/style/SKILL.md" in prompt
        asked = (Path(stage.starts("router")[-1]["folder"]) / "prompt.md").read_text(encoding="utf-8")
        assert "- sql: How sql is done." in asked
        judged = (Path(reviewer["folder"]) / "prompt.md").read_text(encoding="utf-8")
        assert "Mind the judging." in judged

        shown = await stage.cli("task", "show", f"{PROJECT}#{number}")
        assert "there is no skill made-up" in shown.out
        assert "sql" in shown.out
        listed = await stage.cli("skill", "list")
        assert "broken/SKILL.md" in listed.out
        assert "every reviewer" in listed.out

        async def is_told():
            status = (await stage.api("GET", "/status")).json()
            return [words for words in status["problems"] if "broken/SKILL.md" in words]

        assert await eventually(is_told, within_s=WITHIN_S, what="the problem in the status")
        await stage.stop()
        offline = await stage.cli("skill", "show", "judging")
        assert "Mind the judging." in offline.out

"""Skills over the API and on the command line."""

import json

from nightcrew.core.model.skill import Skill, SkillPlace, SkillSource, SkillText
from nightcrew.ports.skill_service import SkillEntry, SkillReport, SkillUse
from tests.adapters.api.serving import asked
from tests.adapters.cli.command import shell
from tests.fakes.service import PROJECT, FakeService

OTHER = "acme/gears"
HOME = SkillPlace(SkillSource.HOME, "/home/me/skills")
OWN = SkillPlace(SkillSource.REPOSITORY, OTHER, "ab" * 20)


def an_entry(name: str, use: SkillUse, *, project: str = PROJECT, place: SkillPlace = HOME) -> SkillEntry:
    said = SkillText(name, f"How {name}\x1b[2J is done.", "# So\n\nUse \x1b]0;tabs.")
    return SkillEntry(project, Skill(said, place, name, ("SKILL.md", "run.sh")), use)


def with_skills() -> FakeService:
    service = FakeService()
    service.add_project(OTHER)
    service.skills = SkillReport(
        (
            an_entry("style", SkillUse.REQUIRED),
            an_entry("sql", SkillUse.OFFERED),
            an_entry("sql", SkillUse.BY_NAME, project=OTHER),
            an_entry("style", SkillUse.REVIEW, project=OTHER, place=OWN),
        ),
        ("bad/SKILL.md:1:name: is missing\x1b[2J",),
    )
    return service


async def test_skills_are_listed_and_shown(tmp_path):
    async with asked(with_skills(), tmp_path) as client:
        every = (await client.get("/skills")).json()
        one = (await client.get("/skills", params={"project": OTHER})).json()["skills"]
        detail = (await client.get(f"/skills/{OTHER}/style")).json()
        missing = [
            await client.get(path) for path in (f"/skills/{PROJECT}/x", "/skills/a/b/style", "/skills?project=a/b")
        ]
    assert [(skill["skill"], skill["use"]) for skill in every["skills"]] == [
        ("style", "required"),
        ("sql", "offered"),
        ("sql", "by_name"),
        ("style", "review"),
    ]
    assert every["problems"] == list(with_skills().skills.problems)
    assert [skill["skill"] for skill in one] == ["sql", "style"]
    assert detail["skill"]["origin"] == "acme/gears@ababababab:style"
    assert detail["skill"]["files"] == ["SKILL.md", "run.sh"]
    assert detail["text"].startswith("# So")
    assert [answer.status_code for answer in missing] == [404, 404, 404]


async def test_a_person_sees_them(tmp_path):
    async with shell(with_skills(), tmp_path) as person:
        listed = await person.said("skill", "list")
        shown = await person.said("skill", "show", "style", "--project", PROJECT)
        same = await person.said("skill", "show", "sql")
        plain = json.loads(await person.said("skill", "list", "--json", "--project", OTHER))
        detail = json.loads(await person.said("skill", "show", "sql", "--json"))
        assert "--project" in await person.refused("skill", "show", "style", code=2)
        assert "there is no skill other" in await person.refused("skill", "show", "other")
    assert "every author" in listed
    assert "router's choice" in listed
    assert "problem: bad/SKILL.md" in listed
    assert "\x1b" not in listed + shown
    assert "every author of acme/widgets" in shown
    assert "run.sh" in same
    assert len(plain["skills"]) == 2
    assert detail["skill"]["skill"] == "sql"


async def test_there_may_be_none(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        assert "No skills." in await person.said("skill", "list")

"""Skills through the whole engine: read, required, chosen, copied for each run, and told to its agent."""

from dataclasses import replace

import pytest

from nightcrew.core.errors import Missing
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import RouterReport
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, RouterMode, RouterSettings, Settings
from nightcrew.core.model.skill import PinnedSkills, SkillPlace, SkillSettings, SkillSource
from nightcrew.engine.view.skill import FOLDER_FOR_S, RETRY_S
from nightcrew.ports.agent import Reading
from tests.engine.part import AGENTS, PROJECT, Killed
from tests.engine.stage import Stage
from tests.fakes.skill import FakeSkills, skill_text

PIN = PinnedSkills("https://git.example/team/skills.git", "ab" * 20)
FAR = SkillPlace(SkillSource.PINNED, PIN.url, PIN.ref)
TURNS = RouterSettings()
ASKS = RouterSettings(RouterMode.MODEL, "ann", "judge-1")


class Crew:
    """A stage with skills in the home, and a project that asks for some."""

    def __init__(self, folder, *, router: RouterSettings = TURNS, **asked) -> None:
        self.skills = FakeSkills()
        self.home = SkillPlace(SkillSource.HOME, str(folder / "skills"))
        self.put("style", says="Use tabs.")
        project = ProjectSettings(PROJECT, skills=SkillSettings(**asked))
        agents = {name: AgentSettings(name, "fake") for name in AGENTS}
        settings = Settings(projects={PROJECT: project}, agents=agents, router=router)
        self.stage = Stage(folder, settings=settings, guards={"skills": self.skills})

    def put(self, name: str, **said: str) -> None:
        files = {f"{name}/SKILL.md": skill_text(name, **said), f"{name}/more.md": "more"}
        self.skills.lies.setdefault(self.home, {}).update(files)

    def publish(self, name: str) -> SkillPlace:
        """A skill on the base branch of the project."""
        sha = self.stage.workspace.publish(PROJECT, {f".nightcrew/skills/{name}/SKILL.md": skill_text(name)})
        place = SkillPlace(SkillSource.REPOSITORY, PROJECT, sha)
        self.skills.lies[place] = {f"{name}/SKILL.md": skill_text(name)}
        self.stage.observer.expire()
        return place

    def run(self, role: Role = Role.AUTHOR) -> Run:
        return next(run for run in self.stage.store.runs.values() if run.role is role)

    def prompt(self, role: Role = Role.AUTHOR) -> str:
        return (self.stage.home / self.run(role).folder / "prompt.md").read_text()

    def kinds(self) -> list[str]:
        return [event.kind for event in self.stage.store.events]


async def test_an_author_has_a_required_skill_with_a_copy_of_its_files(tmp_path):
    crew = Crew(tmp_path, required=("style",))
    crew.stage.file()
    await crew.stage.until(lambda: crew.stage.store.runs)
    copy = tmp_path / crew.run().folder / "agent" / "skills" / "style"
    assert (copy / "more.md").read_text() == "more"
    assert "Use tabs." in crew.prompt()
    assert f"{copy}/SKILL.md and 1 more files" in crew.prompt()
    given = next(event for event in crew.stage.store.events if event.kind == "run.skills")
    assert given.why == "with the skills style (required)"
    await crew.stage.settle()
    assert "Use tabs." not in crew.prompt(Role.REVIEWER)
    assert not (tmp_path / crew.run(Role.REVIEWER).folder / "agent" / "skills").exists()


async def test_a_reviewer_has_its_own(tmp_path):
    crew = Crew(tmp_path, review=("style",))
    crew.stage.file()
    await crew.stage.settle()
    assert "Use tabs." not in crew.prompt()
    assert "Use tabs." in crew.prompt(Role.REVIEWER)


async def test_a_task_waits_for_a_skill_until_it_is_there(tmp_path):
    crew = Crew(tmp_path, required=("tests",))
    key = crew.stage.file()
    decision = await crew.stage.settle()
    assert decision.waits[key].code == "skill_missing"
    assert not crew.stage.store.runs
    crew.put("tests")
    await crew.stage.later(FOLDER_FOR_S)
    assert "How tests is done." in crew.prompt()


async def test_the_router_is_told_of_skills_and_its_choice_is_followed(tmp_path):
    crew = Crew(tmp_path, router=ASKS, required=("style",))
    crew.put("sql", says="No joins.")
    report = RouterReport(Complexity.SIMPLE, "bob", "easy", ("sql", "nothing"))
    crew.stage.order("ann", Reading(report, None), role=Role.ROUTER)
    key = crew.stage.file()
    await crew.stage.settle()
    asked = crew.prompt(Role.ROUTER)
    assert "- sql: How sql is done." in asked
    assert "- style" not in asked  # it is given anyway
    route = crew.stage.route(key)
    assert (route.agent, route.skills) == ("bob", ("sql",))
    assert "there is no skill nothing" in route.why
    assert "No joins." in crew.prompt()
    assert "style (required), sql (chosen for this task)" in "".join(e.why for e in crew.stage.store.events)
    detail = await crew.stage.facade.get_task(key)
    assert detail.summary.task.route == route


async def test_a_choice_that_is_gone_is_done_without(tmp_path):
    crew = Crew(tmp_path, router=ASKS)
    report = RouterReport(Complexity.SIMPLE, "bob", "easy", ("style",))
    crew.stage.order("ann", Reading(report, None), role=Role.ROUTER)
    key = crew.stage.file()
    await crew.stage.until(lambda: crew.stage.task(key).route if key in crew.stage.store.tasks else None)
    crew.skills.lies[crew.home].clear()
    await crew.stage.settle()
    assert crew.stage.task(key).status is Status.DONE
    assert "skill.absent" in crew.kinds()
    assert "Use tabs." not in crew.prompt()


async def test_a_required_skill_that_goes_at_the_last_moment_starts_nothing(tmp_path):
    crew = Crew(tmp_path, required=("style",))
    key = crew.stage.file()
    await crew.stage.look()
    crew.skills.lies[crew.home].clear()  # the look knows it still
    decision = await crew.stage.settle()
    assert not crew.stage.runtime.sessions
    assert decision.waits[key].code == "skill_missing"
    assert crew.stage.task(key).tried == ()
    assert not crew.stage.store.cooldowns
    crew.put("style")
    await crew.stage.later(FOLDER_FOR_S)
    assert crew.stage.task(key).status is Status.DONE


async def test_a_label_and_the_repository_give_skills(tmp_path):
    crew = Crew(tmp_path)
    crew.publish("deploying")
    crew.stage.file(labels=("nightcrew", "skill:deploying"))
    await crew.stage.settle()
    assert "How deploying is done." in crew.prompt()


async def test_what_a_repository_brings_along_can_be_left_out(tmp_path):
    crew = Crew(tmp_path, repository=False)
    crew.publish("deploying")
    key = crew.stage.file(labels=("nightcrew", "skill:deploying"))
    decision = await crew.stage.settle()
    assert decision.waits[key].code == "skill_missing"


async def test_the_owners_skill_comes_before_the_repositorys(tmp_path):
    crew = Crew(tmp_path)
    crew.publish("style")
    await crew.stage.tick()
    (style,) = crew.stage.observer.skills_of(PROJECT).skills
    assert style.place == crew.home
    assert any("comes before it" in words for words in crew.stage.observer.problems())


async def test_a_pinned_repository_is_fetched_beside_the_loop_and_asked_for_again(tmp_path):
    crew = Crew(tmp_path, required=("far",), repositories=(PIN,))
    crew.skills.is_cut_off = True
    key = crew.stage.file()
    decision = await crew.stage.settle()
    assert decision.waits[key].code == "skill_missing"
    assert "the network is down" in decision.waits[key].words
    assert crew.skills.fetched == [FAR]
    await crew.stage.later(RETRY_S / 2)
    assert crew.skills.fetched == [FAR]
    crew.skills.is_cut_off = False
    crew.skills.far[FAR] = {"far/SKILL.md": skill_text("far")}
    await crew.stage.later(RETRY_S)
    await crew.stage.settle()
    assert "How far is done." in crew.prompt()
    assert not [words for words in crew.stage.observer.problems() if "skills" in words]


async def test_a_kept_copy_is_used_without_a_network(tmp_path):
    crew = Crew(tmp_path, required=("far",), repositories=(PIN,))
    crew.skills.lies[FAR] = {"far/SKILL.md": skill_text("far")}
    crew.skills.is_cut_off = True
    crew.stage.file()
    await crew.stage.settle()
    assert crew.skills.fetched == []
    assert "How far is done." in crew.prompt()


async def test_one_broken_place_or_skill_harms_nothing_else(tmp_path):
    crew = Crew(tmp_path, required=("style",), folders=("/srv/damaged",))
    crew.skills.unreadable.add(SkillPlace(SkillSource.HOME, "/srv/damaged"))
    crew.skills.lies[crew.home]["bad/SKILL.md"] = "---\nname: [\n---\n"
    key = crew.stage.file()
    await crew.stage.settle()
    assert crew.stage.task(key).status is Status.DONE
    problems = crew.stage.observer.problems()
    assert [words for words in problems if "/srv/damaged" in words and words.startswith("skills: ")]
    assert len([words for words in problems if "bad/SKILL.md" in words]) == 1


async def test_what_breaks_a_library_is_a_problem_and_not_the_end(tmp_path):
    class Broken(FakeSkills):
        async def load(self, place: SkillPlace):
            raise ZeroDivisionError("a bug")

    crew = Crew(tmp_path)
    crew.stage.guards = {"skills": Broken()}
    crew.stage.start()
    key = crew.stage.file()
    await crew.stage.settle()
    assert crew.stage.task(key).status is Status.DONE
    assert any("a bug" in words for words in crew.stage.observer.problems())


async def test_a_start_that_was_cut_short_writes_through_nothing_that_an_agent_left(tmp_path):
    whole = Crew(tmp_path / "whole", required=("style",))
    whole.stage.file()
    await whole.stage.until(lambda: whole.stage.runtime.sessions)
    names = whole.stage.points.names
    crew = Crew(tmp_path, required=("style",))
    crew.stage.points.die_at = 1 + next(at for at, name in enumerate(names) if name.endswith("session.start"))
    crew.stage.file()
    with pytest.raises(Killed):
        await crew.stage.settle()
    own = tmp_path / crew.run().folder / "agent"
    (tmp_path / "victim").mkdir()
    (own / "skills").rename(tmp_path / "old")
    (own / "skills").symlink_to(tmp_path / "victim")
    await crew.stage.restart()
    await crew.stage.until(lambda: crew.stage.runtime.sessions)
    assert not list((tmp_path / "victim").iterdir())
    assert not (own / "skills").is_symlink()
    assert (own / "skills" / "style" / "more.md").read_text() == "more"


async def test_what_people_are_shown(tmp_path):
    crew = Crew(tmp_path, required=("style", "lost"), review=("judging",))
    crew.put("judging")
    crew.put("sql")
    await crew.stage.tick()
    report = await crew.stage.facade.list_skills()
    assert [(entry.skill.name, entry.use.value) for entry in report.entries] == [
        ("judging", "review"),
        ("sql", "offered"),
        ("style", "required"),
    ]
    assert any("'lost' is required" in words for words in report.problems)
    assert await crew.stage.facade.list_skills(project=PROJECT.upper()) == report
    with pytest.raises(Missing):
        await crew.stage.facade.list_skills(project="no/such")


async def test_changed_settings_are_followed(tmp_path):
    crew = Crew(tmp_path)
    await crew.stage.tick()
    project = crew.stage.settings.projects[PROJECT]
    changed = replace(project, skills=SkillSettings(folders=("/srv/more",)))
    crew.skills.lies[SkillPlace(SkillSource.HOME, "/srv/more")] = {"extra/SKILL.md": skill_text("extra")}
    settings = replace(crew.stage.settings, projects={PROJECT: changed}, generation=2)
    crew.stage.observer.adopt(crew.stage.ports, settings)
    world = await crew.stage.look()
    assert world.projects[PROJECT].skills.names == {"style", "extra"}
    assert isinstance(world.projects[PROJECT].base_ref, Known)

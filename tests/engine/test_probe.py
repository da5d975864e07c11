"""Many projects: a flat probe says which may have news, and only they are read; in doubt everything is."""

from nightcrew.core.errors import Denied, HeldBack, Unavailable
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.engine.view.probe import SURE_AFTER, TRUSTED_FOR_S, WITHOUT_FOR_S, ProbeView
from tests.adapters.github.stage import StillClock
from tests.engine.part import PROJECT
from tests.engine.stage import Stage
from tests.fakes.forge import FakeForge

OTHER = "acme/gadget"

HERE, THERE = "crew/here", "crew/there"
BASES = {HERE: "main", THERE: "main"}


def a_forge() -> tuple[FakeForge, StillClock, ProbeView]:
    clock = StillClock()
    forge = FakeForge(clock)
    for slug in BASES:
        forge.add_project(slug, default_branch="main")
    return forge, clock, ProbeView(forge, clock)


async def settled(view: ProbeView, clock: StillClock) -> None:
    for _ in range(SURE_AFTER):
        assert await view.find_quiet(BASES) == frozenset()
        clock.advance(45)
    assert await view.find_quiet(BASES) == {HERE, THERE}


async def test_a_project_is_quiet_once_it_was_read_twice_since_it_changed():
    forge, clock, view = a_forge()
    await settled(view, clock)
    clock.advance(45)
    forge.open_issue(HERE)
    for _ in range(SURE_AFTER):
        assert await view.find_quiet(BASES) == {THERE}
    assert await view.find_quiet(BASES) == {HERE, THERE}


async def test_a_push_to_the_base_is_news():
    forge, clock, view = a_forge()
    await settled(view, clock)
    forge.push(HERE, "main", paths=("a.py",))
    assert await view.find_quiet(BASES) == {THERE}


async def test_each_is_read_now_and_then_in_any_case():
    _, clock, view = a_forge()
    await settled(view, clock)
    clock.advance(TRUSTED_FOR_S)
    assert await view.find_quiet(BASES) == frozenset()


async def test_they_are_not_all_read_in_one_go():
    clock = StillClock()
    forge = FakeForge(clock)
    bases = {f"crew/number{number}": "main" for number in range(200)}
    for slug in bases:
        forge.add_project(slug, default_branch="main")
    view = ProbeView(forge, clock)
    read: list[int] = []
    for _ in range(int(TRUSTED_FOR_S / 45) + 4):
        read.append(len(bases) - len(await view.find_quiet(bases)))
        clock.advance(45)
    again = read[SURE_AFTER:]
    assert sum(again) >= len(bases)
    assert max(again) < len(bases) / 2


async def test_what_cannot_be_told_is_read():
    forge, clock, view = a_forge()
    await settled(view, clock)
    forge.fail("fetch_prints", Unavailable("down"))
    assert await view.find_quiet(BASES) == frozenset()
    assert await view.find_quiet(BASES) == {HERE, THERE}
    del forge.projects[HERE]  # it is not visible any more
    assert await view.find_quiet(BASES) == {THERE}


async def test_where_probes_are_held_back_each_is_read_now_and_then():
    forge, clock, view = a_forge()
    await settled(view, clock)
    forge.open_issue(HERE)
    forge.fail("fetch_prints", HeldBack("few of its GraphQL points are left"), times=2)
    assert await view.find_quiet(BASES) == {HERE, THERE}
    clock.advance(TRUSTED_FOR_S)
    assert await view.find_quiet(BASES) == frozenset()
    forge.fail("fetch_prints", HeldBack("few of its GraphQL points are left"))
    assert await view.find_quiet(BASES) == {HERE, THERE}
    fresh = ProbeView(forge, clock)
    assert await fresh.find_quiet(BASES) == frozenset(), "what was never read is"


async def test_a_forge_that_cannot_tell_is_left_in_peace():
    forge, clock, view = a_forge()
    forge.fail("fetch_prints", Denied("no GraphQL"))
    for _ in range(SURE_AFTER + 3):
        assert await view.find_quiet(BASES) == frozenset()
    clock.advance(WITHOUT_FOR_S)
    await settled(view, clock)


async def test_above_the_setting_only_projects_with_news_or_work_are_read(tmp_path):
    projects = tuple(ProjectSettings(slug) for slug in (PROJECT, OTHER, "acme/third"))
    stage = Stage(tmp_path, projects=projects, settings=Settings(probe_above=2))
    for _ in range(SURE_AFTER + 1):
        await stage.tick(advance_s=stage.settings.interval_s)
    stage.forge.calls.clear()
    for _ in range(3):
        await stage.tick(advance_s=stage.settings.interval_s)
    assert {name for name, _ in stage.forge.calls} == {"fetch_prints"}
    assert len(stage.forge.calls) == 3

    # News are seen as soon as without, and where there is work everything is read.
    stage.auto_ci = False
    key = stage.file()
    await stage.later()
    assert stage.task(key).status is Status.IN_REVIEW
    stage.forge.calls.clear()
    for _ in range(3):
        await stage.tick(advance_s=stage.settings.interval_s)
    assert stage.count("list_updated_issues", PROJECT) == 3
    assert stage.count("list_updated_issues", OTHER) == 0
    assert stage.count("fetch_prints") == 3

    # Who asks for a look gets one.
    stage.forge.calls.clear()
    stage.observer.expire(OTHER)
    await stage.tick()
    assert stage.count("list_updated_issues", OTHER) == 1
    assert stage.count("fetch_prints") == 0


async def test_up_to_the_setting_nothing_is_probed(tmp_path):
    stage = Stage(
        tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)), settings=Settings(probe_above=2)
    )
    for _ in range(SURE_AFTER + 3):
        await stage.tick(advance_s=stage.settings.interval_s)
    assert stage.count("fetch_prints") == 0

"""`nightcrew status`, `pause`, `resume`, `project list` and `version` against a running service."""

from nightcrew.core.errors import Problem
from nightcrew.core.failures import FailureKind
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.quota import Pace, Purse, TokenStanding
from nightcrew.ports.service import AgentStatus
from nightcrew.version import VERSION
from tests.adapters.cli.command import Shell, shell
from tests.fakes.service import NOW, PROJECT, FakeService, a_task


async def test_status_says_how_everything_is(tmp_path):
    service = FakeService()
    service.put_task(a_task())
    service.agents = [
        AgentStatus("claude", "claude", True, 1, 2, (Cooldown("claude", "big", FailureKind.CREDITS, NOW, 1, "w"),)),
        AgentStatus("codex", "codex", None, 0, 1),
    ]
    service.problems = ("acme/widgets has no branch protection",)
    async with shell(service, tmp_path) as person:
        text = await person.said("status")
        told = await person.told("status")
    assert text.startswith("Nightcrew 0.1.0 is running (pid 4242")
    assert "  ! acme/widgets has no branch protection" in text
    assert "1 new" in text
    assert "1 of 2" in text
    assert "big credits, back " in text
    assert "unknown" in text
    assert told["agents"][1]["available"] is None


async def test_status_says_what_each_token_has_left(tmp_path):
    service = FakeService()
    purses = (Purse("core", 5000, 4812, NOW), Purse("graphql", 5000, 90, NOW), Purse("search", 30, 3, NOW))
    service.tokens = (
        TokenStanding("github", "variable ONE", Pace.OPEN, purses, projects=1),
        TokenStanding("github", "file \x1b[31mtwo", Pace.CLOSED, projects=2, words="the forge does not take it"),
    )
    async with shell(service, tmp_path) as person:
        text = await person.said("status")
        told = await person.told("status")
    assert "  github, variable ONE: 1 project, 4,812 of 5,000 requests (all of them again " in text
    assert ", 90 of 5,000 GraphQL points (all of them again " in text
    assert "of 30" not in text
    assert "two: 2 projects, not asked yet; the forge does not take it\n" in text
    assert "\x1b[31m" not in text
    assert [token["pace"] for token in told["tokens"]] == ["open", "closed"]
    assert told["tokens"][0]["purses"][1] == {
        "resource": "graphql",
        "limit": 5000,
        "left": 90,
        "reset_at": "2026-03-01T12:00:00.000Z",
    }


async def test_pause_and_resume(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        assert await person.said("pause") == "paused everything\n"
        assert "is paused: no new work starts" in await person.said("status")
        assert (await person.told("resume"))["changed"] is True
        await person.said("pause", PROJECT)
        assert "paused" in await person.said("project", "list")
        assert (await person.told("project", "list"))["projects"][0]["paused"] is True
        assert "there is no project x/y" in await person.refused("pause", "x/y")


async def test_drain(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        assert (await person.told("status"))["draining"] is False
        assert await person.said("drain") == "it ends when nothing runs any more\n"
        assert "takes no new work, and ends when no run lives any more" in await person.said("status")
        assert (await person.told("drain"))["changed"] is False


async def test_version(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        assert await person.said("version") == f"nightcrew {VERSION}\n"
        assert await person.said("--version") == f"nightcrew {VERSION}\n"
        assert await person.told("version") == {"version": VERSION}


async def test_options_may_stand_before_or_after_the_command(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        before = await person.said("--json", "--home", str(person.home), "status", env={"NIGHTCREW_HOME": "/nowhere/x"})
        after = await person.said("status", "--home", str(person.home), "--json", env={"NIGHTCREW_HOME": "/nowhere/x"})
    assert before == after
    assert before.startswith("{")


async def test_reloading_says_what_changed_what_waits_and_what_is_wrong(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        assert await person.said("config", "reload") == "Nothing is different.\n"
        service.changes, service.needs_restart = ("interval: 45s → 10s",), ("forges.github.token: was changed",)
        assert (await person.said("config", "reload")).splitlines() == [
            "interval: 45s → 10s",
            "forges.github.token: was changed (takes effect when the service is restarted)",
        ]
        assert (await person.told("config", "reload"))["data"]["changes"] == ["interval: 45s → 10s"]
        service.config_problems = (Problem("config.yml:3:interval", "is too small"),)
        assert await person.refused("config", "reload") == "config.yml:3:interval: is too small"


async def test_adding_and_removing_a_project_say_truly_when_that_takes_effect(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        config = person.home / "config.yml"
        config.write_text("projects: []\nagents: {}\n", encoding="utf-8")
        lines = (await person.said("project", "add", "acme/widgets")).splitlines()
        assert lines == ["acme/widgets was added.", "The running service has taken it up."]
        service.config_problems = (Problem("forges.github.token", "no token for github.com"),)
        done = await person.run("project", "remove", "acme/widgets")
        assert (done.returncode, done.text) == (1, "acme/widgets was removed.\n")
        assert "no token for github.com" in done.stderr.decode()
    lines = (await Shell(person.home).said("project", "add", "acme/widgets")).splitlines()
    assert lines == ["acme/widgets was added.", "It takes effect when the service starts."]

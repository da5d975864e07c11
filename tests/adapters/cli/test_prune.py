"""`nightcrew prune`, as a person types it."""

from tests.adapters.cli.command import Shell, shell
from tests.fakes.service import FakeService


async def test_a_dry_run_shows_what_would_go_and_what_is_used(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        said = await person.said("prune", "--dry-run")
        assert said.splitlines() == ["would remove 2 runs: 3.0 MB", "         5.0 MB  runs", "         0.0 MB  logs"]
        assert (await person.told("prune", "--dry-run"))["data"]["used"]["runs"] == 5_000_000
        assert await person.said("prune") == "removed 2 runs: 3.0 MB\n"


async def test_it_needs_the_service(tmp_path):
    assert "not running" in await Shell(tmp_path / "home").refused("prune", code=3)

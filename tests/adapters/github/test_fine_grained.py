"""A fine-grained token, to which no permission for check runs can be given, at the local forge."""

from nightcrew.core.ids import Sha
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.pull import HIDDEN
from nightcrew.forges.github import GitHubForge, Token
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.git import Git
from nightcrew.forges.local.inprocess import BASE_URL, transport_to
from nightcrew.forges.local.workflow import complete_workflow_run, record_workflow_job, record_workflow_run
from tests.adapters.github.stage import StillClock
from tests.fakes.store import MemoryStore

PROJECT = "acme/widget"
GRANTED = {"contents": "write", "issues": "write", "pull_requests": "write", "statuses": "write", "actions": "read"}


async def test_what_actions_and_statuses_say_is_known_without_check_runs(tmp_path):
    clock = StillClock()
    local = LocalForge(tmp_path, clock=clock.now)
    local.ensure_user("bot")
    local.add_token("bot", "fine", permissions=GRANTED)
    path = await local.create_repository(PROJECT, files={"a.txt": "a\n"})
    local.set_permission(PROJECT, "bot", "write")
    sha = Sha((await Git(path).heads())["main"])
    run = record_workflow_run(local, PROJECT, sha)
    record_workflow_job(local, run, "unit", conclusion="failure")
    waiting = record_workflow_job(local, run, "docs")
    forge = GitHubForge(
        ForgeSettings("hub", base_url=BASE_URL, write_interval_s=0.0),
        token=Token("fine", "a test"),
        store=MemoryStore(),
        clock=clock,
        jitter=lambda: 0.5,
        transport=transport_to(local),
        sleep=clock.sleep,
    )
    try:
        first = await forge.list_checks(PROJECT, sha)
        assert [(check.name, check.state.value) for check in first if check.source != HIDDEN] == [
            ("unit", "failure"),
            ("docs", "pending"),
        ]
        local.log.clear()
        assert await forge.list_checks(PROJECT, sha) is first
        assert local.log.counted == 0
        local.store.update("workflow_job", waiting, status="completed", conclusion="success")
        complete_workflow_run(local, run)
        states = {check.name: check.state.value for check in await forge.list_checks(PROJECT, sha)}
        assert states == {"unit": "failure", "docs": "success", "check runs": "pending"}
    finally:
        await forge.close()
        local.close()

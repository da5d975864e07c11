"""The client against the embedded forge: faults, limits, renames, logs, restarts, and what an idle poll costs."""

import asyncio
from datetime import timedelta

import pytest

from nightcrew.core.errors import Conflict, Denied, Missing, OutcomeUnknown, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, CheckState, Merged, MergeRefused
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.forges.github import GitHubForge
from nightcrew.forges.local.workflow import (
    complete_workflow_job,
    complete_workflow_run,
    list_queued_jobs,
    record_workflow_job,
    record_workflow_run,
)
from nightcrew.ports.scm import NewPull
from tests.contract.forge_stage import PROJECT, LocalStage, local_stage, minute
from tests.fakes.store import MemoryStore


@pytest.fixture
async def stage(tmp_path):
    async with local_stage(tmp_path / "forge") as made:
        yield made


async def opened(stage: LocalStage) -> tuple[int, Sha]:
    sha = await stage.push("work", {"work.py": "1\n"})
    return (await stage.client.create_pull(PROJECT, NewPull("A change", "why", "work", "trunk"))).number, sha


async def poll(forge: GitHubForge, stage: LocalStage, *, issue: int, pull: int) -> tuple[object, ...]:
    """All that a tick may read of a project with one task that has a pull request."""
    seen = await forge.fetch_pull(PROJECT, pull)
    return (
        await forge.list_updated_issues(PROJECT, known_at=stage.clock.now() - timedelta(hours=1)),
        await forge.list_open_issues(PROJECT),
        await forge.fetch_repository(PROJECT),
        await forge.fetch_issue(PROJECT, issue),
        await forge.list_comments(PROJECT, issue),
        await forge.list_updated_comments(PROJECT, known_at=stage.clock.now() - timedelta(hours=1)),
        seen,
        await forge.list_reviews(PROJECT, pull),
        await forge.list_checks(PROJECT, seen.head_sha),
        await forge.fetch_required(PROJECT, "trunk"),
        await forge.list_pull_paths(PROJECT, pull),
        await forge.find_branch(PROJECT, "nightcrew/absent"),
    )


@pytest.mark.parametrize("is_protected", [False, True])
async def test_an_idle_poll_is_free_also_after_a_restart(stage, is_protected):
    if is_protected:
        await stage.protect("trunk", contexts=("ci",), approvals=1)
    issue = await stage.open_issue()
    number, sha = await opened(stage)
    await stage.check(sha, "ci", CheckState.SUCCESS)
    await stage.comment(issue, author="ada", body="hello")
    store = MemoryStore()
    forge = stage.client_of("bot-token", store=store)
    first = await poll(forge, stage, issue=issue, pull=number)
    minute(stage)
    before = forge.traffic
    second = await poll(forge, stage, issue=issue, pull=number)
    assert all(one is other for one, other in zip(first, second, strict=True))
    idle = forge.traffic - before
    assert (idle.counted, idle.received) == (0, 0)
    assert idle.requests == (15 if is_protected else 14)
    await forge.close()
    restarted = stage.client_of("bot-token", store=store)
    assert await poll(restarted, stage, issue=issue, pull=number) == first
    assert restarted.traffic.counted == 0
    await restarted.close()


async def test_every_request_is_one_that_github_describes(stage):
    issue = await stage.open_issue()
    number, sha = await opened(stage)
    await poll(stage.client, stage, issue=issue, pull=number)
    await stage.client.merge_pull(PROJECT, number, sha=sha, method=MergeMethod.SQUASH, title="t", message="m")
    assert stage.transport.strange == set()
    assert len(stage.transport.seen) > 14


@pytest.mark.case("C010")
async def test_two_hundred_and_thirty_issues_are_three_pages(stage):
    for _ in range(230):
        await stage.open_issue()
    issues = await stage.client.list_open_issues(PROJECT)
    assert [issue.number for issue in issues] == list(range(1, 231))
    pages = stage.local.log.matching("GET", "/issues")
    assert len({entry.query for entry in pages}) == 3
    await stage.client.set_issue_open(PROJECT, 150, is_open=False)
    stage.local.log.clear()
    assert len(await stage.client.list_open_issues(PROJECT)) == 229


@pytest.mark.case("C028")
async def test_a_pull_request_whose_answer_was_lost_is_adopted(stage):
    await stage.push("work", {"work.py": "1\n"})
    stage.local.faults.arm("lost_answer", method="POST", path="*/pulls")
    pull = await stage.client.create_pull(PROJECT, NewPull("A change", "why", "work", "trunk"))
    assert pull.head_ref == "work"
    assert len(stage.local.log.matching("POST", "/pulls")) == 1


@pytest.mark.case("C028")
async def test_a_stale_list_after_a_lost_answer_makes_no_second_pull_request(stage):
    await stage.push("work", {"work.py": "1\n"})
    stage.local.faults.arm("stale", method="GET", path="*/pulls")
    stage.local.faults.arm("lost_answer", method="POST", path="*/pulls")
    pull = await stage.client.create_pull(PROJECT, NewPull("A change", "why", "work", "trunk"))
    assert pull.number == 1
    assert await stage.client.find_pull(PROJECT, head_ref="work") == pull


async def test_a_merge_whose_answer_was_lost_is_read_back(stage):
    number, sha = await opened(stage)
    stage.local.faults.arm("lost_answer", method="PUT", path="*/merge")
    answer = await stage.client.merge_pull(PROJECT, number, sha=sha, method=MergeMethod.SQUASH, title="t", message="m")
    assert isinstance(answer, Merged)
    assert answer.sha == await stage.client.find_branch(PROJECT, "trunk")
    assert len(stage.local.log.matching("PUT", "/merge")) == 1


async def test_a_merge_that_was_not_made_is_unknown(stage):
    number, sha = await opened(stage)
    stage.local.faults.arm("error", method="PUT", path="*/merge")
    with pytest.raises(OutcomeUnknown):
        await stage.client.merge_pull(PROJECT, number, sha=sha, method=MergeMethod.SQUASH, title="t", message="m")


async def test_a_base_that_moves_meanwhile_is_to_be_tried_again(stage):
    number, sha = await opened(stage)
    stage.local.faults.arm("base_moved", method="PUT")
    answer = await stage.client.merge_pull(PROJECT, number, sha=sha, method=MergeMethod.SQUASH, title="t", message="m")
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.RACE


async def test_a_conflict_is_told_by_git(stage):
    await stage.push("work", {"README.md": "ours\n"})
    number = (await stage.client.create_pull(PROJECT, NewPull("A change", "", "work", "trunk"))).number
    await stage.push("trunk", {"README.md": "theirs\n"})
    pull = await stage.client.fetch_pull(PROJECT, number)
    assert (pull.mergeable, pull.mergeable_state) == (False, "dirty")
    answer = await stage.client.merge_pull(
        PROJECT, number, sha=pull.head_sha, method=MergeMethod.SQUASH, title="t", message="m"
    )
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.CONFLICT


async def test_mergeability_that_is_not_known_yet(stage):
    number, _ = await opened(stage)
    stage.local.faults.arm("mergeable_unknown", times=1)
    assert (await stage.client.fetch_pull(PROJECT, number)).mergeable is None
    assert (await stage.client.fetch_pull(PROJECT, number)).mergeable is True


@pytest.mark.case("C032")
@pytest.mark.parametrize("path", ["*/issues", "*/pulls"])
async def test_a_cut_body_is_read_again(stage, path):
    await stage.open_issue()
    await opened(stage)
    stage.local.log.clear()
    stage.local.faults.arm("truncated", method="GET", path=path)
    assert len(await stage.client.list_open_issues(PROJECT)) == 1
    assert await stage.client.find_pull(PROJECT, head_ref="work") is not None
    assert len(stage.local.log.matching("GET")) == 3


@pytest.mark.case("C021")
async def test_a_single_404_is_not_believed(stage):
    number = await stage.open_issue()
    stage.local.faults.arm("error", method="GET", path=f"*/issues/{number}", status=404)
    assert (await stage.client.fetch_issue(PROJECT, number)).number == number
    stage.local.faults.arm("error", method="GET", path=f"*/issues/{number}", status=404, times=2)
    with pytest.raises(Missing):
        await stage.client.fetch_issue(PROJECT, number)


@pytest.mark.case("C022")
async def test_a_secondary_limit_lets_nothing_through_for_a_minute(stage):
    number = await stage.open_issue()
    stage.local.faults.arm("secondary_limit", method="POST", times=2)
    with pytest.raises(Unavailable) as caught:
        await stage.client.create_comment(PROJECT, number, body="hello")
    assert caught.value.retry_at == stage.clock.now() + timedelta(seconds=60)
    stage.local.log.clear()
    for _ in range(59):
        with pytest.raises(Unavailable):
            await stage.client.fetch_issue(PROJECT, number)
        stage.clock.advance(1)
    assert stage.local.log.entries == ()


@pytest.mark.case("C023")
async def test_a_used_up_hour_is_waited_for(stage):
    number = await stage.open_issue()
    stage.local.faults.arm("primary_limit", method="GET", seconds=24 * 60)
    with pytest.raises(Unavailable) as caught:
        await stage.client.fetch_issue(PROJECT, number)
    assert caught.value.retry_at is not None
    stage.clock.advance((caught.value.retry_at - stage.clock.now()).total_seconds() - 1)
    stage.local.log.clear()
    with pytest.raises(Unavailable):
        await stage.client.fetch_issue(PROJECT, number)
    assert stage.local.log.entries == ()
    stage.clock.advance(1)
    assert (await stage.client.fetch_issue(PROJECT, number)).number == number


@pytest.mark.case("C018")
async def test_a_renamed_repository_keeps_working(stage):
    number = await stage.open_issue()
    stage.local.rename_repository(PROJECT, "renamed")
    await stage.client.create_comment(PROJECT, number, body="once")
    assert (await stage.client.fetch_issue(PROJECT, number)).comment_count == 1
    assert (await stage.client.fetch_repository(PROJECT)).slug == "crew/renamed"
    made, _ = await opened(stage)
    found = await stage.client.find_pull(PROJECT, head_ref="work")
    assert found is not None
    assert found.number == made
    stage.local.log.clear()
    await stage.client.list_open_issues(PROJECT)
    assert [entry.status for entry in stage.local.log.entries] == [200]


async def test_a_blocked_repository_is_denied_and_others_go_on(stage):
    await stage.local.create_repository("crew/other", files={"a": "b\n"})
    stage.local.block_repository(PROJECT, reason="tos")
    with pytest.raises(Denied, match="blocked"):
        await stage.client.list_open_issues(PROJECT)
    assert await stage.client.list_open_issues("crew/other") == ()


async def test_a_deleted_issue_is_gone(stage):
    number = await stage.open_issue()
    await stage.delete_issue(number)
    with pytest.raises(Missing) as caught:
        await stage.client.fetch_issue(PROJECT, number)
    assert caught.value.gone


async def test_a_private_repository_without_access_is_missing_and_a_dead_token_denied(stage):
    stage.local.ensure_user("eve", token="eve-token")
    stage.local.configure(PROJECT, private=True)
    stranger, expired = stage.client_of("eve-token"), stage.client_of("no-such-token")
    with pytest.raises(Missing):
        await stranger.fetch_repository(PROJECT)
    with pytest.raises(Denied, match="token is not valid"):
        await expired.fetch_repository(PROJECT)
    await stranger.close()
    await expired.close()


@pytest.mark.case("C024")
async def test_what_a_fine_grained_token_lacks_is_named(stage):
    number, sha = await opened(stage)
    await stage.check(sha, "ci", CheckState.SUCCESS)
    await stage.protect("trunk", contexts=("ci",), approvals=0)
    permissions = {"issues": "read", "pull_requests": "read", "contents": "read", "statuses": "read"}
    stage.local.add_token("nightcrew-bot", "fine-token", permissions=permissions)
    forge = stage.client_of("fine-token")
    with pytest.raises(Denied) as caught:
        await forge.create_comment(PROJECT, number, body="hello")
    assert "issues=write" in caught.value.needed
    (hidden,) = await forge.list_checks(PROJECT, sha)
    assert hidden.state is CheckState.PENDING, "what cannot be read is not green"
    assert "may not read check runs" in hidden.summary
    with pytest.raises(Denied) as caught:
        await forge.fetch_required(PROJECT, "trunk")
    assert caught.value.needed == "administration=read"
    await forge.close()


async def test_the_log_of_a_job(stage):
    _, sha = await opened(stage)
    run = record_workflow_run(stage.local, PROJECT, sha)
    job = record_workflow_job(stage.local, run, "build", conclusion="failure", log="3 failed, é\n".encode())
    check = Check("build", CheckState.FAILURE, "check_run", summary="failed", job_id=job)
    assert await stage.client.fetch_check_log(PROJECT, check) == "failed"
    complete_workflow_run(stage.local, run)
    assert await stage.client.fetch_check_log(PROJECT, check) == "3 failed, é\n"


async def test_failed_jobs_of_a_workflow_run_again_once_it_is_over(stage):
    _, sha = await opened(stage)
    run = record_workflow_run(stage.local, PROJECT, sha)
    record_workflow_job(stage.local, run, "tests", conclusion="failure", log=b"flaky")
    record_workflow_job(stage.local, run, "lint", conclusion="success", log=b"ok")

    async def checks() -> dict[str, Check]:
        return {check.name: check for check in await stage.client.list_checks(PROJECT, sha)}

    red = (await checks())["tests"]
    with pytest.raises(Conflict, match="not finished"):
        await stage.client.rerun_check(PROJECT, red)
    complete_workflow_run(stage.local, run)
    assert await stage.client.rerun_check(PROJECT, red) is RerunAnswer.ASKED
    assert await stage.client.rerun_check(PROJECT, red) is RerunAnswer.RUNNING
    assert {name: check.state for name, check in (await checks()).items()} == {
        "tests": CheckState.PENDING,
        "lint": CheckState.SUCCESS,
    }
    (job,) = list_queued_jobs(stage.local, run)
    complete_workflow_job(stage.local, job, "success", log=b"passed")
    complete_workflow_run(stage.local, run)
    green = (await checks())["tests"]
    assert (green.state, green.job_id) == (CheckState.SUCCESS, job)
    assert green.mark != red.mark
    assert await stage.client.rerun_check(PROJECT, red) is RerunAnswer.SPENT
    assert await stage.client.fetch_check_log(PROJECT, green) == "passed"


async def test_a_token_without_the_permission_says_which_is_needed(stage):
    _, sha = await opened(stage)
    run = record_workflow_run(stage.local, PROJECT, sha)
    record_workflow_job(stage.local, run, "tests", conclusion="failure")
    complete_workflow_run(stage.local, run)
    permissions = {"actions": "read", "checks": "read", "statuses": "read"}
    stage.local.add_token("nightcrew-bot", "fine-token", permissions=permissions)
    forge = stage.client_of("fine-token")
    (check,) = await forge.list_checks(PROJECT, sha)
    with pytest.raises(Denied, match="actions=write") as caught:
        await forge.rerun_check(PROJECT, check)
    assert caught.value.needed == "actions=write"
    await forge.close()


async def test_a_local_repository_is_cloned_without_credentials(stage):
    remote = await stage.client.fetch_remote(PROJECT)
    assert remote.url.startswith("file://")
    assert remote.env == {}


async def test_a_draft_is_taken_out_of_draft(stage):
    await stage.push("work", {"work.py": "1\n"})
    draft = await stage.client.create_pull(PROJECT, NewPull("A change", "", "work", "trunk", draft=True))
    assert draft.is_draft
    await stage.client.mark_ready(PROJECT, draft.number)
    assert not (await stage.client.fetch_pull(PROJECT, draft.number)).is_draft


async def test_many_reads_and_writes_at_once(stage):
    number = await stage.open_issue()
    async with asyncio.TaskGroup() as group:
        for count in range(20):
            group.create_task(stage.client.create_comment(PROJECT, number, body=f"c{count}"))
            group.create_task(stage.client.fetch_issue(PROJECT, number))
    comments = await stage.client.list_comments(PROJECT, number)
    assert {comment.body for comment in comments} == {f"c{count}" for count in range(20)}

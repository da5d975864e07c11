"""The merge queue: what lands is what was tested, one landing at a time, and the culprit of a batch is found."""

from collections.abc import Callable

import pytest

from nightcrew.core.actions import EndBuild, LandBuild, MakeBuild, Refused
from nightcrew.core.branch import queue_branch
from nightcrew.core.errors import Denied, OutcomeUnknown
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.build import Build, BuildState, Head
from nightcrew.core.model.merge import MergeMethod, MergeStrategy
from nightcrew.core.model.pull import CheckState, ReviewState
from nightcrew.core.model.run import Role
from tests.engine.approved import with_merge
from tests.engine.part import PERSON, PROJECT
from tests.engine.stage import Stage

SCRATCH = queue_branch("main")


def queueing(tmp_path, **fields) -> Stage:
    fields = {"method": MergeMethod.MERGE, **fields}
    return Stage(tmp_path, projects=with_merge(strategy=MergeStrategy.QUEUE, **fields))


async def approved(stage: Stage, count: int = 1) -> list[TaskKey]:
    """So many pull requests, each approved, and none with an answer of CI."""
    stage.auto_ci = False
    keys = [stage.file(f"Thing {number}") for number in range(count)]
    await stage.settle()
    assert {stage.task(key).status for key in keys} == {Status.IN_REVIEW}
    return keys


def green_heads(stage: Stage) -> None:
    """CI answers for the heads of pull requests alone."""
    project = stage.forge.projects[PROJECT]
    for pull in stage.pulls():
        if pull.is_open and not project.runs.get(pull.head_sha):
            stage.forge.add_check(PROJECT, project.branches[pull.head_ref], "build", CheckState.SUCCESS)
    stage.observer.expire()


def base(stage: Stage) -> Sha:
    return stage.forge.projects[PROJECT].branches["main"]


def scratch(stage: Stage) -> Sha | None:
    return stage.forge.projects[PROJECT].branches.get(SCRATCH)


def builds(stage: Stage, state: BuildState | None = None) -> list[Build]:
    return [build for build in stage.store.builds.values() if state in (None, build.state)]


def fails_with(stage: Stage, *texts: str) -> Callable[[Sha], CheckState]:
    """A build is red if it has the work of all of these tasks."""

    def judge(sha: Sha) -> CheckState:
        files = stage.workspace.repository(PROJECT).commits[sha].files
        return CheckState.FAILURE if all(text in files for text in texts) else CheckState.SUCCESS

    return judge


async def under_test(stage: Stage, count: int = 1) -> list[TaskKey]:
    """So many approved and green; the first of them under test, with no answer yet."""
    keys = await approved(stage, count)
    green_heads(stage)
    await stage.settle()
    assert scratch(stage) is not None
    return keys


async def test_the_merge_is_tested_first_and_lands_as_it_was_tested(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    before, head = base(stage), stage.pull(key).head_sha
    (build,) = builds(stage)
    assert stage.forge.projects[PROJECT].commits[build.sha].parents == (before, head)
    assert (scratch(stage), base(stage)) == (build.sha, before)
    assert stage.wait(key).code == "queue_testing"
    stage.auto_ci = True
    await stage.later()
    assert base(stage) == build.sha, "exactly what was tested"
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).merge_sha == build.sha
    assert stage.count("merge_pull") == 0
    assert scratch(stage) is None
    assert [build.state for build in builds(stage)] == [BuildState.LANDED]


@pytest.mark.parametrize("method", [MergeMethod.SQUASH, MergeMethod.REBASE])
async def test_what_the_forge_cannot_see_as_merged_is_closed_with_the_commit_named(tmp_path, method):
    stage = queueing(tmp_path, method=method)
    (key,) = await under_test(stage)
    stage.auto_ci = True
    await stage.later()
    (build,) = builds(stage)
    assert base(stage) == build.sha
    assert stage.forge.projects[PROJECT].commits[build.sha].parents == (build.base_sha,)
    (pull,) = stage.pulls()
    assert (pull.is_open, pull.is_merged) == (False, False)
    said = [comment.body for comment in stage.forge.thread(PROJECT, pull.number).comments]
    assert sum(str(build.sha) in body for body in said) == 1
    assert (stage.task(key).status, stage.task(key).merge_sha) == (Status.DONE, build.sha)
    assert pull.head_ref not in stage.forge.projects[PROJECT].branches
    assert not stage.issue(key).is_open


async def test_one_at_a_time_and_the_others_know_their_place(tmp_path):
    stage = queueing(tmp_path)
    first, second, third = await under_test(stage, 3)
    assert len(builds(stage)) == 1
    assert [stage.wait(key).code for key in (first, second, third)] == ["queue_testing", "queued", "queued"]
    assert f"number 2 of 3 in the queue for main, where #{stage.number(first)} is first" in stage.wait(second).words
    assert "number 3 of 3" in (await stage.summary(third))[1]
    stage.auto_ci = True
    await stage.later()
    assert {stage.task(key).status for key in (first, second, third)} == {Status.DONE}
    landed = builds(stage, BuildState.LANDED)
    assert [build.members[0].number for build in landed] == [first.number, second.number, third.number]
    assert [build.base_sha for build in landed[1:]] == [build.sha for build in landed[:-1]]


async def test_a_more_urgent_one_goes_first(tmp_path):
    stage = queueing(tmp_path)
    stage.auto_ci = False
    late, early = stage.file("Late"), stage.file("Early", labels=("nightcrew", "priority:high"))
    await stage.settle()
    green_heads(stage)
    await stage.settle()
    assert stage.task(early).priority < stage.task(late).priority
    assert builds(stage)[0].tasks == (early,)


@pytest.mark.parametrize("batch", [1, 2, 4])
async def test_m5_green_alone_and_red_together_never_both_land(tmp_path, batch):
    stage = queueing(tmp_path, batch=batch)
    first, second = await under_test(stage, 2)
    stage.judge = fails_with(stage, "work-1.txt", "work-2.txt")
    stage.auto_ci = True
    stage.edit = lambda run: {"work-2.txt": None, "mended.txt": f"{run.attempt}"} if run.attempt > 1 else None
    await stage.until(lambda: stage.task(second).status is Status.ROUTED)
    assert stage.task(first).status is not Status.ROUTED
    files = stage.workspace.repository(PROJECT).commits[base(stage)].files
    assert ("work-1.txt" in files, "work-2.txt" in files) == (True, False)
    assert [build.members[0].number for build in builds(stage, BuildState.RED)][-1:] == [second.number]
    await stage.later()
    assert stage.task(second).status is Status.DONE, "once it fits what has landed"
    for build in builds(stage, BuildState.LANDED):
        assert stage.judge(build.sha) is CheckState.SUCCESS


async def test_a_batch_lands_together_each_as_a_merge_of_its_own(tmp_path):
    stage = queueing(tmp_path, batch=3)
    keys = await under_test(stage, 3)
    (build,) = builds(stage)
    assert build.tasks == tuple(keys)
    stage.auto_ci = True
    await stage.later()
    assert base(stage) == build.sha
    assert {stage.task(key).status for key in keys} == {Status.DONE}
    commits = stage.forge.projects[PROJECT].commits
    chain = [member.sha for member in build.members]
    assert [commits[sha].parents[0] for sha in chain] == [build.base_sha, *chain[:-1]]
    assert len(builds(stage)) == 1


@pytest.mark.parametrize("culprit", range(5))
async def test_the_culprit_of_a_batch_is_found_and_the_others_land(tmp_path, culprit):
    stage = queueing(tmp_path, batch=5)
    keys = await under_test(stage, 5)
    bad = keys[culprit]
    stage.judge = fails_with(stage, f"work-{bad.number}.txt")
    stage.auto_ci = True
    await stage.until(lambda: stage.task(bad).status is Status.ROUTED, max_ticks=120)
    assert all(stage.task(key).status is not Status.ROUTED for key in keys if key != bad)
    stage.edit = lambda run: {f"work-{bad.number}.txt": None, "mended.txt": "yes"}
    await stage.later()
    assert {stage.task(key).status for key in keys} == {Status.DONE}
    red = builds(stage, BuildState.RED)
    assert all(bad in build.tasks for build in red)
    assert red[-1].tasks == (bad,)
    assert len(builds(stage)) <= 10
    author = stage.runs(bad, Role.AUTHOR)[-1]
    prompt = (tmp_path / author.folder / "prompt.md").read_text()
    assert "on its merge into main" in prompt
    assert [row.sent for (task, _), row in stage.store.reactions.items() if task == bad] == [1]


async def test_one_that_conflicts_in_the_batch_is_left_out_and_goes_the_way_of_conflicts(tmp_path):
    stage = queueing(tmp_path, batch=3)
    stage.edit = lambda run: {"same.txt" if run.task.number < 3 else "other.txt": f"by {run.task.number}"}
    first, second, third = await under_test(stage, 3)
    (build,) = builds(stage)
    assert (build.tasks, build.left_out) == ((first, third), (stage.number(second),))
    assert "conflicts with what is tested before it" in stage.wait(second).words
    stage.auto_ci = True
    await stage.until(lambda: stage.task(third).status is Status.DONE)
    stage.forge.thread(PROJECT, stage.number(second)).trouble[stage.pull(second).head_sha] = "dirty"
    stage.observer.expire()
    stage.edit = lambda run: {"same.txt": "both"}
    await stage.later()
    assert stage.task(second).conflicts == 1
    assert {stage.task(key).status for key in (first, second, third)} == {Status.DONE}


async def test_a_base_that_moves_under_the_build_has_it_built_anew(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    (old,) = builds(stage)
    stage.workspace.publish(PROJECT, {"other.txt": "by a person"})
    moved = base(stage)
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE
    dropped, landed = builds(stage)
    assert (dropped.sha, dropped.state) == (old.sha, BuildState.DROPPED)
    assert (landed.base_sha, landed.state, base(stage)) == (moved, BuildState.LANDED, landed.sha)


async def test_a_base_that_moves_at_the_last_moment_is_not_overwritten(tmp_path):
    stage = queueing(tmp_path)
    await under_test(stage)
    (build,) = builds(stage)
    stage.ci()
    plain = stage.workspace.move_branch
    moved: list[Sha] = []

    async def race(project, remote, *, branch, sha, expected):
        if branch == "main" and not moved:
            moved.append(stage.workspace.publish(PROJECT, {"other.txt": "by a person"}))
        await plain(project, remote, branch=branch, sha=sha, expected=expected)

    stage.workspace.move_branch = race  # type: ignore[method-assign]  # what a person does in between
    outcome = await stage.act(LandBuild(build, "green"))
    assert isinstance(outcome, Refused)
    assert base(stage) == moved[0]


@pytest.mark.parametrize("trouble", ["head", "hold", "objection", "closed", "status", "red", "no checks"])
async def test_m2_everything_is_looked_at_again_before_the_landing(tmp_path, trouble):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    (build,) = builds(stage)
    before, number = base(stage), stage.number(key)
    stage.ci()
    match trouble:
        case "head":
            stage.forge.push(PROJECT, stage.pull(key).head_ref)
        case "hold":
            stage.forge.label(PROJECT, number, "hold", actor=PERSON)
        case "objection":
            sha = stage.pull(key).head_sha
            stage.forge.add_review(PROJECT, number, author=PERSON, state=ReviewState.CHANGES_REQUESTED, sha=sha)
        case "closed":
            stage.forge.set_open(PROJECT, number, is_open=False)
        case "status":
            stage.set_label(key, "status:blocked")
        case "red":
            stage.forge.add_check(PROJECT, build.sha, "late", CheckState.FAILURE)
        case "no checks":
            stage.forge.projects[PROJECT].runs[build.sha] = []
        case _:
            raise AssertionError(trouble)
    assert isinstance(await stage.act(LandBuild(build, "green")), Refused)
    assert base(stage) == before
    await stage.later(play=False)
    assert base(stage) == before


async def test_who_leaves_the_queue_takes_its_build_along_and_the_others_are_built_anew(tmp_path):
    stage = queueing(tmp_path, batch=2)
    first, second = await under_test(stage, 2)
    stage.forge.label(PROJECT, stage.number(first), "hold", actor=PERSON)
    stage.observer.expire()
    stage.auto_ci = True
    await stage.later()
    assert stage.wait(first).code == "gate_shut"
    assert stage.task(second).status is Status.DONE
    assert [build.state for build in builds(stage)] == [BuildState.DROPPED, BuildState.LANDED]


async def test_what_is_only_not_known_keeps_its_place(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    stage.forge.thread(PROJECT, stage.number(key)).mergeable_known = False
    stage.ci()
    await stage.later()
    assert [build.state for build in builds(stage)] == [BuildState.TESTING]
    stage.forge.thread(PROJECT, stage.number(key)).mergeable_known = True
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_m7_a_lost_answer_of_the_landing_is_found_on_the_base(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    (build,) = builds(stage)
    stage.ci()
    stage.workspace.fail("move_branch", OutcomeUnknown("no answer"), after=True)
    await stage.act(LandBuild(build, "green"))
    assert base(stage) == build.sha
    await stage.later()
    assert stage.task(key).status is Status.DONE
    lands = [effect for effect in stage.store.effects.values() if effect.kind == "queue.land"]
    assert [effect.state for effect in lands] == ["unknown"], "it is not pushed a second time"


async def test_a_scratch_branch_that_is_gone_is_pushed_again(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    (build,) = builds(stage)
    del stage.forge.projects[PROJECT].branches[SCRATCH]
    stage.observer.expire()
    await stage.settle()
    assert scratch(stage) == build.sha
    stage.auto_ci = True
    await stage.later()
    assert (stage.task(key).status, len(builds(stage))) == (Status.DONE, 1)


async def test_what_another_machine_tests_is_left_alone_until_it_was_left_for_long(tmp_path):
    stage = queueing(tmp_path, queue_timeout_s=600)
    (key,) = await approved(stage)
    theirs = stage.forge.push(PROJECT, SCRATCH)
    green_heads(stage)
    await stage.settle()
    assert scratch(stage) == theirs
    assert "another machine may test" in stage.wait(key).words
    assert builds(stage) == []
    stage.auto_ci = True
    await stage.later(1201)
    assert stage.task(key).status is Status.DONE
    assert scratch(stage) is None


async def test_checks_that_never_end_are_not_waited_for_without_end(tmp_path):
    stage = queueing(tmp_path, queue_timeout_s=600)
    (key,) = await under_test(stage)
    await stage.later(601)
    assert stage.block(key).code == "queue_stuck"
    assert "did not come to an end in time" in stage.block(key).words
    assert scratch(stage) is None
    await stage.facade.retry_task(key)
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_no_check_yet_is_not_green_where_a_member_has_checks(tmp_path):
    stage = queueing(tmp_path, allow_without_ci=True)
    stage.auto_ci = False
    key = stage.file(labels=("nightcrew", "hold"))
    await stage.settle()
    green_heads(stage)
    stage.forge.unlabel(PROJECT, key.number, "hold")
    await stage.later()
    assert "its CI has not started" in stage.wait(key).words
    assert base(stage) != builds(stage)[0].sha


async def test_a_base_that_takes_no_push_is_merged_into_by_the_forge(tmp_path):
    stage = queueing(tmp_path, batch=2)
    keys = await under_test(stage, 2)
    stage.ci()
    plain = stage.workspace.move_branch

    async def refuse(project, remote, *, branch, sha, expected):
        if branch == "main":
            raise Denied("GH006: Protected branch update failed")
        await plain(project, remote, branch=branch, sha=sha, expected=expected)

    stage.workspace.move_branch = refuse  # type: ignore[method-assign]  # the rules of the remote
    await stage.later()
    assert {stage.task(key).status for key in keys} == {Status.DONE}
    assert all(pull.is_merged for pull in stage.pulls())
    assert stage.count("merge_pull") == 2
    assert "takes no direct push" in stage.events("queue.fell_back")[0]


async def test_m6_a_build_is_open_at_most_once_a_base(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await under_test(stage)
    (build,) = builds(stage)
    again = MakeBuild(
        PROJECT, "main", (Head(key, stage.number(key), stage.pull(key).head_sha),), MergeMethod.MERGE, "again"
    )
    assert isinstance(await stage.act(again), Refused)
    assert builds(stage) == [build]


async def test_a_build_that_ended_is_not_ended_twice(tmp_path):
    stage = queueing(tmp_path)
    await under_test(stage)
    (build,) = builds(stage)
    for state in (BuildState.RED, BuildState.DROPPED):
        await stage.act(EndBuild(build, state, "so"))
    assert builds(stage)[0].state is BuildState.RED


async def test_a_person_is_only_told_where_that_is_wanted(tmp_path):
    stage = queueing(tmp_path)
    (key,) = await approved(stage)
    stage.forge.label(PROJECT, stage.number(key), "hold", actor=PERSON)
    green_heads(stage)
    await stage.settle()
    assert builds(stage) == []
    assert stage.wait(key).code == "gate_shut"

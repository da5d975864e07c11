"""What the doctor finds of the engine's own things, what it mends, and what it leaves."""

from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.branch import PREFIX
from nightcrew.core.errors import Conflict, Unavailable
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.issue import Issue
from nightcrew.engine.doctor import Ward, examine
from nightcrew.engine.doctor.branch import look_at_branches
from nightcrew.ports.runtime import SessionSpec
from nightcrew.ports.workspace import WorkspaceSpec
from tests.engine.part import DEFAULT_FORGE, PROJECT
from tests.engine.stage import Stage
from tests.engine.test_inquiry import asked

ALL = "nothing is wrong"


async def looked(stage: Stage, *, fix: bool = False) -> dict[str, Diagnosis]:
    """What the running service finds, by what it is about."""
    return {found.what: found for found in await stage.facade.examine(fix=fix)}


async def at_rest(stage: Stage, *, fix: bool = False) -> dict[str, Diagnosis]:
    """The same while no loop runs."""
    return {found.what: found for found in await examine(Ward(stage.means), fix=fix)}


def wrong(found: dict[str, Diagnosis]) -> list[str]:
    return [what for what, one in found.items() if one.level is not Level.OK]


async def finished(stage: Stage) -> TaskKey:
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.DONE)
    await stage.settle()
    return key


async def under_way(stage: Stage) -> TaskKey:
    """A task with an author at work."""
    key, before = stage.file(), len(stage.runtime.started)
    await stage.until(lambda: len(stage.runtime.started) > before)
    return key


async def start_stray(stage: Stage, name: str) -> None:
    await stage.runtime.start_session(SessionSpec(name, ("sleep",), Path("/"), {}, stage.home / name, 9.0))


async def test_a_service_at_work_is_well(tmp_path):
    stage = Stage(tmp_path.resolve())
    await finished(stage)
    await under_way(stage)
    await looked(stage, fix=True)  # the labels that no task needed so far
    found = await looked(stage)
    assert wrong(found) == []
    assert {one.words for one in found.values()} == {ALL}
    of_project = [f"{what} of {PROJECT}" for what in ("labels", "tasks", "worktrees", "branches")]
    assert list(found) == ["sessions", *of_project, "other worktrees"]


async def test_a_session_of_no_run_is_ended_and_those_of_runs_are_not(tmp_path):
    stage = Stage(tmp_path.resolve())
    await under_way(stage)
    (own,) = stage.runtime.sessions
    await start_stray(stage, "nc-stray")
    found = await looked(stage)
    assert found["session nc-stray"].level is Level.WARNING
    assert stage.runtime.stopped == []
    mended = (await looked(stage, fix=True))["session nc-stray"]
    assert (mended.level, mended.done, mended.hint) == (Level.MENDED, "it was ended", "")
    assert stage.runtime.stopped == ["nc-stray"]
    assert [effect.kind for effect in stage.store.effects.values()].count("session.stop") == 1
    assert "session nc-stray" not in await looked(stage, fix=True)
    assert own in stage.runtime.sessions


async def test_sessions_that_cannot_be_seen_are_unknown_and_nothing_is_ended(tmp_path):
    stage = Stage(tmp_path.resolve())
    await start_stray(stage, "nc-stray")
    stage.runtime.unreachable = "tmux does not answer"
    found = (await looked(stage, fix=True))["sessions"]
    assert found.level is Level.UNKNOWN
    assert "tmux does not answer" in found.words
    assert stage.runtime.stopped == []


async def test_a_run_whose_session_is_gone_is_told_only_while_no_loop_runs(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await under_way(stage)
    (run,) = stage.runs(key)
    stage.runtime.die(run.session)
    assert f"run {run.id}" not in await looked(stage)
    assert (await at_rest(stage))[f"run {run.id}"].hint == "start the service: nightcrew serve"


async def test_missing_labels_are_created_once(tmp_path):
    stage = Stage(tmp_path.resolve())
    what = f"labels of {PROJECT}"
    found = (await looked(stage))[what]
    assert found.level is Level.WARNING
    assert "status:blocked" in found.words
    assert "nightcrew" in found.words
    assert (await at_rest(stage, fix=True))[what].level is Level.MENDED
    assert (await looked(stage, fix=True))[what] == Diagnosis(what, Level.OK, ALL)
    assert [effect.kind for effect in stage.store.effects.values()] == ["label.create"]


async def test_a_forge_that_does_not_answer_leaves_unknown_what_it_would_tell(tmp_path):
    stage = Stage(tmp_path.resolve())
    stage.forge.fail("list_labels", Unavailable("no network"))
    found = await looked(stage, fix=True)
    assert found[f"labels of {PROJECT}"].level is Level.UNKNOWN
    assert found[f"tasks of {PROJECT}"].level is Level.OK


async def test_a_forge_that_could_not_be_opened_is_unknown_with_why(tmp_path):
    stage = Stage(tmp_path.resolve())
    means = replace(stage.means, ports=replace(stage.ports, forges={}))
    ward = Ward(means, closed={DEFAULT_FORGE: "the token is missing"})
    found = {one.what: one for one in await examine(ward, fix=True)}
    assert {one.level for one in found.values()} == {Level.OK, Level.UNKNOWN}
    assert found[f"branches of {PROJECT}"].words == "could not be looked at: the token is missing"
    assert found[f"worktrees of {PROJECT}"].level is Level.OK


async def test_labels_of_an_issue_are_put_right_and_a_persons_label_wins(tmp_path):
    stage = Stage(tmp_path.resolve())
    bare, turned = await under_way(stage), stage.file("Another")
    await stage.until(lambda: len(stage.runtime.started) == 2)
    await stage.settle(play=False)
    stage.unlabel(bare)
    stage.set_label(turned, "status:blocked")
    found = await looked(stage)
    assert wrong(found)[-2:] == [f"task {bare}", f"task {turned}"]
    assert "its issue has status:blocked" in found[f"task {turned}"].words
    assert {one.level for what, one in (await at_rest(stage, fix=True)).items() if what.startswith("task ")} == {
        Level.WARNING
    }, "without a loop nothing is done about a task"
    assert stage.statuses(bare) == ()

    mended = await looked(stage, fix=True)
    assert mended[f"task {bare}"].done == f"its label is status:{stage.task(bare).status.value}"
    assert stage.statuses(bare) == (stage.task(bare).status.label,)
    assert mended[f"task {turned}"].done == "the label counts: it is blocked in the store as well"
    assert stage.statuses(turned) == ("status:blocked",)
    assert stage.task(turned).status is Status.BLOCKED
    assert wrong(await looked(stage, fix=True)) == []


async def test_what_another_hand_has_done_is_left_to_the_loop(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await under_way(stage)
    stage.forge.set_open(PROJECT, key.number, is_open=False)
    found = (await looked(stage, fix=True))[f"task {key}"]
    assert found.done == "the service was told to look again"
    assert stage.task(key).status is Status.IN_PROGRESS
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert f"task {key}" not in await looked(stage)


async def test_an_issue_with_a_status_that_is_no_task_here_is_unknown(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = stage.file(labels=("status:in_review",))
    found = (await looked(stage, fix=True))[f"issue {key}"]
    assert found.level is Level.UNKNOWN
    assert stage.statuses(key) == ("status:in_review",)


async def leave_workspace(stage: Stage, key: TaskKey, lease: str) -> None:
    spec = WorkspaceSpec(PROJECT, key.number, stage.task(key).branch, "main", RunId(lease))
    await stage.workspace.ensure_workspace(spec)


@pytest.mark.case("C236")
async def test_the_worktree_of_a_finished_task_goes_and_its_work_is_kept(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    await leave_workspace(stage, key, stage.runs(key)[0].id)  # a crash left the lease of a run that has ended
    stage.workspace.edit(PROJECT, key.number, {"loose.txt": "loose"})
    what = f"worktree {stage.workspace.path(PROJECT, key.number)}"
    assert (await looked(stage))[what].words == f"is left of {key}, which is done"
    done = (await looked(stage, fix=True))[what].done
    assert done.startswith("it was removed; what was nowhere else is kept as refs/nightcrew/salvage/")
    assert stage.events("workspace.salvaged", key)
    assert what not in await looked(stage, fix=True)


async def test_a_worktree_that_somebody_may_write_to_stays(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    await leave_workspace(stage, key, "R-unknown")
    what = f"worktree {stage.workspace.path(PROJECT, key.number)}"
    found = (await looked(stage, fix=True))[what]
    assert found.level is Level.WARNING
    assert found.done.startswith("could not be mended: the workspace is in use by run R-unknown")


async def test_a_worktree_of_no_task_is_told_and_stays(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    await leave_workspace(stage, key, "R1")
    del stage.store.tasks[key]
    what = f"worktree {stage.workspace.path(PROJECT, key.number)}"
    found = (await looked(stage, fix=True))[what]
    assert (found.level, found.done) == (Level.WARNING, "")
    assert stage.workspace.list_folders(PROJECT)


async def test_the_checkout_of_a_run_that_has_ended_goes(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    run = stage.runs(key)[-1]
    head = stage.forge.projects[PROJECT].branches["main"]
    await stage.workspace.ensure_review_checkout(PROJECT, run.id, head)
    await stage.workspace.ensure_review_checkout(PROJECT, RunId("R-unknown"), head)
    found = await looked(stage, fix=True)
    assert [one.done for what, one in found.items() if what.startswith("checkout ")] == ["it was removed"]
    assert [folder.checkout for folder in stage.workspace.list_folders(PROJECT)] == ["R-unknown"]


async def test_a_branch_whose_pull_request_is_merged_is_deleted(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    branches, name = stage.forge.projects[PROJECT].branches, stage.task(key).branch
    branches[name] = stage.pull(key).head_sha  # as if deleting it had failed
    what = f"branch {name} of {PROJECT}"
    assert (await looked(stage))[what].level is Level.WARNING
    assert (await at_rest(stage, fix=True))[what].done == "it was deleted"
    assert name not in branches
    assert what not in await looked(stage, fix=True)


async def test_a_branch_with_anything_that_is_not_merged_stays(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    branches, name = stage.forge.projects[PROJECT].branches, stage.task(key).branch
    branches[name] = branches["main"]
    branches[f"{PREFIX}queue/main"] = branches["main"]
    branches[f"{PREFIX}9-strange"] = branches["main"]
    found = await looked(stage, fix=True)
    kept = found[f"branch {name} of {PROJECT}"]
    assert kept.level is Level.OK
    assert "somebody pushed to it since" in kept.words
    assert found[f"branches of {PROJECT}"].words.endswith(f"{PREFIX}9-strange")
    assert {name, f"{PREFIX}queue/main", f"{PREFIX}9-strange"} <= set(branches)


async def test_a_branch_that_is_worked_on_again_meanwhile_stays(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await finished(stage)
    branches, name = stage.forge.projects[PROJECT].branches, stage.task(key).branch
    branches[name] = stage.pull(key).head_sha
    (found,) = [one async for one in look_at_branches(Ward(stage.means), PROJECT)]
    assert found.mend is not None
    stage.store.tasks[key] = replace(stage.task(key), status=Status.ROUTED)
    with pytest.raises(Conflict, match="is worked on again"):
        await found.mend()
    assert name in branches


async def test_a_list_that_lags_behind_makes_no_finding(tmp_path):
    stage = Stage(tmp_path.resolve())
    key = await under_way(stage)
    await stage.settle(play=False)
    stale = replace(stage.issue(key), labels=("nightcrew", "status:routed"))

    async def lag(_real: object, _project: str) -> tuple[Issue, ...]:
        return (stale,)

    stage.forge.instead["list_open_issues"] = lag
    assert f"task {key}" not in await looked(stage, fix=True)


async def test_worktrees_of_a_project_that_is_not_configured_any_more(tmp_path):
    stage = Stage(tmp_path.resolve())
    over, going_on = await finished(stage), await under_way(stage)
    await leave_workspace(stage, over, stage.runs(over)[0].id)
    (stage.home / "worktrees" / "gone__gone" / "gone-1").mkdir(parents=True)
    (stage.home / "worktrees" / "empty").mkdir()
    means = replace(stage.means, settings=replace(stage.settings, projects={}))
    found = {one.what: one for one in await examine(Ward(means), fix=True)}
    path = stage.workspace.path
    assert found[f"worktree {path(PROJECT, over.number)}"].level is Level.MENDED
    kept = found[f"worktree {path(PROJECT, going_on.number)}"]
    assert (kept.level, kept.done) == (Level.WARNING, "")
    assert kept.hint.endswith(f"nightcrew project add {PROJECT}")
    assert [what for what in found if what.startswith("worktrees ")] == [f"worktrees {stage.home}/worktrees/gone__gone"]
    assert (stage.home / "worktrees" / "gone__gone" / "gone-1").is_dir()


async def test_the_session_that_a_question_is_answered_in_goes_on(tmp_path):
    here = await asked(tmp_path.resolve())
    await here.ask(project=PROJECT)
    await here.inquirer.look()
    (session,) = here.sessions()
    found = await looked(here.stage, fix=True)
    assert f"session {session}" not in found
    assert here.sessions() == [session]
    assert [what for what in found if what.startswith("checkout ")] == []

"""A base that moved or conflicts: brought in by the engine where that is clean, else by the author."""

import pytest

from nightcrew.core.actions import MergePull, Refused, UpdateBranch
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMode, MergeStrategy, UpdateMethod
from nightcrew.core.model.run import Role, Run
from tests.engine.approved import in_review, with_merge
from tests.engine.part import PERSON, PROJECT, failure_of
from tests.engine.stage import Stage


def updating(tmp_path, **fields) -> Stage:
    return Stage(tmp_path, projects=with_merge(strategy=MergeStrategy.UPDATE, **fields))


def clash(stage: Stage, key: TaskKey) -> None:
    """The base gets another text where the task has its own, and the forge says so until the head moves."""
    stage.workspace.publish(PROJECT, {f"work-{key.number}.txt": "by a person"})
    says(stage, key, "dirty")


def says(stage: Stage, key: TaskKey, state: str) -> None:
    thread = stage.forge.thread(PROJECT, stage.number(key))
    thread.trouble[stage.pull(key).head_sha] = state


@pytest.mark.parametrize("method", UpdateMethod)
@pytest.mark.case("C160")
async def test_a_base_that_moved_is_brought_in_and_the_verdict_carried_over(tmp_path, method):
    stage = updating(tmp_path, update=method)
    key, merge = await in_review(stage)
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    stage.ci()
    await stage.later(play=False)
    task, pull = stage.task(key), stage.pull(key)
    assert (task.status, task.updates) == (Status.IN_REVIEW, 1)
    assert pull.head_sha != merge.head_sha
    assert stage.count("merge_pull") == 0, "its checks have to be green anew"
    given, carried = (verdict for verdict in stage.store.verdicts.values())
    assert (carried.head_sha, carried.carried_from, carried.run) == (pull.head_sha, merge.head_sha, given.run)
    assert "Nobody reviewed it anew" in carried.summary
    assert carried.posted
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.REVIEWER)) == 1
    assert stage.pulls()[0].is_merged


async def test_without_the_strategy_a_base_that_moved_is_left_alone(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    stage.ci()
    await stage.later()
    assert (stage.task(key).status, stage.task(key).updates) == (Status.DONE, 0)


async def test_rules_that_demand_it_up_to_date_are_kept_by_the_engine(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    says(stage, key, "behind")
    stage.ci()
    await stage.until(lambda: stage.task(key).updates == 1)
    assert stage.count("merge_pull") == 0
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.pulls()[0].head_sha != merge.head_sha


async def test_a_conflict_is_left_in_the_worktree_of_its_author(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    clash(stage, key)
    stage.observer.expire()
    seen: list[str] = []

    def resolve(run: Run):
        tree = stage.workspace.repository(PROJECT).trees[key.number]
        seen.append(tree.files["work-1.txt"])
        return {"work-1.txt": "both"}

    stage.edit, stage.auto_ci = resolve, True
    await stage.later()
    first, second = stage.runs(key, Role.AUTHOR)
    assert first.agent == second.agent
    assert "<<<<<<< " in seen[0]
    prompt = (tmp_path / second.folder / "prompt.md").read_text()
    assert "A merge of main into it has been begun" in prompt
    assert "work-1.txt" in prompt
    task = stage.task(key)
    assert (task.status, task.conflicts, task.conflict, task.cycles) == (Status.DONE, 1, None, 0)
    assert len(stage.runs(key, Role.REVIEWER)) == 2, "what was resolved is reviewed anew"
    base, other = stage.forge.projects[PROJECT].commits[stage.pulls()[0].head_sha].parents
    assert base != other


async def test_a_conflict_comes_before_review_and_checks(tmp_path):
    stage = Stage(tmp_path)
    stage.auto_ci = False
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).pull is not None)
    clash(stage, key)
    stage.ci()
    stage.observer.expire()
    stage.edit = lambda run: {"work-1.txt": "both"}
    await stage.until(lambda: stage.task(key).conflicts == 1 and stage.task(key).status is Status.IN_REVIEW)
    assert len(stage.runs(key, Role.REVIEWER)) <= 2


async def test_marks_that_are_committed_are_a_failure_of_the_author(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    clash(stage, key)
    stage.observer.expire()

    def commit_marks(run: Run):
        if run.attempt == 2:
            stage.workspace.commit(PROJECT, key.number, agent=run.agent)
            return None
        return {"work-1.txt": "both"}

    stage.edit, stage.auto_ci = commit_marks, True
    await stage.later()
    runs = stage.runs(key, Role.AUTHOR)
    assert "left conflict marks in work-1.txt" in failure_of(runs[1]).detail
    await stage.later(7200)
    runs = stage.runs(key, Role.AUTHOR)
    assert "work-1.txt" in (tmp_path / runs[2].folder / "prompt.md").read_text()
    assert stage.task(key).status is Status.DONE


async def test_conflicts_without_end_go_to_a_person(tmp_path):
    stage = Stage(tmp_path)
    key, _ = await in_review(stage)
    count = 0

    def publish_again(run: Run):
        nonlocal count
        count += 1
        return {"work-1.txt": f"both, {count}"}

    stage.edit = publish_again

    def stir() -> bool:
        task = stage.task(key)
        if task.status in (Status.NEEDS_REVIEW, Status.IN_REVIEW) and not stage.runtime.sessions:
            stage.workspace.publish(PROJECT, {"work-1.txt": f"by a person, {count}"})
            says(stage, key, "dirty")
            stage.observer.expire()
        return task.status is Status.BLOCKED

    await stage.until(stir, max_ticks=150)
    assert stage.block(key).code == "base_moves"
    assert "conflicted with main 4 times" in stage.block(key).words
    await stage.facade.retry_task(key)
    assert (stage.task(key).conflicts, stage.task(key).conflict) == (0, None)


async def test_a_base_that_moves_without_end_goes_to_a_person(tmp_path):
    stage = updating(tmp_path)
    key, _ = await in_review(stage)

    def stir() -> bool:
        if stage.task(key).status is Status.IN_REVIEW and not stage.loop.actor.in_flight:
            stage.workspace.publish(PROJECT, {"other.txt": f"{stage.clock.mono}"})
            stage.ci()
            stage.observer.expire()
        return stage.task(key).status is Status.BLOCKED

    await stage.until(stir, max_ticks=150)
    assert stage.block(key).code == "base_moves"
    assert stage.task(key).updates == 10
    assert stage.count("merge_pull") == 0


async def test_what_a_person_does_meanwhile_keeps_the_engine_from_updating(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    clash(stage, key)
    update = UpdateBranch(key, Status.IN_REVIEW, merge.pull, merge.head_sha, "main", "it conflicts")
    stage.forge.label(PROJECT, merge.pull, "hold", actor=PERSON)
    stage.observer.expire()
    await stage.settle()
    assert stage.wait(key).code == "gate_shut"
    stage.set_label(key, "status:blocked")
    assert isinstance(await stage.act(update), Refused)
    stage.set_label(key, "status:in_review")
    stage.forge.push(PROJECT, stage.task(key).branch)
    assert isinstance(await stage.act(update), Refused)
    assert stage.task(key).conflicts == 0


async def test_a_forge_that_has_not_seen_the_update_yet_is_not_believed(tmp_path):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    update = UpdateBranch(key, Status.IN_REVIEW, merge.pull, merge.head_sha, "main", "it conflicts")
    outcome = await stage.act(update)
    assert isinstance(outcome, Refused)
    assert "in it already" in outcome.why
    assert stage.task(key).updates == 0


@pytest.mark.case("C160")
async def test_a_changed_patch_is_reviewed_anew(tmp_path):
    """As when the base changed lines beside those of the branch."""
    stage = updating(tmp_path)
    key, merge = await in_review(stage)
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    stage.workspace.patch_ids[merge.head_sha] = "another"
    stage.auto_ci = True
    stage.ci()
    await stage.later()
    assert [verdict.carried_from for verdict in stage.store.verdicts.values()] == [None, None]
    assert len(stage.runs(key, Role.REVIEWER)) == 2
    assert stage.task(key).status is Status.DONE


async def test_a_persons_word_goes_over_with_the_same_change(tmp_path):
    stage = updating(tmp_path, mode=MergeMode.ASK)
    key, _ = await in_review(stage)
    stage.ci()
    await stage.facade.approve_task(key)
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    stage.auto_ci = True
    await stage.later()
    assert stage.task(key).updates == 1
    assert stage.task(key).status is Status.DONE


async def test_a_merge_is_refused_if_the_base_moved_since_it_was_decided(tmp_path):
    stage = updating(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    outcome = await stage.act(MergePull(key, merge.pull, merge.head_sha, "main", "approved"))
    assert isinstance(outcome, Refused)
    assert "main has moved on" in outcome.why


async def test_one_at_a_time_is_brought_up_to_date_and_merged(tmp_path):
    stage = updating(tmp_path)
    stage.auto_ci = False
    keys = [stage.file(f"Thing {number}") for number in range(3)]
    await stage.settle()
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    stage.ci()
    seen: list[tuple[int, ...]] = []

    def look() -> bool:
        seen.append(tuple(stage.task(key).updates for key in keys))
        stage.ci()
        stage.observer.expire()
        return all(stage.task(key).status is Status.DONE for key in keys)

    await stage.until(look, max_ticks=120)
    assert seen[-1] == (1, 1, 1), "each is brought up to date once, when its turn has come"
    merged = [event.task for event in stage.store.events if event.kind == "pull.merged"]
    assert merged == keys

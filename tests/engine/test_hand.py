"""People's hands at random, in the middle of everything, with faults and deaths: whatever they do, what is recorded,
what the labels say and what was merged stay true."""

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from nightcrew.core.errors import NightcrewError, OutcomeUnknown, Unavailable
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Decision
from nightcrew.core.model.run import Probe, Role
from nightcrew.ports.service import Answer
from tests.engine.part import PROJECT, Killed, fails, wants_changes
from tests.engine.stage import Stage

FAULTS = (
    "list_updated_issues", "fetch_issue", "add_label", "remove_label", "create_pull", "post_review", "post_status",
    "merge_pull", "fetch_pull", "list_checks", "create_comment", "update_comment", "set_issue_open", "delete_branch",
    "find_branch", "fetch_remote", "list_reviews", "list_comments",
)  # fmt: skip


def hands(stage: Stage, chance: random.Random, key: TaskKey) -> list[Callable[[], object]]:
    """What a person may do to the task now, on the forge."""
    branches, task = stage.forge.projects[PROJECT].branches, stage.store.tasks.get(key)
    if task is None or task.status is Status.DONE:
        # Nobody looks at the labels of what is over, or is somebody else's.
        return [lambda: stage.forge.set_open(PROJECT, key.number, is_open=True)]
    found: list[Callable[[], object]] = [
        lambda: stage.set_label(key, chance.choice(list(Status)).label),
        lambda: stage.unlabel(key),
        lambda: stage.forge.label(PROJECT, key.number, chance.choice(list(Status)).label),
        lambda: stage.forge.set_open(PROJECT, key.number, is_open=chance.random() < 0.6),
        lambda: stage.forge.label(PROJECT, key.number, "hold"),
        lambda: stage.forge.unlabel(PROJECT, key.number, "hold"),
        lambda: stage.forge.comment(PROJECT, key.number, body="go on"),
    ]
    if task.branch in branches:
        found.append(lambda: stage.forge.push(PROJECT, task.branch, paths=(f"hand-{key.number}.txt",)))
    if task.pull is not None and not stage.pull(key).is_merged:
        number = task.pull
        found.append(lambda: stage.forge.set_open(PROJECT, number, is_open=chance.random() < 0.6))
        if task.branch in branches:
            found.append(lambda: stage.change_pull(key, is_draft=chance.random() < 0.3))
    return found


async def command(stage: Stage, chance: random.Random, key: TaskKey) -> None:
    facade = stage.facade
    asks: list[Callable[[], Awaitable[Answer]]] = [
        lambda: facade.retry_task(key),
        lambda: facade.stop_task(key),
        lambda: facade.block_task(key, why="wait"),
        lambda: facade.unblock_task(key),
        lambda: facade.approve_task(key),
        lambda: facade.close_task(key),
    ]
    ask = chance.choice(asks)
    try:
        await ask()
    except Killed:
        await stage.restart()
    except NightcrewError as error:
        assert str(error), "a refusal says why"
        assert "Traceback" not in str(error)


def assert_true_at_any_time(stage: Stage) -> None:
    alive = [name for name, session in stage.runtime.sessions.items() if session.probe is Probe.ALIVE]
    authors = [name.rsplit("-", 2)[0] for name in alive if "-author-" in name]
    assert len(authors) == len(set(authors)), "two authors of one task"
    for key in stage.store.tasks:
        approved = {v.head_sha for v in stage.store.verdicts.values() if v.decision is Decision.APPROVE}
        for pull in stage.pulls():
            if pull.is_merged:
                assert pull.head_sha in approved, f"{key}: merged without a review of its head"
    assert len({spec.name for spec in stage.runtime.started}) == len(stage.runtime.started)


def assert_true_at_rest(stage: Stage, key: TaskKey) -> None:
    task = stage.task(key)
    assert stage.statuses(key) == (task.status.label,), task
    assert task.moving_to is None
    assert stage.issue(key).is_open == (task.status is not Status.DONE), task
    assert len(stage.comments(key)) - stage.comments(key).count("go on") <= 1
    assert not [run for run in stage.runs(key) if run.is_open]
    if task.status is not Status.DONE:
        assert key in stage.loop.state.decision.waits, task
        assert task.status is not Status.ROUTED, stage.wait(key)


@pytest.mark.parametrize("seed", range(12))
async def test_people_at_random(tmp_path, seed):
    chance = random.Random(seed)
    stage = Stage(tmp_path, agents=("ann", "bob", "cat", "dan"))
    keys = [stage.file(f"task {number}") for number in range(3)]
    for agent in stage.agents:
        if chance.random() < 0.5:
            stage.order(agent, wants_changes("no"), fails(FailureKind.BAD_OUTPUT), role=Role.REVIEWER)
        if chance.random() < 0.5:
            stage.order(agent, fails(chance.choice(list(FailureKind))))
    for _ in range(50):
        for key in keys:
            if chance.random() < 0.15:
                with suppress(NightcrewError):  # the forge does not let people do everything either
                    chance.choice(hands(stage, chance, key))()
            elif chance.random() < 0.07:
                await command(stage, chance, key)
        if chance.random() < 0.2:
            error = chance.choice([Unavailable("503"), OutcomeUnknown("no answer")])
            stage.forge.fail(chance.choice(FAULTS), error, after=chance.random() < 0.5)
        if chance.random() < 0.05:
            stage.points.die_at = len(stage.points.names) + chance.randint(1, 30)
        try:
            await stage.tick(advance_s=chance.choice([1, 5, 30]))
        except Killed:
            await stage.restart()
        if chance.random() < 0.5:
            stage.play()
        stage.ci()
        assert_true_at_any_time(stage)
    stage.forge._faults.clear()
    stage.points.die_at = None
    for _ in range(6):
        await stage.later(30_000)
        assert_true_at_any_time(stage)
    for key in keys:
        assert_true_at_rest(stage, key)
    assert not [event.why for event in stage.store.events if "Traceback" in event.why]
    assert stage.dumps == []

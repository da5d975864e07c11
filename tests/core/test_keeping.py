"""What is over for long enough to go."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task
from nightcrew.core.policy.keeping import list_old_runs, list_old_workspaces
from tests.core.build import NOW, a_run, a_task

DAY_S = 86_400.0
DONE = replace(a_task(Status.DONE), updated_at=NOW - timedelta(days=40))
ENDED = replace(a_run(), ended_at=NOW - timedelta(days=31))


def runs_of(task: Task = DONE, run: Run = ENDED, *, kept_s: float = 30 * DAY_S) -> tuple[Run, ...]:
    return list_old_runs({task.key: task}, [run], now=NOW, kept_s=kept_s)


def test_the_run_of_a_task_that_is_long_done_may_go():
    assert runs_of() == (ENDED,)


@pytest.mark.parametrize(
    ("task", "run", "kept_s"),
    [
        (DONE, ENDED, 0),
        (DONE, ENDED, 32 * DAY_S),
        (replace(DONE, updated_at=NOW - timedelta(days=29)), ENDED, 30 * DAY_S),
        (replace(DONE, status=Status.BLOCKED), ENDED, 30 * DAY_S),
        (replace(DONE, moving_to=Status.DONE), ENDED, 30 * DAY_S),
        (DONE, replace(ENDED, ended_at=None), 30 * DAY_S),
    ],
)
def test_every_other_one_stays(task, run, kept_s):
    assert runs_of(task, run, kept_s=kept_s) == ()


def test_runs_of_a_task_that_is_not_known_stay():
    assert list_old_runs({}, [ENDED], now=NOW, kept_s=1) == ()


@pytest.mark.parametrize(
    ("task", "working", "kept_s", "goes"),
    [
        (DONE, (), 3 * DAY_S, True),
        (DONE, (DONE.key,), 3 * DAY_S, False),
        (DONE, (), 0, False),
        (replace(DONE, status=Status.BLOCKED), (), 3 * DAY_S, False),
        (replace(DONE, updated_at=NOW - timedelta(days=2)), (), 3 * DAY_S, False),
    ],
)
def test_workspaces_go_by_task_and_not_while_a_run_is_at_work(task, working, kept_s, goes):
    assert list_old_workspaces([task], working=working, now=NOW, kept_s=kept_s) == ((task,) if goes else ())

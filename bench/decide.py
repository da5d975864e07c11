"""How many ticks a second `decide` alone would manage on a thousand tasks. By CPU time; it informs, there is no aim."""

import time

from bench.figure import Figure, median, spread
from bench.seed import issue_of, run_of, task_of
from bench.stage import configuration, throw_away_home
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Probe, RunView
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import Candidate, ProjectWorld, TaskView, World
from nightcrew.service.clock import SystemClock

SLUG = "local/busy"


def measure(*, tiny: bool = False) -> list[Figure]:
    """One figure: decisions a second."""
    tasks, rounds = (10, 2) if tiny else (1000, 30)
    with throw_away_home() as home:
        settings = configuration(home, [SLUG], forge={"kind": "local"}, max_runs=50).apply()
    world = _world(settings, tasks)
    times = []
    for _ in range(rounds):
        began = time.process_time()
        decide(world)
        times.append((time.process_time() - began) * 1000)
    return [Figure("decide", f"{tasks} tasks", 1000 / median(times), "ticks/s", notes=(spread(times, "ms"),))]


def _world(settings: Settings, tasks: int) -> World:
    """One in twenty at work, one in ten new, the others routed and waiting; and ten that ask to be tasks."""
    views = [_view(task_of(SLUG, number, status=_status(number))) for number in range(1, tasks + 1)]
    asking = [issue_of(task_of(SLUG, tasks + number, status=Status.NEW)) for number in range(1, 11)]
    project = ProjectWorld(
        settings.projects[SLUG],
        Known("main"),
        tuple(views),
        tuple(Candidate(issue, Known(True)) for issue in asking),
    )
    agents = {name: Known(True) for name in settings.agents}
    return World(SystemClock().now(), settings, {SLUG: project}, agents)


def _status(number: int) -> Status:
    if number % 20 == 0:
        return Status.IN_PROGRESS
    return Status.NEW if number % 10 == 5 else Status.ROUTED


def _view(task: Task) -> TaskView:
    issue = Known(issue_of(task))
    if task.status is not Status.IN_PROGRESS:
        return TaskView(task, issue)
    run = run_of(task)
    return TaskView(task, issue, runs=(run,), live=(RunView(run, Probe.ALIVE, has_result=False),))

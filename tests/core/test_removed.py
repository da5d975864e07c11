"""Projects that are not configured any more: their runs are ended, and nothing else is done about their tasks."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import CollectRun, StopRun
from nightcrew.core.decide import decide
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Probe, Role, RunState
from nightcrew.core.model.world import World
from tests.core.build import PROJECT, a_project_world, a_view, a_world, an_open_run, live

NOTHING = Unknown("its project is not configured any more")


def removed(status: Status, session: Probe, *, has_result: bool = False, state: RunState = RunState.RUNNING) -> World:
    run = an_open_run(Role.AUTHOR, state)
    view = replace(
        a_view(status), issue=NOTHING, pull=NOTHING, runs=(run,), live=(live(run, session, has_result=has_result),)
    )
    project = replace(a_project_world(view), base_ref=NOTHING, is_removed=True)
    world = a_world()
    return replace(world, settings=replace(world.settings, projects={}), projects={PROJECT: project})


@pytest.mark.parametrize("state", [RunState.STARTING, RunState.RUNNING])
@pytest.mark.parametrize("status", [Status.ROUTED, Status.IN_PROGRESS, Status.BLOCKED, Status.DONE])
def test_its_runs_are_ended_whatever_the_status(status, state):
    (stop,) = decide(removed(status, Probe.ALIVE, state=state)).actions
    assert isinstance(stop, StopRun)
    assert stop.why == "its project is not configured any more"
    for world in (removed(status, Probe.DEAD, state=state), removed(status, Probe.ALIVE, has_result=True, state=state)):
        assert [type(action) for action in decide(world).actions] == [CollectRun]


def test_a_session_that_cannot_be_seen_is_waited_for():
    decision = decide(removed(Status.IN_PROGRESS, Probe.UNKNOWN))
    assert decision.actions == ()
    assert [wait.code for wait in decision.waits.values()] == ["session_unknown"]


def test_without_a_run_nothing_is_done():
    project = replace(a_project_world(replace(a_view(Status.ROUTED), issue=NOTHING)), is_removed=True)
    decision = decide(replace(a_world(), projects={PROJECT: project}))
    assert decision.actions == ()
    assert [wait.code for wait in decision.waits.values()] == ["project_inactive"]

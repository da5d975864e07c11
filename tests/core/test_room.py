"""With too little room on the disk nothing new is started, and everything else goes on."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import StartRun
from nightcrew.core.decide import decide
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.upkeep import UpkeepSettings
from tests.core.build import a_pull_view, a_route, a_settings, a_task, a_view, a_world

VIEWS = {
    Status.NEW: a_view(),
    Status.ROUTED: a_view(Status.ROUTED, task=a_task(Status.ROUTED, route=a_route())),
    Status.NEEDS_REVIEW: a_view(Status.NEEDS_REVIEW, pull=Known(a_pull_view())),
}


@pytest.mark.case("C234")
@pytest.mark.parametrize("status", VIEWS, ids=lambda status: status.value)
@pytest.mark.parametrize(("free_mb", "stops"), [(499, True), (500, False), (None, False)])
def test_starts_stop_and_go_on_by_themselves(status, free_mb, stops):
    settings = replace(a_settings(), upkeep=UpkeepSettings(least_free_mb=500))
    free = None if free_mb is None else free_mb * 1_000_000
    world = replace(a_world(VIEWS[status], settings=settings), free_bytes=free)
    decision = decide(world)
    wait = decision.waits.get(VIEWS[status].task.key)
    assert (wait is not None and wait.code == "disk_full") is stops
    if stops:
        assert not any(isinstance(action, StartRun) for action in decision.actions)
        assert wait is not None
        assert "less than 500 MB are free" in wait.words


@pytest.mark.parametrize(("free_mb", "stops"), [(499, True), (500, True), (599, True), (600, False), (None, True)])
def test_once_it_was_full_it_takes_some_more_room(free_mb, stops):
    settings = replace(a_settings(), upkeep=UpkeepSettings(least_free_mb=500))
    free = None if free_mb is None else free_mb * 1_000_000
    world = replace(a_world(VIEWS[Status.NEW], settings=settings), free_bytes=free, was_full=True)
    wait = decide(world).waits.get(VIEWS[Status.NEW].task.key)
    assert (wait is not None and wait.code == "disk_full") is stops


def test_zero_means_no_bound():
    settings = replace(a_settings(), upkeep=UpkeepSettings(least_free_mb=0))
    world = replace(a_world(VIEWS[Status.NEW], settings=settings), free_bytes=0, was_full=True)
    assert decide(world).actions

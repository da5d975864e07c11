"""Keeping somebody free to review: who writes next where agents are few."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import RecordRoute, StartRun
from nightcrew.core.failures import FailureKind
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ReviewAllow, ReviewSettings
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.sparing import list_writers
from tests.core.asking import step, wait
from tests.core.build import (
    UNKNOWN,
    a_project,
    a_pull_view,
    a_route,
    a_run,
    a_settings,
    a_task,
    a_view,
    a_world,
    an_agent,
    an_outcome,
    at,
    cooled,
)


def failed(agent: str = "ann", *, number: int = 1, commits: bool = True, kind: FailureKind = FailureKind.CRASH):
    return a_run(attempt=number, agent=agent, outcome=an_outcome(failure=kind, has_commits=commits))


def routed(*runs, agent: str = "ann", **fields) -> TaskView:
    task = a_task(Status.ROUTED, route=a_route(agent), tried=tuple(dict.fromkeys(run.agent for run in runs)))
    return a_view(task=task, runs=runs, **fields)


def test_a_second_author_is_not_taken_where_nobody_would_be_left_to_review():
    action = step(routed(failed()))
    assert isinstance(action, StartRun)
    assert (action.role, action.agent) == (Role.AUTHOR, "ann")


def test_who_left_no_commits_hands_on():
    action = step(routed(failed(commits=False)))
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "bob"


def test_with_a_third_agent_the_next_one_is_taken():
    agents = (an_agent("ann"), an_agent("bob"), an_agent("cat"))
    action = step(routed(failed()), settings=a_settings(agents=agents))
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "bob"


def test_who_may_not_review_is_no_reviewer_left():
    agents = (an_agent("ann"), an_agent("bob"), an_agent("cat", can_review=False))
    action = step(routed(failed()), settings=a_settings(agents=agents))
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "cat"  # bob can review what ann and cat wrote


def test_the_one_who_wrote_is_waited_for_while_it_is_cooled():
    found = wait(routed(failed()), cooldowns=(cooled("ann", 90),))
    assert (found.code, found.until_at) == ("cooling", at(90))
    assert "bob: it is kept free to review what others wrote" in found.words


def test_where_the_one_who_wrote_never_comes_back_the_other_goes_on():
    agents = (an_agent("ann", enabled=False), an_agent("bob"))
    action = step(routed(failed()), settings=a_settings(agents=agents))
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "bob"


@pytest.mark.parametrize("status", [Status.NEW, Status.ROUTED])
def test_a_task_that_starts_anew_keeps_to_who_wrote(status):
    view = a_view(task=a_task(status, route=None, reset_at=at(-1)), runs=(failed(),))
    action = step(view, last_agent="ann")
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "ann"


def test_a_label_wins():
    view = routed(failed(), labels=(Status.ROUTED.label, "agent:bob"))
    action = step(view)
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "bob"


def test_other_models_may_review_where_that_is_allowed():
    project = a_project(review=ReviewSettings(allow=ReviewAllow.OTHER_MODEL))
    action = step(routed(failed()), settings=a_settings(project))
    assert isinstance(action, RecordRoute)
    assert action.route.agent == "bob"


def test_one_agent_alone_works_as_ever():
    action = step(routed(failed()), settings=a_settings(agents=(an_agent("ann"),)))
    assert isinstance(action, StartRun)


def test_who_wrote_is_read_from_the_pull_request_and_what_came_after_it():
    pull = a_pull_view(author_agents=Known(frozenset({"cat"})))
    old, new = failed("ann"), failed("bob", number=2)
    view = a_view(Status.NEEDS_REVIEW, runs=(old, new), pull=Known(pull))
    assert list_writers(view) == {"cat", "bob"}
    assert list_writers(replace(view, runs=(old, failed("bob", number=2, commits=False)))) == {"cat"}
    assert list_writers(replace(view, pull=Known(a_pull_view(author_agents=UNKNOWN)))) == {"ann", "bob"}
    assert list_writers(replace(view, pull=UNKNOWN)) == {"ann", "bob"}


def nothing(agent: str = "ann", *, number: int = 1):
    return failed(agent, number=number, commits=False, kind=FailureKind.NO_CHANGES)


def test_who_changed_nothing_is_not_asked_again_while_another_may_come_back():
    found = wait(routed(nothing()), cooldowns=(cooled("bob", 30),))
    assert (found.code, found.until_at) == ("cooling", at(30))


def test_who_changed_nothing_is_asked_again_where_there_is_no_other():
    action = step(routed(nothing()), settings=a_settings(agents=(an_agent("ann"),)))
    assert isinstance(action, StartRun)
    assert action.agent == "ann"


def test_nobody_left_to_review_says_what_to_do():
    view = a_view(Status.NEEDS_REVIEW, pull=Known(a_pull_view(author_agents=Known(frozenset({"ann", "bob"})))))
    found = wait(view)
    assert found.code == "no_reviewer"
    assert "ann: it wrote part of this; bob: it wrote part of this" in found.words
    for way in ("Add another agent", "other_model", "review and merge the pull request yourself"):
        assert way in found.next
    assert a_world(view).settings.agents.keys() == {"ann", "bob"}

"""What all tasks share: slots, turns, landings, actions under way or refused; and that one bad task stops no other."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.actions import (
    CollectRun,
    MergePull,
    MoveStatus,
    PublishWork,
    RecordRoute,
    RunChecks,
    SettleLabels,
    StartRun,
    TellPerson,
)
from nightcrew.core.decide import Decision, allocate, decide, is_exclusive
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.run import Probe, Role, RunState
from nightcrew.core.model.settings import CheckCommand, Limits
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import ProjectWorld, TaskView
from nightcrew.core.reason import Wait
from nightcrew.core.render import render_status_comment
from tests.core.build import (
    BASE,
    NOW,
    UNKNOWN,
    a_key,
    a_project,
    a_pull,
    a_pull_view,
    a_route,
    a_run,
    a_settings,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_agent,
    an_issue,
    an_open_run,
    at,
    cooled,
    live,
)


def numbered(status: Status, number: int, **fields: Any) -> TaskView:
    """A task of its own number that would act now."""
    task = a_task(status, number, created_at=at(number), **fields)
    view = a_view(task=task)
    if status is Status.IN_REVIEW:
        pull = a_pull(number=task.pull or 0, base_ref=task.base_ref)
        view = replace(view, pull=Known(a_pull_view(pull)), verdicts=(a_verdict(base_ref=task.base_ref),))
    return view


def of_type(decision: Decision, kind: type) -> list[int]:
    return [action.task.number for action in decision.actions if isinstance(action, kind)]


class TestOrder:
    def test_the_most_urgent_and_then_the_oldest_get_the_slots(self):
        views = [numbered(Status.ROUTED, 1), numbered(Status.ROUTED, 2, priority=0), numbered(Status.ROUTED, 3)]
        settings = a_settings(limits=Limits(max_runs=2))
        for order in (views, views[::-1]):
            decision = decide(a_world(*order, settings=settings))
            assert of_type(decision, StartRun) == [2, 1]
            assert decision.waits[a_key(3)].code == "slot"

    def test_the_order_of_equals_is_that_of_their_names(self):
        views = [replace(numbered(Status.ROUTED, n), task=a_task(Status.ROUTED, n)) for n in (4, 2, 3)]
        assert of_type(decide(a_world(*views)), StartRun)[0] == 2


class TestSlots:
    def test_by_project(self):
        decision = decide(
            a_world(*(numbered(Status.ROUTED, n) for n in (1, 2, 3)), settings=a_settings(a_project(max_runs=1)))
        )
        assert of_type(decision, StartRun) == [1]
        assert "acme/widget" in decision.waits[a_key(2)].words

    def test_by_agent(self):
        settings = a_settings(agents=(an_agent("ann", max_runs=1), an_agent("bob")))
        views = (
            numbered(Status.ROUTED, 1),
            numbered(Status.ROUTED, 2),
            numbered(Status.ROUTED, 3, route=a_route("bob")),
        )
        decision = decide(a_world(*views, settings=settings))
        assert of_type(decision, StartRun) == [1, 3]
        assert "ann" in decision.waits[a_key(2)].words

    def test_other_projects_have_their_own(self):
        settings = a_settings(a_project(max_runs=1))
        other = replace(a_project(), slug="acme/other")
        settings = replace(settings, projects={**settings.projects, other.slug: other})
        away = numbered(Status.ROUTED, 9)
        away = replace(away, task=replace(away.task, key=TaskKey(other.slug, 9)))
        world = a_world(numbered(Status.ROUTED, 1), settings=settings)
        world = replace(world, projects={**world.projects, other.slug: ProjectWorld(other, Known(BASE), (away,))})
        assert of_type(decide(world), StartRun) == [1, 9]

    def test_runs_that_live_take_theirs(self):
        run = an_open_run(task=a_key(1))
        busy = replace(numbered(Status.IN_PROGRESS, 1), runs=(run,), live=(live(run),))
        decision = decide(a_world(busy, numbered(Status.ROUTED, 2), settings=a_settings(limits=Limits(max_runs=1))))
        assert of_type(decision, StartRun) == []

    def test_a_run_being_started_takes_one_slot_not_two(self):
        view = numbered(Status.ROUTED, 1)
        (start,) = decide(a_world(view)).actions
        settings = a_settings(limits=Limits(max_runs=2))
        assert allocate(a_world(view, settings=settings, in_flight=(start,))).slots.total == 1
        run = an_open_run(state=RunState.STARTING, task=a_key(1))
        shown = replace(view, runs=(run,), live=(live(run, Probe.DEAD),))
        assert allocate(a_world(shown, settings=settings, in_flight=(start,))).slots.total == 1

    def test_a_review_and_a_start_share_them(self):
        views = (numbered(Status.NEEDS_REVIEW, 1), numbered(Status.ROUTED, 2))
        decision = decide(a_world(*views, settings=a_settings(limits=Limits(max_runs=1))))
        assert of_type(decision, StartRun) == [1]


class TestTurns:
    def test_round_robin_goes_on_within_one_look(self):
        agents = tuple(an_agent(name) for name in ("ann", "bob", "cyd"))
        views = [numbered(Status.NEW, n) for n in range(1, 6)]
        decision = decide(a_world(*views, settings=a_settings(agents=agents), last_agent="bob"))
        routes = [action.route.agent for action in decision.actions if isinstance(action, RecordRoute)]
        assert routes == ["cyd", "ann", "bob", "cyd", "ann"]

    def test_a_rotation_takes_nobodys_turn(self):
        views = (numbered(Status.ROUTED, 1, tried=("ann",)), numbered(Status.NEW, 2))
        decision = decide(a_world(*views))
        assert [a.route.agent for a in decision.actions if isinstance(a, RecordRoute)] == ["bob", "ann"]


class TestLanding:
    def test_one_at_a_time_into_a_base(self):
        views = (numbered(Status.IN_REVIEW, 1), numbered(Status.IN_REVIEW, 2))
        decision = decide(a_world(*views))
        assert of_type(decision, MergePull) == [1]
        assert decision.waits[a_key(2)].code == "merge_turn"

    def test_another_base_is_free(self):
        views = (numbered(Status.IN_REVIEW, 1), numbered(Status.IN_REVIEW, 2, base_ref="release"))
        assert of_type(decide(a_world(*views)), MergePull) == [1, 2]

    def test_one_that_is_under_way_holds_the_base(self):
        first = numbered(Status.IN_REVIEW, 1)
        merge = next(a for a in decide(a_world(first)).actions if isinstance(a, MergePull))
        decision = decide(a_world(first, numbered(Status.IN_REVIEW, 2), in_flight=(merge,)))
        assert of_type(decision, MergePull) == []
        assert decision.waits[a_key(2)].code == "merge_turn"


CHECKED = a_settings(a_project(checks=(CheckCommand("tests", ("make",)),)))


class TestUnderWay:
    def test_one_action_a_task(self):
        view = a_view(Status.ROUTED)
        (start,) = decide(a_world(view)).actions
        decision = decide(a_world(view, in_flight=(start,)))
        assert decision.actions == ()
        assert decision.waits[view.task.key].code == "acting"

    def test_another_tasks_action_holds_up_nothing(self):
        (start,) = decide(a_world(numbered(Status.ROUTED, 1))).actions
        assert of_type(decide(a_world(numbered(Status.ROUTED, 2), in_flight=(start,))), StartRun) == [2]

    def test_checks_and_comments_run_beside(self):
        view = replace(a_view(Status.NEEDS_REVIEW), pull=Known(a_pull_view(checks=Known(()))))
        checks = next(a for a in decide(a_world(view, settings=CHECKED)).actions if isinstance(a, RunChecks))
        tell = TellPerson(view.task.key, "…", "", "why")
        assert not is_exclusive(checks)
        assert not is_exclusive(tell)
        decision = decide(a_world(view, settings=CHECKED, in_flight=(checks, tell)))
        assert [type(action) for action in decision.actions] == [StartRun]

    def test_checks_start_while_the_review_is_under_way(self):
        run = an_open_run(Role.REVIEWER)
        view = a_view(Status.IN_REVIEW, pull=Known(a_pull_view(checks=Known(()))), runs=(run,), live=(live(run),))
        decision = decide(a_world(view, settings=CHECKED))
        assert RunChecks in [type(action) for action in decision.actions]
        assert decision.waits[view.task.key].code == "running"


LATER = Wait("retrying", "it was refused: no", "It is tried again.", at(5))


class TestRefused:
    def deferred(self, view: TaskView, kind: type, **world: Any) -> Decision:
        action = next(a for a in decide(a_world(view, **world)).actions if isinstance(a, kind))
        return decide(a_world(view, deferred={action.key: LATER}, **world))

    def test_it_is_left_alone_until_its_time(self):
        view = a_view(Status.ROUTED)
        decision = self.deferred(view, StartRun)
        assert not [a for a in decision.actions if not isinstance(a, TellPerson)]
        assert decision.waits == {view.task.key: LATER}

    def test_a_merge_that_was_refused_frees_its_base(self):
        first, second = numbered(Status.IN_REVIEW, 1), numbered(Status.IN_REVIEW, 2)
        merge = next(a for a in decide(a_world(first)).actions if isinstance(a, MergePull))
        decision = decide(a_world(first, second, deferred={merge.key: LATER}))
        assert of_type(decision, MergePull) == [2]
        assert decision.waits[a_key(1)] == LATER

    def test_refused_checks_hold_up_no_review(self):
        view = replace(a_view(Status.NEEDS_REVIEW), pull=Known(a_pull_view(checks=Known(()))))
        decision = self.deferred(view, RunChecks, settings=CHECKED)
        assert [type(action) for action in decision.actions] == [StartRun]

    def test_refused_checks_do_not_hide_what_it_waits_for(self):
        view = replace(a_view(Status.NEEDS_REVIEW), pull=Known(a_pull_view(checks=Known(()))))
        decision = self.deferred(view, RunChecks, settings=CHECKED, cooldowns=(cooled("bob"),))
        assert decision.waits[view.task.key].code == "cooling"

    def test_a_refused_comment_is_not_hammered(self):
        view = a_view(task=a_task(Status.BLOCKED))
        decision = self.deferred(view, TellPerson)
        assert decision.actions == ()
        assert decision.waits[view.task.key].code == "blocked"

    def test_a_refusal_of_another_thing_does_not_matter(self):
        view = a_view(Status.ROUTED)
        assert of_type(decide(a_world(view, deferred={"start:other": LATER})), StartRun) == [7]

    def test_a_refused_intake_waits(self):
        from nightcrew.core.model.world import Candidate

        candidates = (Candidate(an_issue(8, labels=("nightcrew",)), Known(True)),)
        assert decide(a_world(candidates=candidates, deferred={f"adopt:{a_key(8)}": LATER})).actions == ()


class TestTelling:
    """The one comment changes when what it says changes, and not otherwise."""

    def told(self, view: TaskView, wait: Wait | None = None) -> TaskView:
        return replace(view, task=replace(view.task, told=render_status_comment(view, wait)))

    def test_once_and_then_not_again(self):
        view = a_view(task=a_task(Status.BLOCKED, block=Block("x", "Left or right?", answerable=True)))
        decision = decide(a_world(view))
        (tell,) = decision.actions
        assert isinstance(tell, TellPerson)
        assert "Left or right?" in tell.words
        again = replace(view, task=replace(view.task, told=tell.words))
        decision = decide(a_world(again))
        assert decision.actions == ()
        assert decision.waits[view.task.key].code == "blocked"

    def test_time_that_passes_says_nothing_new(self):
        view = a_view(Status.ROUTED, labels=(Status.ROUTED.label, "agent:ann"))
        world = a_world(view, cooldowns=(cooled("ann"),))
        (tell,) = decide(world).actions
        assert isinstance(tell, TellPerson)
        view = replace(view, task=replace(view.task, told=tell.words))
        for minutes in (1, 30, 119):
            assert decide(replace(a_world(view, cooldowns=(cooled("ann"),)), now=at(minutes))).actions == ()

    def test_not_while_something_else_is_about_to_change_it(self):
        assert not of_type(decide(a_world(a_view(Status.ROUTED))), TellPerson)

    def test_a_shut_gate_is_said_on_the_pull_as_well(self):
        view = a_view(Status.IN_REVIEW, pull=Known(a_pull_view(a_pull(is_draft=True))), verdicts=(a_verdict(),))
        (tell,) = decide(a_world(view)).actions
        assert isinstance(tell, TellPerson)
        assert "it is a draft" in tell.on_pull
        assert "it is a draft" in tell.words

    def test_nothing_is_said_on_the_pull_where_only_time_is_needed(self):
        view = a_view(Status.IN_REVIEW, pull=Known(a_pull_view(a_pull(mergeable=None))), verdicts=(a_verdict(),))
        (tell,) = (action for action in decide(a_world(view)).actions if isinstance(action, TellPerson))
        assert tell.on_pull == ""

    @pytest.mark.parametrize("issue", [UNKNOWN, Known(None)])
    def test_not_where_the_issue_cannot_be_written(self, issue):
        assert not of_type(decide(a_world(a_view(Status.BLOCKED, issue=issue))), TellPerson)


class Poison:
    """What no view should hold: it raises when it is looked at."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class TestPoisonedTask:
    def bad(self, **fields: Any) -> TaskView:
        return replace(numbered(Status.ROUTED, 1), **fields)

    @pytest.mark.parametrize("fields", [{"issue": Poison()}, {"issue": Known(Poison())}, {"pull": Poison()}])
    def test_it_waits_with_its_error_and_the_others_go_on(self, fields):
        decision = decide(a_world(self.bad(**fields), numbered(Status.ROUTED, 2)))
        assert of_type(decision, StartRun) == [2]
        assert set(decision.errors) == {a_key(1)}
        assert "Traceback" in decision.errors[a_key(1)]
        assert decision.waits[a_key(1)].code == "bug"

    def test_so_does_one_that_cannot_be_put_in_words(self):
        bad = a_view(task=a_task(Status.BLOCKED, 1, route=Poison()))
        decision = decide(a_world(bad, numbered(Status.ROUTED, 2)))
        assert of_type(decision, StartRun) == [2]
        assert set(decision.errors) == {a_key(1)}


class TestWakeAt:
    def test_the_regular_time(self):
        assert decide(a_world()).wake_at == NOW + timedelta(seconds=45)
        assert decide(a_world(settings=a_settings(interval_s=7.0))).wake_at == NOW + timedelta(seconds=7)

    def test_earlier_if_something_is_due_earlier(self):
        view = a_view(Status.ROUTED)
        decision = decide(a_world(view, cooldowns=(cooled("ann", 0.5), cooled("bob", 0.25))))
        assert decision.wake_at == at(0.25)

    def test_not_later_if_it_is_due_later(self):
        view = a_view(Status.ROUTED)
        assert decide(a_world(view, cooldowns=(cooled("ann"), cooled("bob")))).wake_at == NOW + timedelta(seconds=45)

    def test_what_was_due_is_not_waited_for(self):
        run = an_open_run(deadline_s=1.0, started_at=at(-0.5))
        view = a_view(Status.IN_PROGRESS, runs=(run,), live=(live(run),))
        decision = decide(a_world(view))
        assert decision.waits[view.task.key].until_at is not None
        assert decision.wake_at == NOW + timedelta(seconds=45)


def test_every_open_task_has_an_action_or_a_wait():
    views = [numbered(status, n) for n, status in enumerate(Status, 1) if status is not Status.DONE]
    decision = decide(a_world(*views))
    acted = {action.task for action in decision.actions if is_exclusive(action)}
    assert {view.task.key for view in views} == acted | set(decision.waits)


def test_keys_are_the_same_for_the_same_effect_and_differ_otherwise():
    key = a_key()
    actions: list[MoveStatus | SettleLabels | CollectRun | PublishWork | TellPerson] = [
        MoveStatus(key, Status.NEW, Status.BLOCKED, Evidence.NEEDS_PERSON, "a"),
        MoveStatus(key, Status.ROUTED, Status.BLOCKED, Evidence.NEEDS_PERSON, "a"),
        SettleLabels(key, Status.NEW, "a"),
        CollectRun(key, a_run().id, lost=True, why="a"),
        PublishWork(key, a_run().id, a_pull().head_sha, "a"),
        TellPerson(key, "a", "", "a"),
    ]
    assert len({action.key for action in actions}) == len(actions)
    again = [replace(action, why="b") for action in actions]
    assert [action.key for action in again] == [action.key for action in actions]

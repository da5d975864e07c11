"""The merge queue, as decided: who is built next, what follows from a build, and why the others wait."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import (
    CheckBuild,
    CloseLanded,
    EndBuild,
    FinishTask,
    LandBuild,
    MakeBuild,
    MergePull,
    MoveStatus,
    NoteHoldup,
    OfferBuild,
    TellPerson,
    UpdateBranch,
)
from nightcrew.core.decide import Decision, decide
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.build import Build, BuildState, BuildView, Head, Member
from nightcrew.core.model.claim import ClaimView, Hold
from nightcrew.core.model.merge import MergeMethod, MergeSettings, MergeStrategy
from nightcrew.core.model.pull import Check, CheckState, Required
from nightcrew.core.model.reaction import ReactionAction, ReactionRule, ReactionSettings
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.queueing import choose_batch
from nightcrew.core.reason import Wait
from tests.core.build import (
    BASE_SHA,
    PROJECT,
    UNKNOWN,
    a_key,
    a_project,
    a_pull,
    a_pull_view,
    a_settings,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_issue,
    at,
)
from tests.core.gate import F, P, S, checks

QUEUE = MergeSettings(strategy=MergeStrategy.QUEUE, method=MergeMethod.MERGE)
UNPAID = "The job was not started because recent account payments have failed"
NUMBERS = (6, 7, 8, 9)


def head_of(number: int) -> Sha:
    return a_sha(0xAA00 + number)


def a_member(number: int) -> Member:
    return Member(number, number * 10, head_of(number), a_sha(0xBB00 + number))


def a_build(*numbers: int, **fields: Any) -> Build:
    members = tuple(a_member(number) for number in numbers or (7,))
    plain = Build(PROJECT, "main", BASE_SHA, MergeMethod.MERGE, members, at(-5), id=1)
    return replace(plain, **fields)


def ended(*numbers: int, state: BuildState = BuildState.RED, **fields: Any) -> Build:
    return a_build(*numbers, state=state, ended_at=at(-1), why="checks failed: build", **fields)


def seen(build: Build, **fields: Any) -> BuildView:
    plain = BuildView(
        build,
        checks=checks(("build", S)),
        required=Known(Required()),
        base_sha=Known(BASE_SHA),
        scratch=Known(build.sha),
        has_landed=Known(False),
    )
    return replace(plain, **fields)


def ready(
    number: int, *, pull: dict[str, Any] | None = None, parts: dict[str, Any] | None = None, **fields
) -> TaskView:
    """A task whose pull request may be merged."""
    task = a_task(Status.IN_REVIEW, number, pull=number * 10, **fields.pop("task", {}))
    shown = a_pull_view(a_pull(number * 10, head_sha=head_of(number), **(pull or {})), **(parts or {}))
    verdict = replace(a_verdict(head_sha=head_of(number)), task=task.key)
    return replace(a_view(task=task, verdicts=(verdict,)), pull=Known(shown), **fields)


def decided(*views: TaskView, builds: tuple[BuildView, ...] = (), merge=QUEUE, project=None, **world) -> Decision:
    settings = a_settings(a_project(merge=merge, **(project or {})))
    plain = a_world(*views, settings=settings, **world)
    known = replace(plain.projects[PROJECT], builds=builds)
    decision = decide(replace(plain, projects={PROJECT: known}))
    assert not decision.errors
    # What is told on the issue follows from the waits.
    return replace(
        decision, actions=tuple(one for one in decision.actions if not isinstance(one, TellPerson | NoteHoldup))
    )


def only(decision: Decision) -> Any:
    (action,) = decision.actions
    return action


def test_the_first_in_order_is_built_and_the_others_know_their_place():
    decision = decided(*(ready(number) for number in (7, 8, 9)))
    action = only(decision)
    assert isinstance(action, MakeBuild)
    assert action.heads == (Head(a_key(7), 70, head_of(7)),)
    assert [decision.waits[a_key(number)].code for number in (7, 8, 9)] == ["queue_testing", "queued", "queued"]
    assert "number 2 of 3 in the queue for main, where #70 is first" in decision.waits[a_key(8)].words


def test_nothing_is_merged_by_a_call_nor_updated_under_the_queue():
    decision = decided(ready(7, pull={"mergeable_state": "behind"}))
    assert isinstance(only(decision), MakeBuild)
    assert not any(isinstance(action, MergePull | UpdateBranch) for action in decision.actions)


def test_a_batch_is_taken_from_the_front():
    action = only(decided(*(ready(number) for number in NUMBERS), merge=replace(QUEUE, batch=3)))
    assert [head.task.number for head in action.heads] == [6, 7, 8]


def test_who_is_not_ready_is_not_built_and_keeps_waiting_for_what_it_waits_for():
    decision = decided(ready(7, parts={"checks": checks(("build", P))}), ready(8))
    assert [head.task.number for head in only(decision).heads] == [8]
    assert decision.waits[a_key(7)].code == "gate_waits"


def test_a_stop_begins_no_build():
    decision = decided(ready(7), draining=True)
    assert decision.actions == ()
    assert decision.waits[a_key(7)].code == "draining"


def test_what_nobody_claimed_is_claimed_before_it_is_built():
    action = only(decided(ready(7, claim=Known(ClaimView(Hold.FREE)))))
    assert type(action).__name__ == "ClaimTask"


def test_green_is_landed():
    action = only(decided(ready(7), builds=(seen(a_build()),)))
    assert isinstance(action, LandBuild)


@pytest.mark.parametrize("strategy", [MergeStrategy.DIRECT, MergeStrategy.UPDATE])
def test_without_the_strategy_a_build_is_given_up(strategy):
    decision = decided(ready(7), builds=(seen(a_build()),), merge=MergeSettings(strategy=strategy))
    assert any(isinstance(action, EndBuild) for action in decision.actions)


@pytest.mark.parametrize(
    ("change", "kind", "state"),
    [
        ({"checks": checks(("build", F))}, EndBuild, BuildState.RED),
        ({"checks": checks(("build", S), ("other", F))}, EndBuild, BuildState.RED),
        ({"checks": Known((Check("build", F, "check_run", UNPAID),))}, EndBuild, BuildState.STUCK),
        ({"base_sha": Known(a_sha(0xD))}, EndBuild, BuildState.DROPPED),
        ({"scratch": Known(None)}, OfferBuild, None),
        ({"scratch": Known(a_sha(0xD))}, OfferBuild, None),
        ({"has_landed": Known(True), "base_sha": Known(a_sha(0xBB07))}, LandBuild, None),
    ],
)  # fmt: skip
def test_what_a_build_comes_to(change, kind, state):
    action = only(decided(ready(7), builds=(seen(a_build(), **change),)))
    assert isinstance(action, kind)
    assert getattr(action, "state", None) is state


@pytest.mark.parametrize(
    "change",
    [{part: UNKNOWN} for part in ("checks", "required", "base_sha", "scratch", "has_landed")]
    + [{"checks": checks(("build", P))}, {"checks": Known(())}],
)
def test_what_is_not_known_or_not_finished_waits(change):
    decision = decided(ready(7), builds=(seen(a_build(), **change),))
    assert decision.actions == ()
    assert decision.waits[a_key(7)].code == "queue_testing"


def test_checks_have_an_hour():
    build = seen(a_build(made_at=at(-61)), checks=checks(("build", P)))
    assert only(decided(ready(7), builds=(build,))).state is BuildState.STUCK


def test_green_after_the_hour_is_green():
    assert isinstance(only(decided(ready(7), builds=(seen(a_build(made_at=at(-61))),))), LandBuild)


GONE: dict[str, TaskView] = {
    "another head": ready(7, pull={"mergeable": None}),
    "on hold": ready(7, pull={"labels": ("hold",)}),
    "red by itself": ready(7, parts={"checks": checks(("build", F))}),
    "conflicting": ready(7, pull={"mergeable": False}),
    "closed": ready(7, pull={"is_open": False}),
    "blocked": a_view(task=a_task(Status.BLOCKED, pull=70)),
}
GONE["another head"] = replace(
    GONE["another head"],
    pull=Known(a_pull_view(a_pull(70, head_sha=a_sha(0xE)))),
    verdicts=(a_verdict(head_sha=a_sha(0xE)),),
)


@pytest.mark.parametrize("why", GONE)
def test_m3_who_may_not_be_merged_any_more_takes_the_build_along(why):
    decision = decided(GONE[why], ready(8), builds=(seen(a_build(7, 8)),))
    (ending,) = [action for action in decision.actions if isinstance(action, EndBuild | LandBuild)]
    assert isinstance(ending, EndBuild)
    assert ending.state is BuildState.DROPPED
    assert "#70" in ending.why


@pytest.mark.parametrize(
    "view",
    [
        ready(7, pull={"mergeable": None, "mergeable_state": "unknown"}),
        ready(7, parts={"checks": UNKNOWN}),
        replace(ready(7), pull=UNKNOWN),
        replace(ready(7), issue=UNKNOWN),
        replace(ready(7), claim=UNKNOWN),
        replace(ready(7), verdicts=()),
    ],
)
def test_m8_what_is_not_known_of_a_member_neither_lands_nor_drops_the_build(view):
    busy = () if view.verdicts else (MergePull(a_key(7), 70, head_of(7), "main", "now"),)
    decision = decided(view, builds=(seen(a_build()),), in_flight=busy)
    assert not any(isinstance(action, EndBuild | LandBuild) for action in decision.actions)


def test_m6_nothing_is_begun_while_something_is_under_way():
    landing = LandBuild(a_build(), "green")
    decision = decided(ready(7), ready(8), builds=(seen(a_build()),), in_flight=(landing,))
    assert decision.actions == ()
    assert [decision.waits[a_key(number)].code for number in (7, 8)] == ["acting", "queued"]


def test_what_was_refused_is_left_alone_for_a_while():
    build = a_build()
    held = {LandBuild(build, "").key: Wait("retrying", "it was refused", "It is tried again.", at(1))}
    decision = decided(ready(7), ready(8), builds=(seen(build),), deferred=held)
    assert decision.actions == ()
    assert decision.waits[a_key(7)].code == "retrying"


def test_own_checks_run_on_the_build_beside_the_others():
    project = {"checks": (CheckCommand("tests", ("make",)),)}
    own = Check("nightcrew/tests", S, "status")
    view = ready(7, parts={"checks": Known((Check("build", S, "status"), own))})
    decision = decided(view, builds=(seen(a_build()),), project=project)
    action = only(decision)
    assert isinstance(action, CheckBuild)
    assert action.names == ("tests",)
    assert decided(view, builds=(seen(a_build()),), project=project, in_flight=(action,)).actions == ()
    answered = seen(a_build(), checks=Known((Check("build", S, "status"), own)))
    assert isinstance(only(decided(view, builds=(answered,), project=project)), LandBuild)


def test_own_checks_of_a_head_need_not_be_for_the_base_as_it_is():
    project = {"checks": (CheckCommand("tests", ("make",)),)}
    own = Check("nightcrew/tests", S, "status", "passed on base 0123456789")
    view = ready(7, parts={"checks": Known((Check("build", S, "status"), own))})
    assert isinstance(only(decided(view, project=project)), MakeBuild)


def test_the_culprit_goes_back_to_its_author():
    action = only(decided(ready(7, builds=(ended(7, 8), ended(7)))))
    assert isinstance(action, MoveStatus)
    assert action.target is Status.ROUTED
    assert [key.kind.value for key in action.sent] == ["ci_failed"]


def test_a_culprit_without_the_base_gets_it_first():
    action = only(decided(ready(7, parts={"has_base": Known(False)}, builds=(ended(7),))))
    assert isinstance(action, UpdateBranch)
    assert "it fails: checks failed: build" in action.why
    assert decided(ready(7, parts={"has_base": UNKNOWN}, builds=(ended(7),))).waits[a_key(7)].code == "queue_red"


def test_a_culprit_that_nobody_is_sent_to_waits_and_says_so():
    rules = ReactionSettings(ci_failed=ReactionRule(ReactionAction.NOTHING))
    decision = decided(ready(7, builds=(ended(7),)), ready(8), project={"reactions": rules})
    assert decision.waits[a_key(7)].code == "queue_red"
    assert [head.task.number for head in only(decision).heads] == [8]


@pytest.mark.parametrize("change", [{"task": {"reset_at": at(0)}}, {"builds": (ended(8),)}, {"builds": (ended(7, 8),)}])
def test_a_reset_another_head_or_company_makes_no_culprit(change):
    view = ready(7, **{"builds": (ended(7),), **change})
    assert isinstance(only(decided(view)), MakeBuild)


def test_what_is_stuck_asks_a_person():
    action = only(decided(ready(7, builds=(ended(7, state=BuildState.STUCK),))))
    assert isinstance(action, MoveStatus)
    assert action.block is not None
    assert action.block.code == "queue_stuck"


@pytest.mark.parametrize(
    ("method", "minutes", "closes"),
    [(MergeMethod.SQUASH, -1, True), (MergeMethod.REBASE, -1, True), (MergeMethod.MERGE, -1, False),
     (MergeMethod.MERGE, -11, True)],
)  # fmt: skip
def test_what_landed_is_closed_where_the_forge_does_not_see_it(method, minutes, closes):
    landed = replace(ended(7, state=BuildState.LANDED), method=method, ended_at=at(minutes))
    decision = decided(ready(7, builds=(landed,)))
    if closes:
        action = only(decision)
        assert isinstance(action, CloseLanded)
        assert action.sha == a_member(7).sha
    else:
        assert decision.waits[a_key(7)].code == "queue_landed"


@pytest.mark.parametrize("status", [Status.IN_REVIEW, Status.NEEDS_REVIEW, Status.BLOCKED])
def test_what_landed_and_is_closed_is_finished(status):
    landed = ended(7, state=BuildState.LANDED)
    view = ready(7, pull={"is_open": False}, builds=(landed,))
    task = replace(view.task, status=status)
    issue = an_issue(labels=(status.label,))
    action = only(decided(replace(view, task=task, issue=Known(issue))))
    assert isinstance(action, FinishTask)
    assert action.merged


def test_a_push_after_the_landing_is_another_matter():
    landed = ended(7, state=BuildState.LANDED)
    view = ready(7, builds=(landed,))
    pushed = replace(view, pull=Known(a_pull_view(a_pull(70, head_sha=a_sha(0xE)))))
    assert not any(isinstance(action, CloseLanded | FinishTask) for action in decided(pushed).actions)


# ---- bisection


def play(numbers: tuple[int, ...], bad: set[frozenset[int]], *, most: int) -> tuple[list[int], list[int], int]:
    """Who lands and who is sent back, and how many builds that takes; a build is red that holds one of `bad`, with
    what has landed."""
    waiting = list(numbers)
    landed: list[int] = []
    culprits: list[int] = []
    builds: list[Build] = []
    for _ in range(60):
        views = {number: replace(ready(number), builds=tuple(b for b in builds if number in _numbers(b)))
                 for number in waiting}  # fmt: skip
        batch = choose_batch(
            [(Head(TaskKey(PROJECT, number), number * 10, head_of(number)), views[number]) for number in waiting],
            most=most,
        )
        if not batch:
            return landed, culprits, len(builds)
        chosen = [head.task.number for head in batch]
        assert chosen == waiting[: len(chosen)], "never out of order"
        red = any(group <= {*landed, *chosen} for group in bad)
        builds.append(ended(*chosen, state=BuildState.RED if red else BuildState.LANDED))
        if not red:
            landed += chosen
        elif len(chosen) == 1:
            culprits += chosen
        if not red or len(chosen) == 1:
            waiting = [number for number in waiting if number not in chosen]
    raise AssertionError("it never ends")


def _numbers(build: Build) -> list[int]:
    return [member.number for member in build.members]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(
    ("bad", "culprits"),
    [
        ([], []),
        ([{13}], [13]),
        ([{10}, {17}], [10, 17]),
        ([{11, 15}], [15]),
        ([{10, 11}, {16, 17}], [11, 17]),
        ([{number} for number in range(10, 18)], list(range(10, 18))),
    ],
)
def test_m5_bisection_finds_who_and_lands_the_others(most, bad, culprits):
    numbers = tuple(range(10, 18))
    landed, found, count = play(numbers, {frozenset(group) for group in bad}, most=most)
    assert found == culprits
    assert landed == [number for number in numbers if number not in culprits]
    assert count <= 2 * len(numbers)


def test_one_culprit_of_eight_costs_seven_builds():
    assert play(tuple(range(10, 18)), {frozenset({13})}, most=8)[2] == 7


def test_who_failed_in_company_is_not_built_with_others():
    failed = ended(7, 8)
    line = [(Head(a_key(number), number * 10, head_of(number)), ready(number, builds=builds))
            for number, builds in ((6, ()), (7, (failed,)), (8, (failed,)))]  # fmt: skip
    assert [head.task.number for head in choose_batch(line, most=5)] == [6]


def test_the_state_of_checks_is_judged_by_the_rules_of_every_merge():
    project = {"checks": ()}
    required = Known(Required(("build", "nightcrew/review")))
    build = seen(a_build(), required=required, checks=checks(("build", S), ("flaky", CheckState.FAILURE)))
    view = ready(7, parts={"required": required, "checks": checks(("build", S), ("nightcrew/review", S, "status"))})
    assert isinstance(only(decided(view, builds=(build,), project=project)), LandBuild)


def test_a_base_that_is_red_itself_is_nobodys_fault():
    red = seen(a_build(), checks=checks(("build", F)), base_checks=checks(("build", F)))
    decision = decided(ready(7), builds=(red,))
    assert decision.actions == ()
    assert "build fails on main itself as well" in decision.waits[a_key(7)].words
    more = seen(a_build(), checks=checks(("build", F), ("lint", F)), base_checks=checks(("build", F)))
    assert only(decided(ready(7), builds=(more,))).state is BuildState.RED
    unknown = seen(a_build(), checks=checks(("build", F)), base_checks=UNKNOWN)
    assert decided(ready(7), builds=(unknown,)).actions == ()


def test_the_way_of_merging_is_one_that_the_rules_leave():
    left = Known(Required(methods=frozenset({MergeMethod.SQUASH})))
    merge = replace(QUEUE, fallback=(MergeMethod.SQUASH,))
    assert only(decided(ready(7, parts={"required": left}), merge=merge)).method is MergeMethod.SQUASH

"""What follows from a merge that the forge refused, by why it did."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.actions import FollowBase, MergePull, MoveStatus, StartRun
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.holdup import Holdup, HoldupKind, find_holdup, with_holdup
from nightcrew.core.model.pull import PullView, Required
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy.refusing import MOST_TRIES, PAUSES_S, print_of
from nightcrew.core.reason import Wait
from tests.core.asking import blocked, moved, step, steps, wait
from tests.core.build import (
    BASE,
    HEAD,
    NOW,
    UNKNOWN,
    a_check,
    a_pull,
    a_pull_view,
    a_review,
    a_sha,
    a_task,
    a_verdict,
    a_view,
)

PASSING = [kind for kind in RefusalKind if kind.passes]
LASTING = [kind for kind in RefusalKind if not kind.passes]


def refused(kind: RefusalKind, count: int = 1, *, ago_s: float = 1.0, **fields: Any) -> Holdup:
    at = NOW - timedelta(seconds=ago_s)
    plain = Holdup(70, HEAD, HoldupKind.REFUSED, at, at, count, kind.value, "It says no.", print_of(a_pull_view()))
    return replace(plain, **fields)


def a_refused_view(*holdups: Holdup, pull: PullView | None = None, status: Status = Status.IN_REVIEW) -> TaskView:
    task = a_task(status, holdups=holdups, pull=70, base_ref=BASE)
    return a_view(task=task, pull=Known(pull or a_pull_view()), verdicts=(a_verdict(),))


@pytest.mark.parametrize("kind", PASSING)
def test_what_passes_is_asked_for_again_a_bounded_number_of_times(kind):
    for count in range(1, MOST_TRIES):
        assert isinstance(step(a_refused_view(refused(kind, count))), MergePull)
    assert blocked(a_refused_view(refused(kind, MOST_TRIES))).code == "merge_refused"


@pytest.mark.parametrize("kind", LASTING)
def test_what_does_not_pass_is_said_and_left_alone_for_longer_and_longer(kind):
    for count, pause_s in enumerate(PAUSES_S, 1):
        answer = wait(a_refused_view(refused(kind, count, ago_s=pause_s - 1)))
        assert (answer.code, answer.until_at) == ("gate_shut", NOW + timedelta(seconds=1))
        assert "It says no" in answer.words
        assert isinstance(step(a_refused_view(refused(kind, count, ago_s=pause_s))), MergePull)


@pytest.mark.parametrize("kind", LASTING)
def test_then_a_person_is_asked_or_waited_for(kind):
    view = a_refused_view(refused(kind, len(PAUSES_S) + 1, ago_s=1e6))
    if kind.is_for_people:
        assert wait(view) == Wait("gate_shut", "the forge refused the merge: It says no", wait(view).next)
    else:
        assert blocked(view).code == "merge_refused"


@pytest.mark.case("C181")
def test_an_approval_that_was_asked_for_lets_it_be_tried_at_once():
    approved = a_pull_view(reviews=Known((a_review(),)))
    assert isinstance(step(a_refused_view(refused(RefusalKind.REVIEW, 4), pull=approved)), MergePull)


@pytest.mark.parametrize(
    "changed",
    [
        {"reviews": Known((a_review(),))},
        {"checks": Known((a_check(), a_check("other")))},
        {"required": Known(Required(signatures=True))},
        {"pull": a_pull(mergeable_state="unstable")},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_change_of_what_is_seen_ends_the_pause_and_the_block(changed):
    plain = a_pull_view()
    seen = replace(plain, **changed)
    assert print_of(seen) != print_of(plain)
    assert isinstance(step(a_refused_view(refused(RefusalKind.RULE), pull=seen)), MergePull)
    view = a_refused_view(refused(RefusalKind.RULE, 4), pull=seen, status=Status.BLOCKED)
    view = replace(view, task=replace(view.task, block=Block("merge_refused", "no")))
    assert not moved(view, Status.NEEDS_REVIEW, Evidence.PERSON).reset
    same = replace(view, pull=Known(plain))
    assert wait(same).code == "blocked"


def test_where_the_base_is_does_not_count_as_a_change():
    assert print_of(a_pull_view(base_sha=Known(a_sha(1)))) == print_of(a_pull_view())


def test_tries_of_another_head_do_not_count():
    other = refused(RefusalKind.RULE, 9, head_sha=a_sha(0xC))
    assert isinstance(step(a_refused_view(other)), MergePull)
    assert with_holdup((other,), refused(RefusalKind.RULE)) == (refused(RefusalKind.RULE),)


def test_refusals_of_one_head_are_counted_from_the_first():
    first, second = refused(RefusalKind.RACE, ago_s=60), refused(RefusalKind.REVIEW)
    kept = find_holdup(with_holdup((first,), second), HoldupKind.REFUSED, head_sha=HEAD)
    assert kept == replace(second, since_at=first.since_at, count=2)


# Forks, and bases that went


@pytest.mark.case("C179")
def test_no_author_is_started_for_a_pull_request_from_a_fork():
    fork = a_pull_view(a_pull(is_fork=True))
    view = a_view(task=a_task(Status.ROUTED, pull=70, base_ref=BASE), pull=Known(fork))
    assert not [action for action in steps(view) if isinstance(action, StartRun)]
    block = blocked(view)
    assert (block.code, "fork" in block.words) == ("pull_fork", True)
    standing = replace(
        view, task=replace(view.task, status=Status.BLOCKED, block=block), issue=a_view(Status.BLOCKED).issue
    )
    assert wait(standing).code == "blocked", "and it is said once"


def elsewhere(**parts: Any) -> TaskView:
    pull = a_pull_view(a_pull(base_ref="trunk"), **parts)
    return a_view(task=a_task(Status.IN_REVIEW), pull=Known(pull), verdicts=(a_verdict(),))


def test_a_base_that_was_renamed_is_followed():
    action = step(elsewhere(gone=Known((BASE,))), base_ref=Known("trunk"))
    assert isinstance(action, FollowBase)
    assert action.base_ref == "trunk"


@pytest.mark.parametrize(
    ("gone", "base_ref"), [(Known(()), Known("trunk")), (Known((BASE,)), Known("develop")), (Known((BASE,)), UNKNOWN)]
)
def test_any_other_change_of_the_base_is_a_persons(gone, base_ref):
    assert blocked(elsewhere(gone=gone), base_ref=base_ref).code == "base_changed"


def test_whether_the_old_base_is_gone_has_to_be_known():
    assert wait(elsewhere(gone=UNKNOWN), base_ref=Known("trunk")).code == "pull_unknown"


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        (("nightcrew/7-widgets",), "its branch nightcrew/7-widgets is deleted"),
        ((BASE,), "its base main is deleted"),
        ((), "closed without a merge"),
    ],
)
def test_why_it_was_closed_is_said(gone, words):
    closed = a_pull_view(a_pull(is_open=False), gone=Known(gone))
    view = a_view(task=a_task(Status.IN_REVIEW), pull=Known(closed), verdicts=(a_verdict(),))
    assert words in blocked(view).words


def test_a_move_to_blocked_carries_the_words():
    action = step(a_refused_view(refused(RefusalKind.OTHER, MOST_TRIES)))
    assert isinstance(action, MoveStatus)
    assert f"asked {MOST_TRIES} times" in action.why

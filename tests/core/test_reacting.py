"""What is done by itself about failed checks, people's reviews and remarks."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import AnswerFeedback, MergePull, MoveStatus, NoteReaction, PublishWork, StartRun
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import CheckState, PullView, Remark, ReviewState
from nightcrew.core.model.reaction import (
    Reaction,
    ReactionAction,
    ReactionKey,
    ReactionKind,
    ReactionRule,
    ReactionSettings,
)
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.world import TaskView
from nightcrew.core.step.asked import unblock_target
from tests.core.asking import blocked, moved, step, wait
from tests.core.build import (
    HEAD,
    NOW,
    UNKNOWN,
    a_check,
    a_project,
    a_pull_view,
    a_review,
    a_run,
    a_settings,
    a_sha,
    a_task,
    a_verdict,
    a_view,
    an_outcome,
    at,
)

ASKS = a_review("olga", ReviewState.CHANGES_REQUESTED, id=9)
REMARK = Remark(31, 9, "olga", "src/widget.py", 4, "off by one", at(-3))
KIND = ReactionKind


def reviewed(pull: PullView, status: Status = Status.IN_REVIEW, **fields: Any) -> TaskView:
    view = a_view(task=a_task(status), verdicts=(a_verdict(),))
    return replace(view, pull=Known(pull), **fields)


def rules(**kinds: ReactionRule) -> Settings:
    return a_settings(a_project(reactions=ReactionSettings(**kinds)))


def key(kind: ReactionKind, seed: int | None = None) -> ReactionKey:
    return ReactionKey(70, HEAD if seed is None else a_sha(seed), kind)


@pytest.mark.parametrize("status", [Status.NEEDS_REVIEW, Status.IN_REVIEW])
def test_a_persons_request_goes_to_the_author(status):
    view = a_view(task=a_task(status), pull=Known(a_pull_view(reviews=Known((ASKS,)))))
    action = moved(
        replace(view, verdicts=(a_verdict(),) * (status is Status.IN_REVIEW)), Status.ROUTED, Evidence.CHANGES_REQUESTED
    )
    assert action.sent == (key(KIND.CHANGES_REQUESTED),)


def test_what_a_run_was_given_is_not_sent_again_and_a_person_is_told_in_time():
    view = reviewed(a_pull_view(reviews=Known((ASKS,))), delivered=frozenset({"review:9"}))
    first = step(view)
    assert isinstance(first, NoteReaction)
    assert (first.reaction, first.words) == (key(KIND.CHANGES_REQUESTED), "")
    seen = Reaction(first.reaction, seen_at=at(-10))
    waiting = wait(replace(view, reactions=(seen,)))
    assert (waiting.code, waiting.until_at) == ("gate_shut", None)
    assert "At 2026-03-04 12:20 UTC a person is told" in waiting.next
    late = step(replace(view, reactions=(replace(seen, seen_at=at(-30)),)))
    assert isinstance(late, NoteReaction)
    assert "olga asked for changes" in late.words
    told = wait(replace(view, reactions=(replace(seen, seen_at=at(-30), told_at=NOW),)))
    assert "is told" not in told.next


def test_a_deadline_of_another_head_is_its_own():
    view = reviewed(a_pull_view(reviews=Known((ASKS,))), delivered=frozenset({"review:9"}))
    old = Reaction(key(KIND.CHANGES_REQUESTED, 1), seen_at=at(-300), told_at=at(-200))
    assert isinstance(step(replace(view, reactions=(old,))), NoteReaction)


def test_remarks_and_comments_go_to_the_author_and_bots_where_it_says_so():
    bot = replace(REMARK, is_bot=True)
    for pull in (
        a_pull_view(remarks=Known((REMARK,))),
        a_pull_view(reviews=Known((a_review(state=ReviewState.COMMENTED, body="why?"),))),
    ):
        assert moved(reviewed(pull), Status.ROUTED, Evidence.CHANGES_REQUESTED).sent == (key(KIND.REVIEW_COMMENTS),)
    assert isinstance(step(reviewed(a_pull_view(remarks=Known((bot,))))), MergePull)
    with_bots = rules(review_comments=ReactionRule(bots=True))
    moved(reviewed(a_pull_view(remarks=Known((bot,)))), Status.ROUTED, Evidence.CHANGES_REQUESTED, settings=with_bots)
    off = rules(review_comments=ReactionRule(ReactionAction.NOTHING))
    assert isinstance(step(reviewed(a_pull_view(remarks=Known((REMARK,)))), settings=off), MergePull)
    empty = a_review(state=ReviewState.COMMENTED, body=" ")
    assert isinstance(step(reviewed(a_pull_view(reviews=Known((empty,))))), MergePull)


def test_a_bot_that_asks_for_changes_is_heard_where_it_says_so_and_holds_up_no_merge():
    asks = a_review("lint[bot]", ReviewState.CHANGES_REQUESTED, id=12, is_bot=True)
    view = reviewed(a_pull_view(bot_reviews=(asks,)))
    assert isinstance(step(view), MergePull)
    with_bots = rules(review_comments=ReactionRule(bots=True))
    sent = moved(view, Status.ROUTED, Evidence.CHANGES_REQUESTED, settings=with_bots).sent
    assert sent == (key(KIND.REVIEW_COMMENTS),)
    assert isinstance(step(replace(view, delivered=frozenset({"review:12"})), settings=with_bots), MergePull)
    approved = replace(asks, id=13, state=ReviewState.APPROVED)
    later = reviewed(a_pull_view(bot_reviews=(asks, approved)))
    assert isinstance(step(later, settings=with_bots), MergePull), "it took that back"


def test_remarks_that_cannot_be_read_keep_it_from_merging():
    assert wait(reviewed(a_pull_view(remarks=UNKNOWN))).code == "pull_unknown"
    off = rules(review_comments=ReactionRule(ReactionAction.NOTHING))
    assert isinstance(step(reviewed(a_pull_view(remarks=UNKNOWN)), settings=off), MergePull)


def test_one_kind_does_not_hide_another():
    red = Known((a_check("build", CheckState.FAILURE),))
    view = reviewed(a_pull_view(checks=red, reviews=Known((ASKS,)), remarks=Known((REMARK,))))
    action = moved(view, Status.ROUTED, Evidence.CHANGES_REQUESTED)
    assert [sent.kind for sent in action.sent] == [KIND.CHANGES_REQUESTED, KIND.REVIEW_COMMENTS, KIND.CI_FAILED]


def test_after_so_many_rounds_a_person_is_asked():
    rows = tuple(Reaction(key(KIND.CHANGES_REQUESTED, n), at(-20), sent=1, sent_at=at(-20 + n)) for n in range(1, 6))
    view = reviewed(a_pull_view(reviews=Known((ASKS,))), reactions=rows)
    assert blocked(view).code == "feedback"
    assert view.rounds == 5
    reset = replace(view, task=replace(view.task, reset_at=at(-16)))
    assert reset.rounds == 1
    assert isinstance(step(reset), MoveStatus)


@pytest.mark.parametrize("action", [ReactionAction.NOTIFY, ReactionAction.NOTHING])
def test_failed_checks_that_are_not_sent(action):
    view = reviewed(a_pull_view(checks=Known((a_check("build", CheckState.FAILURE),))))
    settings = rules(ci_failed=ReactionRule(action))
    if action is ReactionAction.NOTHING:
        assert wait(view, settings=settings).code == "gate_shut"
        return
    note = step(view, settings=settings)
    assert isinstance(note, NoteReaction)
    assert "build" in note.words
    known = Reaction(note.reaction, NOW, told_at=NOW)
    assert wait(replace(view, reactions=(known,)), settings=settings).code == "gate_shut"


def test_a_person_merges_where_they_are_only_told():
    settings = rules(approved_and_green=ReactionRule(ReactionAction.NOTIFY))
    view = reviewed(a_pull_view())
    note = step(view, settings=settings)
    assert isinstance(note, NoteReaction)
    assert "approved and green" in note.words
    told = replace(view, reactions=(Reaction(note.reaction, NOW, told_at=NOW),))
    assert wait(told, settings=settings).code == "gate_shut"
    by_word = replace(told, task=replace(told.task, approved_sha=HEAD))
    assert isinstance(step(by_word, settings=settings), MergePull)


def test_an_author_that_finds_nothing_to_change_has_answered():
    nothing = a_run(attempt=2, head_sha=HEAD, outcome=an_outcome(head_sha=HEAD, has_commits=False))
    sent = Reaction(key(KIND.REVIEW_COMMENTS), at(-20), sent=1, sent_at=at(-19))
    view = replace(a_view(task=a_task(Status.IN_PROGRESS, pull=70)), runs=(a_run(), nothing), reactions=(sent,))
    action = step(view)
    assert isinstance(action, PublishWork)
    assert action.head_sha == HEAD
    red = Reaction(key(KIND.CI_FAILED), at(-20), sent=1, sent_at=at(-19))
    moved(replace(view, reactions=(sent, red)), Status.ROUTED, Evidence.RUN_FAILED)


def test_a_round_gives_one_attempt_more():
    sent = Reaction(key(KIND.REVIEW_COMMENTS), at(-20), sent=1, sent_at=at(-19))
    view = a_view(task=a_task(Status.ROUTED), runs=tuple(a_run(attempt=n) for n in (1, 2, 3)))
    assert blocked(view).code == "out_of_attempts"
    assert isinstance(step(replace(view, reactions=(sent,))), StartRun)


def test_people_are_answered_first_also_where_the_head_has_its_verdict():
    run = a_run()
    given = frozenset({f"given:{run.id}"})
    view = a_view(Status.NEEDS_REVIEW, runs=(run,), verdicts=(a_verdict(),), delivered=given)
    action = step(view)
    assert isinstance(action, AnswerFeedback)
    assert (action.run, action.pull) == (run.id, 70)
    answered = replace(view, delivered=given | {f"answered:{run.id}"})
    moved(answered, Status.IN_REVIEW, Evidence.REVIEW_STARTED)


UNPAID = (
    ".github:1: The job was not started because recent account payments have failed or your spending limit needs to be "
    "increased. Please check the 'Billing & plans' section in your settings"
)


@pytest.mark.case("C187")
def test_checks_that_nobody_pays_for_block_only_the_task_at_its_merge():
    unpaid = replace(a_check("build", CheckState.FAILURE), annotations=(UNPAID,))
    view = reviewed(a_pull_view(checks=Known((unpaid,))))
    block = blocked(view)
    assert block.code == "ci_unpaid"
    assert "spending limit" in block.words
    task = a_task(Status.BLOCKED, pull=70, block=block)
    assert unblock_target(task) is Status.NEEDS_REVIEW
    # A failed list of checks is no news; once they run again, it goes on by itself.
    still = a_view(task=task, pull=Known(a_pull_view(checks=Known((unpaid,)))))
    assert wait(still).code == "blocked"
    assert wait(replace(still, pull=Known(a_pull_view(checks=UNKNOWN)))).code == "blocked"
    for state in (CheckState.PENDING, CheckState.SUCCESS, CheckState.FAILURE):
        again = replace(still, pull=Known(a_pull_view(checks=Known((a_check("build", state),)))))
        moved(again, Status.NEEDS_REVIEW, Evidence.PERSON)
    # What fails beside it goes to its author all the same.
    red = a_check("lint", CheckState.FAILURE)
    action = moved(reviewed(a_pull_view(checks=Known((unpaid, red)))), Status.ROUTED, Evidence.CHANGES_REQUESTED)
    assert "lint" in action.why
    assert "build" not in action.why

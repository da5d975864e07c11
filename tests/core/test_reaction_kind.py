"""Each kind of reaction does what its rule says: a base in the way, runs that are stuck, questions, and the end."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import MergePull, MoveStatus, NoteComplete, NoteReaction, NoteRun, StartRun, UpdateBranch
from nightcrew.core.decide import decide
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeSettings, MergeStrategy
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.model.reaction import Reaction, ReactionAction, ReactionKey, ReactionKind, ReactionRule
from nightcrew.core.model.reaction import ReactionSettings as Rules
from nightcrew.core.model.run import Interruption, InterruptionKind, Probe, RunOutcome
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import Completion, TaskView
from nightcrew.core.policy.noticing import told_of_block, told_of_exit
from nightcrew.core.reason import Wait
from tests.core.asking import blocked, step, steps, wait
from tests.core.build import (
    HEAD,
    NOW,
    PROJECT,
    a_key,
    a_project,
    a_project_world,
    a_pull,
    a_pull_view,
    a_review,
    a_run,
    a_settings,
    a_task,
    a_verdict,
    a_view,
    a_world,
    an_open_run,
    an_outcome,
    at,
    live,
)

NOTIFY, NOTHING = ReactionAction.NOTIFY, ReactionAction.NOTHING
CONFLICT = a_pull(mergeable=False, mergeable_state="dirty")
KIND = ReactionKind


def rules(**kinds: ReactionRule) -> Settings:
    return a_settings(a_project(reactions=Rules(**kinds)))


def key(kind: ReactionKind) -> ReactionKey:
    return ReactionKey(70, HEAD, kind)


def in_conflict(status: Status = Status.NEEDS_REVIEW, **fields: Any) -> TaskView:
    view = a_view(status, pull=Known(a_pull_view(CONFLICT)), **fields)
    return replace(view, verdicts=(a_verdict(),) * (status is Status.IN_REVIEW))


# A base in the way


def test_a_conflict_is_brought_in_told_or_left():
    assert isinstance(step(in_conflict()), UpdateBranch)
    told = rules(merge_conflict=ReactionRule(NOTIFY, message="{pull} of {task} at {head}: {why}, into {base}"))
    note = step(in_conflict(), settings=told)
    assert isinstance(note, NoteReaction)
    assert note.words == f"#70 of acme/widget#7 at {HEAD[:10]}: it conflicts with main, into main"
    row = Reaction(note.reaction, NOW, told_at=NOW)
    assert isinstance(step(in_conflict(reactions=(row,)), settings=told), StartRun), "and its review goes on"
    left = rules(merge_conflict=ReactionRule(NOTHING))
    assert isinstance(step(in_conflict(), settings=left), StartRun)
    assert wait(in_conflict(Status.IN_REVIEW), settings=left).code == "gate_shut"


def test_a_conflict_that_cannot_be_brought_in_is_told_in_time_while_it_is_tried_on():
    update = step(in_conflict())
    assert isinstance(update, UpdateBranch)
    deferred = {update.key: Wait("retrying", "it was refused", "It is tried again.", at(5))}
    seen = step(in_conflict(), deferred=deferred)
    assert isinstance(seen, NoteReaction)
    assert seen.words == ""
    early = in_conflict(reactions=(Reaction(key(KIND.MERGE_CONFLICT), at(-14)),))
    assert wait(early, deferred=deferred).code == "retrying"
    late = step(in_conflict(reactions=(Reaction(key(KIND.MERGE_CONFLICT), at(-15)),)), deferred=deferred)
    assert isinstance(late, NoteReaction)
    assert "conflicts" in late.words
    told = in_conflict(reactions=(Reaction(key(KIND.MERGE_CONFLICT), at(-15), told_at=NOW),))
    assert wait(told, deferred=deferred).code == "retrying"


def test_how_often_a_base_is_brought_in_is_a_setting():
    task = a_task(Status.NEEDS_REVIEW, conflicts=1, updates=4)
    view = in_conflict(task=task)
    assert isinstance(step(view), UpdateBranch)
    assert blocked(view, settings=rules(merge_conflict=ReactionRule(retries=1))).code == "base_moves"
    assert blocked(view, settings=rules(behind_base=ReactionRule(retries=4))).code == "base_moves"


def test_a_base_that_moved_on_is_brought_in_told_or_left():
    merge = MergeSettings(strategy=MergeStrategy.UPDATE)
    view = a_view(Status.IN_REVIEW, pull=Known(a_pull_view(has_base=Known(False))), verdicts=(a_verdict(),))

    def under(rule: ReactionRule) -> Settings:
        return a_settings(a_project(merge=merge, reactions=Rules(behind_base=rule)))

    assert isinstance(step(view, settings=under(ReactionRule(retries=10))), UpdateBranch)
    note = step(view, settings=under(ReactionRule(NOTIFY)))
    assert isinstance(note, NoteReaction)
    assert note.reaction.kind is KIND.BEHIND_BASE
    told = replace(view, reactions=(Reaction(note.reaction, NOW, told_at=NOW),))
    assert wait(told, settings=under(ReactionRule(NOTIFY))).code == "gate_shut"
    assert wait(view, settings=under(ReactionRule(NOTHING))).code == "gate_shut"


# Runs


def test_a_run_that_says_nothing_is_told_once_and_its_end_is_not_held_up():
    def silent(seconds: float, *rows: Reaction, **seen):
        run = live(an_open_run(), Probe.ALIVE, silent_s=seconds, **seen)
        return a_view(Status.IN_PROGRESS, live=(run,), runs=(run.run,), reactions=rows)

    note = step(silent(600))
    assert isinstance(note, NoteRun)
    assert (note.reaction.kind, note.reaction.run) == (KIND.AGENT_STUCK, an_open_run().id)
    assert "10 min" in note.words
    assert wait(silent(600, Reaction(note.reaction, NOW, told_at=NOW))).code == "running"
    assert wait(silent(600, at_work=True)).code == "running"
    assert wait(silent(600), settings=rules(agent_stuck=ReactionRule(NOTHING))).code == "running"
    assert wait(silent(60)).code == "running"
    assert not isinstance(step(silent(900)), NoteRun)


LOST = RunOutcome(None, None, interruption=Interruption(InterruptionKind.LOST, "its session was lost"))


@pytest.mark.parametrize(
    ("outcome", "is_told"),
    [
        (an_outcome(), False),
        (an_outcome(failure=FailureKind.CRASH), True),
        (an_outcome(failure=FailureKind.HANG), True),
        (an_outcome(failure=FailureKind.RATE_LIMIT), False),
        (LOST, True),
        (RunOutcome(None, None, interruption=Interruption(InterruptionKind.STOPPED, "by a person")), False),
        (None, False),
    ],
)
def test_a_run_that_ended_without_a_word_is_told(outcome, is_told):
    told = told_of_exit(a_run(outcome=outcome), Rules(), how="it crashed")
    assert (told is not None) is is_told
    if told is not None:
        assert (told.kind, told.priority) == ("agent_exited", Priority.WARNING)
        assert "it crashed" in told.words
    off = Rules(agent_exited=ReactionRule(NOTHING))
    assert told_of_exit(a_run(outcome=outcome), off, how="x") is None


# What waits for a person

ASKED = Block("needs_input", "ann asks: left or right?", answerable=True, at=at(0))


def test_a_question_that_nobody_answers_is_told_once_more():
    view = a_view(task=a_task(Status.BLOCKED, block=ASKED), runs=(a_run(),))
    assert wait(view).code == "blocked"
    late = {"now": at(24 * 60)}
    note = step(view, **late)
    assert isinstance(note, NoteRun)
    assert note.reaction == ReactionKey(0, Sha(""), KIND.AGENT_NEEDS_INPUT, a_run().id)
    assert "left or right?" in note.words
    assert wait(replace(view, reactions=(Reaction(note.reaction, NOW, told_at=NOW),)), **late).code == "blocked"
    never = rules(agent_needs_input=ReactionRule(NOTIFY, escalate_after_s=0))
    assert wait(view, settings=never, **late).code == "blocked"
    other = a_view(task=a_task(Status.BLOCKED, block=replace(ASKED, answerable=False)), runs=(a_run(),))
    assert wait(other, **late).code == "blocked"


@pytest.mark.parametrize(
    ("block", "kind", "priority"),
    [
        (ASKED, "agent_needs_input", Priority.URGENT),
        (Block("pull_closed", "it was closed"), "pr_closed", Priority.ACTION),
        (Block("base_moves", "it moves"), "behind_base", Priority.ACTION),
        (Block("ci_failed", "red"), "ci_failed", Priority.ACTION),
        (Block("out_of_attempts", "3 are used up"), "blocked", Priority.ACTION),
    ],
)
def test_a_block_is_told_as_what_led_to_it(block, kind, priority):
    told = told_of_block(a_key(), block, Rules(), pull=70)
    assert told is not None
    assert (told.kind, told.priority, told.words) == (kind, priority, block.words)


def test_what_is_told_of_a_block_can_be_turned_off_or_worded():
    closed = Block("pull_closed", "it was closed")
    assert told_of_block(a_key(), closed, Rules(pr_closed=ReactionRule(NOTHING)), pull=70) is None
    worded = Rules(pr_closed=ReactionRule(NOTIFY, message="{task} {pull}: {why}!"))
    told = told_of_block(a_key(), closed, worded, pull=70)
    assert told is not None
    assert told.words == "acme/widget#7 #70: it was closed!"
    # Words for the agent are not for the person.
    sent = told_of_block(a_key(), Block("ci_failed", "red"), Rules(ci_failed=ReactionRule(message="Mend it.")), pull=1)
    assert sent is not None
    assert sent.words == "red"


# The end


LAST = RunId("01LAST")


def completed(**fields: Any) -> list[NoteComplete]:
    project = a_project_world(completed=Completion(at(-1), LAST, 3, (a_key(9),)), **fields)
    return [
        action for action in decide(a_world(projects={PROJECT: project})).actions if isinstance(action, NoteComplete)
    ]


def test_that_nothing_is_left_is_told_once_for_each_last_task():
    (note,) = completed()
    assert note.last_run == LAST
    assert "3 tasks" in note.words
    assert "acme/widget#9" in note.words
    assert completed(told_complete=LAST) == []
    assert len(completed(told_complete="an older one")) == 1
    assert completed(settings=a_project(reactions=Rules(all_complete=ReactionRule(NOTHING)))) == []
    assert completed(is_removed=True) == []


def test_what_ended_long_ago_is_no_news():
    project = a_project_world(completed=Completion(at(-60 * 25), LAST, 3))
    (note,) = decide(a_world(projects={PROJECT: project})).actions
    assert isinstance(note, NoteComplete)
    assert note.words == ""


# One kind never hides another


def test_a_conflict_that_is_only_told_hides_neither_what_people_say_nor_failed_checks():
    settings = rules(merge_conflict=ReactionRule(NOTIFY))
    row = Reaction(key(KIND.MERGE_CONFLICT), NOW, told_at=NOW)
    view = in_conflict(Status.IN_REVIEW, reactions=(row,))
    said = replace(
        view, pull=Known(a_pull_view(CONFLICT, reviews=Known((a_review("olga", ReviewState.CHANGES_REQUESTED, id=9),))))
    )
    assert isinstance(step(said, settings=settings), MoveStatus)
    assert not any(isinstance(action, MergePull) for action in steps(view, settings=settings))

"""What a command in a comment comes to: in each status, from whom, in which order, and once."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import AnswerCommand, CollectRun, FinishTask, MoveStatus, PassComments, StopRun
from nightcrew.core.command import Command, GivenCommand, Settlement, Verb, is_only_commands
from nightcrew.core.decide import decide
from nightcrew.core.known import Known, Observed
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.run import Probe
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import CommentSpan, TaskView
from tests.core.asking import step, steps
from tests.core.build import UNKNOWN, a_task, a_view, a_world, an_issue, an_open_run, at, live

OPEN = [status for status in Status if status is not Status.DONE]
WRITER: Observed[bool] = Known(True)


def given(verb: Verb, words: str = "", *, comment: int = 5, place: int = 0, by: Observed[bool] = WRITER) -> Any:
    return GivenCommand(Command(verb, words), comment, place, "olga", at(-3), by)


def asked(status: Status, *commands: GivenCommand, **fields: Any) -> TaskView:
    return a_view(status, commands=commands, **fields)


@pytest.mark.parametrize("status", [status for status in OPEN if status is not Status.NEW])
def test_retry_starts_anew(status):
    action = step(asked(status, given(Verb.RETRY)))
    assert isinstance(action, MoveStatus)
    assert (action.source, action.target, action.evidence, action.reset) == (
        status, Status.NEW, Evidence.PERSON, True,
    )  # fmt: skip
    assert action.command is not None
    assert (action.command.comment, action.command.place, action.command.settlement) == (5, 0, Settlement.DONE)


@pytest.mark.parametrize("status", [status for status in OPEN if status is not Status.BLOCKED])
@pytest.mark.parametrize(("verb", "words"), [(Verb.BLOCK, "wait for the design"), (Verb.STOP, "olga stopped it")])
def test_block_and_stop_block_with_the_words(status, verb, words):
    said = words if verb is Verb.BLOCK else ""
    action = step(asked(status, given(verb, said)))
    assert isinstance(action, MoveStatus)
    assert action.target is Status.BLOCKED
    assert action.block == Block("by_person", words)
    assert not action.block.answerable, "a comment is no word to go on"


@pytest.mark.parametrize(
    ("task", "target"),
    [
        (a_task(Status.BLOCKED), Status.ROUTED),
        (a_task(Status.BLOCKED, route=None), Status.NEW),
        (a_task(Status.BLOCKED, pull=70, block=Block("review_failed", "x")), Status.NEEDS_REVIEW),
        (a_task(Status.BLOCKED, block=Block("review_failed", "x")), Status.ROUTED),
    ],
)
def test_unblock_goes_on_where_it_was(task, target):
    action = step(a_view(task=task, commands=(given(Verb.UNBLOCK),)))
    assert isinstance(action, MoveStatus)
    assert (action.target, action.reset) == (target, True)


@pytest.mark.parametrize("status", OPEN)
def test_close_finishes_without_a_merge(status):
    action = step(asked(status, given(Verb.CLOSE)))
    assert isinstance(action, FinishTask)
    assert not action.merged
    assert action.command is not None


@pytest.mark.parametrize(
    ("command", "label", "words"),
    [
        (given(Verb.AGENT, "BOB"), "agent:bob", "the label agent:bob is set"),
        (given(Verb.MODEL, "gpt-5.1"), "model:gpt-5.1", "the label model:gpt-5.1 is set"),
    ],
)
def test_agent_and_model_become_labels(command, label, words):
    action = step(asked(Status.ROUTED, command))
    assert isinstance(action, AnswerCommand)
    assert action.label == label
    assert action.command.settlement is Settlement.DONE
    assert words in action.command.words


@pytest.mark.parametrize(
    ("status", "command", "settlement", "words"),
    [
        (Status.ROUTED, given(Verb.AGENT, "nobody"), Settlement.REFUSED, "no agent nobody (there are: ann, bob)"),
        (Status.ROUTED, given(Verb.MODEL, "m" * 60), Settlement.REFUSED, "too long"),
        (Status.NEW, given(Verb.RETRY), Settlement.DONE, "it is new already"),
        (Status.BLOCKED, given(Verb.BLOCK), Settlement.DONE, "it is blocked already"),
        (Status.BLOCKED, given(Verb.STOP), Settlement.DONE, "it is blocked already"),
        (Status.IN_REVIEW, given(Verb.UNBLOCK), Settlement.REFUSED, "it is in_review, not blocked"),
    ],
)
def test_what_moves_nothing_is_settled_with_words(status, command, settlement, words):
    action = step(asked(status, command))
    assert isinstance(action, AnswerCommand)
    assert action.label == ""
    assert action.command.settlement is settlement
    assert words in action.command.words


@pytest.mark.case("C226")
@pytest.mark.parametrize("verb", Verb)
def test_a_stranger_is_ignored(verb):
    action = step(asked(Status.IN_REVIEW, given(verb, "bob", by=Known(False))))
    assert isinstance(action, AnswerCommand)
    assert (action.command.settlement, action.label) == (Settlement.IGNORED, "")


def test_nobody_is_obeyed_before_it_is_known_who_it_is():
    unknown = given(Verb.CLOSE, by=UNKNOWN)
    assert steps(asked(Status.BLOCKED, unknown)) == []
    action = step(asked(Status.BLOCKED, unknown, given(Verb.RETRY, comment=6)))
    assert isinstance(action, MoveStatus), "another's command does not wait for it"


def test_the_oldest_comes_first_and_one_at_a_time():
    action = step(asked(Status.BLOCKED, given(Verb.AGENT, "bob"), given(Verb.UNBLOCK, place=1)))
    assert isinstance(action, AnswerCommand)
    assert action.command.given.verb is Verb.AGENT


@pytest.mark.parametrize("verb", [Verb.STOP, Verb.RETRY, Verb.CLOSE, Verb.BLOCK])
def test_a_run_is_ended_and_collected_before_the_move(verb):
    run = an_open_run()
    view = asked(Status.IN_PROGRESS, given(verb), runs=(run,), live=(live(run),))
    assert isinstance(step(view), StopRun)
    assert isinstance(step(replace(view, live=(live(run, Probe.DEAD),))), CollectRun)
    assert isinstance(step(replace(view, live=())), MoveStatus | FinishTask)


def test_a_run_goes_on_while_a_label_is_set():
    run = an_open_run()
    view = asked(Status.IN_PROGRESS, given(Verb.AGENT, "bob"), runs=(run,), live=(live(run),))
    assert isinstance(step(view), AnswerCommand)


def test_a_label_set_by_hand_comes_before_a_command():
    view = asked(Status.ROUTED, given(Verb.RETRY), labels=(Status.BLOCKED.label,))
    action = step(view)
    assert not isinstance(action, MoveStatus)


@pytest.mark.parametrize("verb", [verb for verb in Verb if verb is not Verb.CLOSE])
def test_what_is_over_answers_that_it_is(verb):
    closed = Known(an_issue(is_open=False, labels=(Status.DONE.label,)))
    action = step(asked(Status.DONE, given(verb, "bob"), issue=closed))
    assert isinstance(action, AnswerCommand)
    assert action.command.settlement is Settlement.REFUSED
    assert "reopen the issue" in action.command.words
    action = step(asked(Status.DONE, given(Verb.CLOSE), issue=closed))
    assert isinstance(action, AnswerCommand)
    assert action.command.settlement is Settlement.DONE


def passing(span: CommentSpan | None, *views: TaskView) -> list[PassComments]:
    world = a_world(*views)
    (project,) = world.projects.values()
    world = replace(world, projects={project.settings.slug: replace(project, comments=span)})
    return [action for action in decide(world).actions if isinstance(action, PassComments)]


def test_how_far_comments_were_read_is_kept():
    assert passing(None) == []
    assert passing(CommentSpan(at(0), at(0))) == []
    for kept in (None, at(-1)):
        (action,) = passing(CommentSpan(at(0), kept))
        assert action.until_at == at(0)
        assert action.task.number == 0


@pytest.mark.parametrize("by", [WRITER, UNKNOWN])
def test_it_is_not_kept_while_a_command_waits(by):
    view = asked(Status.BLOCKED, given(Verb.UNBLOCK, by=by))
    assert passing(CommentSpan(at(0), None), view) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/retry", True),
        ("\n/agent bob\n\n/retry\n", True),
        ("/agent bob\nTake 42.", False),
        ("Take 42.", False),
        ("```\n/retry\n```", False),
        ("> /retry", False),
        ("", False),
    ],
)
def test_what_says_nothing_but_commands(body, expected):
    assert is_only_commands(body) is expected

"""What comments ask for about pull requests, and how they are named."""

from typing import Any

import pytest

from nightcrew.core.actions import AskPull, FinishTask, MoveStatus, PassComments, PostVerdict, StartRun
from nightcrew.core.command import Command, GivenCommand, Settlement, Verb, parse_commands
from nightcrew.core.decide import decide
from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import INTERNAL_FROM
from nightcrew.core.known import Known, Observed
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.internal import InternalTask, TaskKind
from nightcrew.core.model.report import Decision
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Block
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import CommentSpan, ProjectWorld, TaskView
from nightcrew.core.pull_name import PullName, parse_pull_name
from nightcrew.core.step.asked import answer_command, unblock_target
from tests.core.asking import moved, step, wait
from tests.core.build import (
    HEAD,
    NOW,
    PROJECT,
    UNKNOWN,
    a_key,
    a_project,
    a_pull,
    a_pull_view,
    a_run,
    a_sha,
    a_task,
    a_verdict,
    a_world,
    an_issue,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("7", PullName("", 7)),
        ("#7", PullName("", 7)),
        ("widget#7", PullName("widget", 7)),
        (" acme/widget#7 ", PullName("acme/widget", 7)),
        ("https://github.com/acme/widget/pull/7", PullName("acme/widget", 7)),
        ("https://github.com/acme/widget/pull/7/files?x=1#diff", PullName("acme/widget", 7)),
        ("http://127.0.0.1:8000/git/acme/widget/pulls/7", PullName("acme/widget", 7)),
    ],
)
def test_how_a_pull_request_is_named(text, name):
    assert parse_pull_name(text) == name


@pytest.mark.parametrize(
    "text",
    ["", "0", "x", "--force", "acme/widget", "acme/wid get#7", "https://github.com/acme/pull/7", "a/b/c#7", "1" * 12],
)
def test_what_is_no_name_of_one(text):
    with pytest.raises(NightcrewError):
        parse_pull_name(text)


def test_the_commands():
    text = "/claim\n/review\n/review again\n/review now\n/claim it\n> /claim"
    assert [str(command) for command in parse_commands(text)] == ["/claim", "/review", "/review again"]


WRITER = Known(True)


def asks(verb: Verb = Verb.REVIEW, *, by: Observed[bool] = WRITER, thread: int = 70, comment: int = 1) -> GivenCommand:
    return GivenCommand(Command(verb), comment, 0, "olga", NOW, by, thread)


def asked(*given: GivenCommand, **world: Any) -> list[AskPull]:
    project = ProjectWorld(a_project(), Known("main"), requests=given, comments=CommentSpan(NOW, None))
    actions = decide(a_world(projects={PROJECT: project}, **world)).actions
    assert not any(isinstance(action, PassComments) for action in actions) or not given
    return [action for action in actions if isinstance(action, AskPull)]


def test_requests_are_passed_on_one_a_pull_request_and_oldest_first():
    found = asked(asks(comment=1), asks(comment=2), asks(Verb.CLAIM, thread=71, comment=3))
    assert [(action.task.number, action.command.comment) for action in found] == [(70, 1), (71, 3)]
    assert asked(asks(comment=2), in_flight=(found[0],)) == []
    assert asked(asks(), draining=True) == []


def test_whoever_may_not_write_is_ignored_and_who_is_not_known_waits():
    assert [one.command.settlement for one in asked(asks(by=Known(False)))] == [Settlement.IGNORED]
    assert asked(asks(by=UNKNOWN)) == []


# ---- a review by itself

KEY = a_key(INTERNAL_FROM + 1)


def review(status: Status = Status.NEEDS_REVIEW, *, verdicts: tuple[Verdict, ...] = (), **fields: object) -> TaskView:
    task = a_task(status, KEY.number, pull=70, route=None, started_from=None, **fields.pop("task", {}))  # type: ignore[arg-type]  # a dict
    plain = {"pull": Known(a_pull_view(author_agents=Known(frozenset())))}
    issue = Known(an_issue(KEY.number, labels=(status.label,)))
    internal = InternalTask(KEY, TaskKind.REVIEW, "mark", "body")
    return TaskView(task, issue, verdicts=verdicts, internal=internal, **{**plain, **fields})  # type: ignore[arg-type]  # as above


def test_it_is_started_posted_and_over():
    started = step(review())
    assert isinstance(started, StartRun)
    assert (started.role, started.head_sha) == (Role.REVIEWER, HEAD)
    given = step(review(Status.IN_REVIEW, verdicts=(a_verdict(posted=False),)))
    assert isinstance(given, PostVerdict)
    for decision in Decision:
        over = step(review(Status.IN_REVIEW, verdicts=(a_verdict(decision),)))
        assert isinstance(over, FinishTask)
        assert not over.merged


def test_it_is_over_when_the_head_moved_after_the_review():
    pull = Known(a_pull_view(a_pull(head_sha=a_sha(9)), author_agents=Known(frozenset())))
    assert isinstance(step(review(Status.IN_REVIEW, verdicts=(a_verdict(),), pull=pull)), FinishTask)
    moved(review(Status.IN_REVIEW, verdicts=(a_verdict(posted=False),), pull=pull, runs=(a_run(Role.REVIEWER),)),
          Status.NEEDS_REVIEW, Evidence.HEAD_MOVED)  # fmt: skip


def test_it_waits_for_what_it_cannot_see_and_for_people():
    assert wait(review(pull=UNKNOWN)).code == "pull_unknown"
    assert wait(review(), paused=True).code == "paused"
    blocked = review(Status.BLOCKED, task={"block": Block("review_failed", "why")})
    assert wait(blocked).code == "blocked"


@pytest.mark.parametrize("pull", [Known(None), Known(a_pull_view(a_pull(is_open=False)))])
def test_it_is_over_with_its_pull_request(pull):
    assert isinstance(step(review(pull=pull)), FinishTask)


def test_a_reviewer_that_failed_is_tried_again_and_then_a_person_is_asked():
    one = a_run(Role.REVIEWER)
    moved(review(Status.IN_REVIEW, runs=(one,)), Status.NEEDS_REVIEW, Evidence.REVIEW_FAILED)
    many = tuple(a_run(Role.REVIEWER, attempt) for attempt in (1, 2, 3))
    moved(review(runs=many), Status.BLOCKED, Evidence.NEEDS_PERSON)


@pytest.mark.parametrize("status", [Status.NEW, Status.ROUTED])
def test_asked_for_again_it_begins_with_the_review(status):
    moved(review(status), Status.NEEDS_REVIEW, Evidence.PERSON)


# ---- a pull request that was claimed


def test_a_claimed_pull_request_goes_on_with_its_review():
    task = a_task(Status.BLOCKED, 70, pull=70, route=None, block=Block("by_person", "why"))
    assert task.is_claimed
    assert unblock_target(task) is Status.NEEDS_REVIEW
    answer = answer_command(task, Command(Verb.RETRY), agents=())
    assert isinstance(answer, MoveStatus)
    assert answer.target is Status.NEEDS_REVIEW
    at_rest = a_task(Status.NEEDS_REVIEW, 70, pull=70)
    assert answer_command(at_rest, Command(Verb.RETRY), agents=()) == (
        Settlement.DONE, "it is to be reviewed already", ""
    )  # fmt: skip
    for verb in (Verb.CLAIM, Verb.REVIEW):
        assert isinstance(answer_command(task, Command(verb), agents=()), tuple)

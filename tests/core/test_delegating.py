"""Which sub-tasks that an author proposes are taken, when their parent goes on, and what a person's word makes of
them."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.actions import Action, FileSubTasks, FinishTask, MoveStatus, PublishWork, StartRun
from nightcrew.core.command import Command, Settlement, Verb
from nightcrew.core.decide import decide
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.delegation import (
    Delegated,
    Delegation,
    DelegationMode,
    DelegationSettings,
    DelegationState,
    SubTask,
)
from nightcrew.core.model.dependency import Bond, Dependency
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.delegating import (
    Weighed,
    accept,
    after_reset,
    end_parts,
    hand_over,
    is_made_of_parts,
    leave,
    open_in,
    proposal_of,
    refuse,
    room_for,
    rounds_of,
    weigh,
    why_waits,
)
from nightcrew.core.policy.retrying import out_of_attempts
from nightcrew.core.prompt_part import render_parts
from nightcrew.core.step.asked import answer_command
from nightcrew.core.sub_task import parse_depth, render_body, render_end, render_mark, render_title
from tests.core.build import (
    BASE_SHA,
    a_key,
    a_project,
    a_project_world,
    a_run,
    a_settings,
    a_task,
    a_view,
    a_world,
    an_agent,
    an_issue,
    an_outcome,
    done_report,
)

RUN = RunId("author-1")
ONE, TWO = Delegation("One", "Do one."), Delegation("Two", "Do two.", needs=(0,))
_S = DelegationState


def a_proposal(
    *what: Delegation, outcome: ReportedOutcome = ReportedOutcome.DONE, attempt: int = 1, **fields: Any
) -> Run:
    report = done_report(delegations=what or (ONE, TWO), outcome=outcome)
    return a_run(attempt=attempt, outcome=an_outcome(report, has_commits=False, head_sha=BASE_SHA, **fields))


def parts(*numbers: int | None, **fields: Any) -> tuple[SubTask, ...]:
    return tuple(SubTask(place, RUN, ONE, number=number, **fields) for place, number in enumerate(numbers))


def handed(state: DelegationState, *numbers: int | None, **fields: Any) -> Delegated:
    return Delegated(state, RUN, parts(*numbers, **fields))


def needs(**standings: Standing) -> Known[tuple[Dependency, ...]]:
    return Known(tuple(Dependency(a_key(int(name[1:])), Bond.CHILD, Known(value)) for name, value in standings.items()))


def a_case(
    run: Run | None = None,
    *,
    status: Status = Status.IN_PROGRESS,
    mode: DelegationMode = DelegationMode.AUTO,
    **fields: Any,
) -> tuple[World, TaskView]:
    """A world of one task, whose author has ended, and the project's rules."""
    rules = fields.pop("rules", DelegationSettings(mode))
    run = run or a_proposal()
    task = fields.pop("task", None) or a_task(status)
    view = a_view(status, task=task, runs=(run,), **fields)
    settings = a_settings(a_project(delegation=rules))
    return a_world(view, settings=settings), view


def taken(world: World, view: TaskView, run: Run | None = None) -> Weighed:
    return weigh(next(iter(world.projects.values())), view, run or view.runs[-1], agents=world.settings.agents)


def only(world: World) -> Action:
    (action,) = decide(world).actions[:1]
    return action


def test_auto_takes_what_keeps_to_the_limits():
    world, _ = a_case()
    move = only(world)
    assert isinstance(move, MoveStatus)
    assert (move.target, move.evidence) == (Status.ROUTED, Evidence.DELEGATED)
    assert move.delegated == Delegated(_S.ACCEPTED, RUN, (SubTask(0, RUN, ONE), SubTask(1, RUN, TWO)))


def test_ask_asks_with_words_that_say_how_to_answer():
    world, _ = a_case(mode=DelegationMode.ASK)
    move = only(world)
    assert isinstance(move, MoveStatus)
    assert move.block is not None
    assert (move.target, move.block.code) == (Status.BLOCKED, "sub_tasks")
    assert move.block.words.startswith("ann proposes 2 sub-tasks: “One”, “Two”. Comment /delegate accept")
    assert not move.block.answerable
    assert move.delegated is not None
    assert move.delegated.state is _S.PROPOSED


@pytest.mark.parametrize(
    ("run", "rules", "why"),
    [
        (a_proposal(), DelegationSettings(DelegationMode.NEVER), "not allowed"),
        (a_proposal(), DelegationSettings(max_depth=0), "max_depth"),
    ],
)
def test_nothing_is_taken_where_there_is_no_room(run, rules, why):
    world, view = a_case(run, rules=rules)
    assert why in taken(world, view).cut[0]
    move = only(world)
    assert isinstance(move, MoveStatus)
    assert move.evidence is Evidence.RUN_FAILED, "it changed nothing, and is tried again"
    assert why in move.why


@pytest.mark.parametrize("outcome", [ReportedOutcome.DECLINED, ReportedOutcome.NEEDS_INPUT])
def test_a_question_comes_before_a_proposal(outcome):
    assert proposal_of(a_proposal(outcome=outcome)) == ()
    assert proposal_of(a_proposal(outcome=ReportedOutcome.BLOCKED)) == (ONE, TWO)


def test_a_failed_run_proposes_nothing():
    assert proposal_of(a_run(outcome=an_outcome(done_report(delegations=(ONE,)), FailureKind.CRASH))) == ()
    assert proposal_of(a_run(outcome=None)) == ()


def test_a_proposal_is_weighed_once():
    task = a_task(Status.IN_PROGRESS, delegated=handed(_S.ENDED, 8))
    world, view = a_case(task=task)
    assert taken(world, view).kept == ()


def test_what_is_over_a_limit_is_left_out_and_said():
    many = tuple(Delegation(f"Part {number}", "x") for number in range(7))
    world, view = a_case(a_proposal(*many), rules=DelegationSettings(DelegationMode.AUTO, max_children=3, max_open=2))
    weighed = taken(world, view)
    assert [what.title for what in weighed.kept] == ["Part 0", "Part 1"]
    assert "max_open" in weighed.cut[0]
    world, view = a_case(a_proposal(*many), rules=DelegationSettings(DelegationMode.AUTO, max_children=3))
    weighed = taken(world, view)
    assert (len(weighed.kept), len(weighed.cut)) == (3, 4)
    assert "“Part 3” is over the limit of 3" in weighed.cut[0]


def test_names_are_checked():
    what = Delegation("One", "x", agent="BOB", labels=("Docs", "status:done", "evil"))
    odd = Delegation("Two", "x", agent="nobody")
    rules = DelegationSettings(DelegationMode.AUTO, labels=("docs",))
    world, view = a_case(a_proposal(what, odd), rules=rules)
    weighed = taken(world, view)
    assert [(kept.agent, kept.labels) for kept in weighed.kept] == [("bob", ("docs",)), ("", ())]
    assert weighed.cut == (
        "“One” goes without the labels status:done, evil (delegation.labels)",
        "there is no agent nobody for “Two”",
    )


def test_the_same_is_not_taken_twice_and_places_follow():
    three = Delegation("Three", "x", needs=(1, 2))
    world, view = a_case(a_proposal(ONE, Delegation("ONE", "again"), TWO, three))
    weighed = taken(world, view)
    assert [what.title for what in weighed.kept] == ["One", "Two", "Three"]
    assert [what.needs for what in weighed.kept] == [(), (0,), (1,)]
    assert weighed.cut == ("“ONE” is proposed twice", "“Three” depends on what was left out")


def test_a_second_proposal_stands_behind_the_first():
    before = handed(_S.ENDED, 8, standing=Standing.COMPLETED)
    run = a_proposal(Delegation("New", "x"), Delegation("Newer", "x", needs=(0,)), attempt=2)
    world, view = a_case(run, task=a_task(Status.IN_PROGRESS, delegated=before))
    after = hand_over(view.task, run.id, taken(world, view), is_allowed=True)
    assert [(part.place, part.number, part.what.needs) for part in after.parts] == [
        (0, 8, ()),
        (1, None, ()),
        (2, None, (1,)),
    ]
    assert [part.place for part in after.waited_for] == [1, 2]


def test_a_proposal_that_nobody_answered_gives_way_to_a_newer_one():
    before = handed(_S.PROPOSED, 8, None)
    run = a_proposal(replace(ONE, title="New"), attempt=2)
    world, view = a_case(run, task=a_task(Status.IN_PROGRESS, delegated=before))
    after = hand_over(view.task, run.id, taken(world, view), is_allowed=False)
    assert [(part.number, part.what.title) for part in after.parts] == [(8, "One"), (None, "New")]
    assert [part.place for part in after.parts] == [0, 1]


def test_a_text_that_was_changed_by_a_stranger_is_not_divided():
    world, _ = a_case(vouched=Known(False))
    decision = decide(world)
    assert decision.waits[a_key()].code == "not_vouched"
    assert not [action for action in decision.actions if isinstance(action, MoveStatus)]


@given(
    st.lists(
        st.builds(
            Delegation,
            st.text(max_size=20),
            st.text(max_size=20),
            agent=st.sampled_from(["", "ann", "who"]),
            labels=st.lists(st.sampled_from(["docs", "status:done", "nightcrew"]), max_size=3).map(tuple),
        ),
        max_size=30,
    ),
    st.integers(1, 20),
    st.integers(1, 20),
    st.integers(0, 8),
)
def test_no_proposal_goes_over_the_limits(proposed, most, most_open, before):
    chain = tuple(replace(what, needs=tuple(range(place))) for place, what in enumerate(proposed))
    rules = DelegationSettings(DelegationMode.AUTO, most, 1, most_open, ("docs",))
    other = a_view(Status.ROUTED, task=a_task(Status.ROUTED, 9, delegated=handed(_S.FILED, *range(100, 100 + before))))
    run = a_proposal(*chain) if chain else a_run()
    view = a_view(Status.IN_PROGRESS, runs=(run,))
    project = a_project_world(view, other, settings=a_project(delegation=rules))
    weighed = weigh(project, view, run, agents=("ann", "bob"))
    assert len(weighed.kept) <= max(0, min(most, most_open - before))
    assert len({what.title.casefold() for what in weighed.kept}) == len(weighed.kept)
    for place, what in enumerate(weighed.kept):
        assert what.agent in ("", "ann")
        assert set(what.labels) <= {"docs"}
        assert all(need < place for need in what.needs), "no circles"
    assert open_in(project) == before


@pytest.mark.parametrize("status", [Status.NEW, Status.ROUTED])
def test_what_is_accepted_is_made_before_anything_else(status):
    world, _ = a_case(task=a_task(status, delegated=handed(_S.ACCEPTED, 8, None)), status=status)
    assert only(world) == FileSubTasks(a_key(), "1 sub-tasks are to be made")


@pytest.mark.parametrize("waived", [False, True])
def test_a_parent_waits_for_its_sub_tasks_and_says_which(waived):
    task = a_task(Status.ROUTED, delegated=handed(_S.FILED, 8, 9, 10), waived=waived)
    seen = needs(n8=Standing.OPEN, n9=Standing.COMPLETED, n10=Standing.OPEN)
    parent = a_view(Status.ROUTED, task=task, runs=(a_proposal(),), needs=seen)
    child = a_view(Status.BLOCKED, task=a_task(Status.BLOCKED, 10))
    decision = decide(a_world(parent, child))
    wait = decision.waits[a_key()]
    assert (wait.code, wait.words) == ("sub_tasks", "it waits for its sub-tasks #8, #10 (blocked)")
    assert "/start" in wait.next
    assert not [action for action in decision.actions if isinstance(action, StartRun) and action.task == a_key()]


def test_what_cannot_be_read_is_waited_for():
    task = a_task(Status.ROUTED, delegated=handed(_S.FILED, 8))
    assert (why_waits(a_view(task=task, needs=Unknown("no answer"))) or pytest.fail()).code == "dependencies_unknown"
    assert "#8 (not read yet)" in (why_waits(a_view(task=task)) or pytest.fail()).words
    unread = Known((Dependency(a_key(8), Bond.CHILD, Unknown("gone?")),))
    assert "#8 (not read yet)" in (why_waits(a_view(task=task, needs=unread)) or pytest.fail()).words
    many = a_task(Status.ROUTED, delegated=handed(_S.FILED, *range(10, 20)))
    assert "and 5 more" in (why_waits(a_view(task=many)) or pytest.fail()).words


@pytest.mark.parametrize("closed_as", [Standing.COMPLETED, Standing.NOT_PLANNED, Standing.DUPLICATE])
def test_it_goes_on_once_all_have_ended_whichever_way(closed_as):
    task = a_task(Status.ROUTED, delegated=handed(_S.FILED, 8, 9))
    seen = needs(n8=Standing.COMPLETED, n9=closed_as)
    view = a_view(Status.ROUTED, task=task, runs=(a_proposal(),), needs=seen)
    assert isinstance(only(a_world(view)), StartRun)


def test_how_each_stood_is_kept_when_it_goes_on():
    ended = end_parts(handed(_S.FILED, 8, 9), lambda number: Standing.COMPLETED if number == 8 else Standing.DUPLICATE)
    assert ended.state is _S.ENDED
    assert [part.standing for part in ended.parts] == [Standing.COMPLETED, Standing.DUPLICATE]
    assert ended.waited_for == ()


def test_an_author_that_finds_nothing_left_ends_the_task():
    run = a_run(attempt=2, outcome=an_outcome(None, FailureKind.NO_CHANGES, head_sha=BASE_SHA))
    task = a_task(Status.IN_PROGRESS, delegated=handed(_S.ENDED, 8, standing=Standing.COMPLETED))
    action = only(a_case(run, task=task)[0])
    assert isinstance(action, FinishTask)
    assert not action.merged
    left_out = replace(task, delegated=handed(_S.ENDED, 8, standing=Standing.NOT_PLANNED))
    assert isinstance(only(a_case(run, task=left_out)[0]), MoveStatus), "nothing of it was done"
    own = a_run(attempt=2, outcome=an_outcome(done_report()))
    assert isinstance(only(a_case(own, task=task)[0]), PublishWork)
    assert not is_made_of_parts(a_view(task=task), a_run(attempt=2, outcome=None))


def test_handing_over_gives_one_attempt_more():
    task = a_task(Status.ROUTED, delegated=handed(_S.ENDED, 8, standing=Standing.COMPLETED))
    view = a_view(Status.ROUTED, task=task, runs=(a_proposal(),))
    assert rounds_of(view) == 1
    assert out_of_attempts(view, 1) is None
    assert out_of_attempts(replace(view, task=a_task(Status.ROUTED)), 1) is not None


def test_the_words_of_a_person():
    task = a_task(Status.BLOCKED, delegated=handed(_S.PROPOSED, 8, None), block=Block("sub_tasks", "two of them"))
    yes = answer_command(task, Command(Verb.DELEGATE, "accept"), agents=())
    no = answer_command(task, Command(Verb.DELEGATE, "refuse"), agents=())
    assert isinstance(yes, MoveStatus)
    assert isinstance(no, MoveStatus)
    assert (yes.target, yes.reset, no.target) == (Status.ROUTED, False, Status.ROUTED)
    assert yes.delegated == accept(handed(_S.PROPOSED, 8, None))
    assert no.delegated == refuse(handed(_S.PROPOSED, 8, None)) == handed(_S.REFUSED, 8)
    other = replace(task, block=Block("push_refused", "no"))
    for odd in (a_task(Status.BLOCKED), replace(task, status=Status.ROUTED), other):
        assert answer_command(odd, Command(Verb.DELEGATE, "accept"), agents=())[0] is Settlement.REFUSED  # type: ignore[index]  # it is settled without a move


def test_who_waits_may_be_told_not_to():
    waiting = a_task(Status.ROUTED, delegated=handed(_S.FILED, 8), pull=70)
    settlement, *_ = answer_command(waiting, Command(Verb.START), agents=())  # type: ignore[misc]  # it is settled without a move
    assert settlement is Settlement.DONE
    left = leave(waiting.delegated)
    assert left is not None
    assert (left.state, left.parts[0].standing) == (_S.LEFT, Standing.OPEN)
    assert leave(None) is None
    assert leave(handed(_S.PROPOSED, None)) == handed(_S.PROPOSED, None)


@pytest.mark.parametrize(
    ("before", "is_anew", "after"),
    [
        (None, True, None),
        (handed(_S.ACCEPTED, None), True, handed(_S.ACCEPTED, None)),
        (handed(_S.FILED, 8), True, handed(_S.FILED, 8)),
        (handed(_S.PROPOSED, 8, None), False, handed(_S.REFUSED, 8)),
        (handed(_S.REFUSED), False, handed(_S.REFUSED)),
        (handed(_S.REFUSED), True, None),
        (handed(_S.PROPOSED, None), True, None),
        (handed(_S.ENDED, 8), True, handed(_S.ENDED, 8)),
        (handed(_S.LEFT, 8), False, handed(_S.ENDED, 8)),
    ],
)
def test_what_is_left_after_a_reset(before, is_anew, after):
    assert after_reset(before, is_anew=is_anew) == after


def test_who_may_propose():
    rules, task, issue = DelegationSettings(), a_task(), an_issue()
    assert room_for(rules, task, issue) == 5
    assert room_for(rules, replace(task, delegated=handed(_S.ENDED, 8, 9)), issue) == 3
    assert room_for(rules, replace(task, delegated=handed(_S.REFUSED)), issue) == 0
    assert room_for(rules, replace(task, pull=task.key.number), issue) == 0
    child = an_issue(body=f"{render_mark(1, RUN, 0)}\nx")
    assert room_for(rules, task, child) == 0
    assert room_for(replace(rules, max_depth=2), task, child) == 5


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"delegated": handed(_S.REFUSED)}, "were refused"),
        ({"pull": 7}, "looked after"),
        ({"delegated": Delegated(_S.ENDED, RunId("author-0"), parts(8, 9, 10, 11, 12))}, "max_children"),
    ],
)
def test_why_none_is_taken_is_said(fields, why):
    world, view = a_case(a_proposal(attempt=2), task=a_task(Status.IN_PROGRESS, **fields))
    weighed = taken(world, view)
    assert weighed.kept == ()
    assert why in weighed.cut[0]


def test_an_author_is_told_what_became_of_them_and_that_they_were_refused():
    def section(title: str, text: str) -> str:
        return f"{title}: {text}"

    assert render_parts((), is_refused=False, room=100, section=section) == []
    refused, words, ends = render_parts(("- #8 One: open",), is_refused=True, room=100, section=section)
    assert "refused them" in refused
    assert "report done" in words
    assert ends == "What became of the sub-tasks: - #8 One: open"


def test_a_depth_is_read_from_the_mark_alone():
    assert parse_depth(f"x\n{render_mark(2, RUN, 3)}\n") == 2
    assert parse_depth("<!-- nightcrew:sub-task 0 x -->") == 0
    assert parse_depth("x" * 700 + render_mark(2, RUN, 3)) == 0


@given(st.text(max_size=200))
def test_what_an_agent_wrote_stays_in_its_block(text):
    what = Delegation(text, text)
    body = render_body(SubTask(1, RUN, what), depth=1, parent=7, agent="ann", needs=(5,))
    lines = body.split("\n")
    assert lines[0] == render_mark(1, RUN, 1)
    assert "#7" in lines[1]
    assert lines[-2] == "Depends on #5."
    fence = lines[3].removesuffix("markdown")
    inner = lines[4:-4]
    assert lines[-4] == fence
    assert not any(line.strip().startswith(fence) for line in inner)
    assert "\n" not in render_title(what)


def test_how_a_sub_task_ended_is_told():
    part = SubTask(0, RUN, ONE, number=8, standing=Standing.COMPLETED)
    told = render_end(part, merged=70, said="Did\nit.")
    assert told == "- #8 One: merged as #70, so it is in your branch's base\n   its author says: Did it."
    assert "without being done" in render_end(replace(part, standing=Standing.NOT_PLANNED), merged=None, said="")
    assert "(not made) One: not known" in render_end(SubTask(0, RUN, ONE), merged=None, said="")


@pytest.mark.parametrize("fields", [{"can_author": False}, {"enabled": False}])
def test_no_part_is_for_an_agent_that_may_not_write(fields):
    world, _ = a_case(a_proposal(Delegation("One", "x", agent="bob")))
    agents = {**world.settings.agents, "bob": an_agent("bob", **fields)}
    move = only(replace(world, settings=replace(world.settings, agents=agents)))
    assert isinstance(move, MoveStatus)
    assert move.delegated is not None
    assert move.delegated.parts[0].what.agent == ""
    assert move.delegated.cut == ("there is no agent bob for “One”",)

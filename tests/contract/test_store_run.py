"""What every store promises of runs and what they came to: routes, verdicts, cooldowns, failures, re-runs, what was
learned."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.report import (
    AuthorReport,
    Decision,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
)
from nightcrew.core.model.rerun import Flake, Rerun, RerunState
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Interruption, InterruptionKind, Role, RunOutcome, RunState, Stop, StopCause
from nightcrew.core.model.unknown import UnknownFailure
from tests.adapters.store.sample import (
    KEY,
    LATER,
    NOW,
    OTHER,
    ROUTE,
    SHA,
    a_run,
    a_task,
    a_verdict,
    an_event,
)
from tests.contract.conftest import kinds


class TestMemory:
    async def test_what_author_runs_learned_is_there_until_it_is_forgotten(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            for number, text in enumerate(("tabs matter", "", "use -j 1"), 1):
                run = replace(a_run(), id=RunId(f"r{number}"), attempt=number)
                await store.record_run(run, event=an_event("run"))
                report = AuthorReport(ReportedOutcome.DONE, "did it", learned=text)
                ended = replace(run, state=RunState.ENDED, ended_at=LATER, outcome=RunOutcome(report, None))
                await store.save_run(ended)
        async with opened() as store:
            assert [one.text for one in await store.load_memories(project=KEY.project)] == ["tabs matter", "use -j 1"]
            assert [one.text for one in await store.load_memories(limit=1)] == ["use -j 1"]
            assert await store.load_memories(project=OTHER.project) == ()
            first = (await store.load_memories())[0]
            assert (first.run, first.task, first.title, first.at) == ("r1", KEY, a_task().title, LATER)
            await store.forget_memory(RunId("r1"))
            with pytest.raises(Missing):
                await store.forget_memory(RunId("none"))
        async with opened() as store:
            assert [one.text for one in await store.load_memories()] == ["use -j 1"]


class TestRuns:
    async def test_is_recorded_once_for_a_role_and_attempt(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            assert await store.record_run(a_run(), event=an_event("run"))
            again = replace(a_run(), id=RunId("01OTHER"), agent="codex")
            assert not await store.record_run(again, event=an_event("again"))
            assert await store.find_run(a_run().id) == a_run()
            assert await store.find_run(RunId("01OTHER")) is None
            assert await kinds(store) == ["task", "run"]

    async def test_one_open_author_a_task(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_task(a_task(OTHER), event=an_event())
            await store.record_run(a_run(1), event=an_event())
            with pytest.raises(Conflict, match=a_run(1).id):
                await store.record_run(a_run(2), event=an_event())
            assert await store.record_run(a_run(1, role=Role.REVIEWER), event=an_event())
            assert await store.record_run(a_run(1, key=OTHER), event=an_event())
            await store.save_run(replace(a_run(1), state=RunState.ENDED))
            assert await store.record_run(a_run(2), event=an_event())

    async def test_of_no_task_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.record_run(a_run(), event=an_event())

    async def test_two_of_one_id_are_a_bug(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
            with pytest.raises(Bug):
                await store.record_run(replace(a_run(2, role=Role.ROUTER), id=a_run().id), event=an_event())

    async def test_save_replaces_how_it_goes_and_nothing_else(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
            failure = Failure(FailureKind.USAGE_WINDOW, "come back", retry_at=LATER)
            ended = replace(
                a_run(),
                state=RunState.ENDED,
                started_at=NOW,
                ended_at=LATER,
                head_sha=SHA,
                agent_session="abc",
                outcome=RunOutcome(report=None, failure=failure),
                began_s=12.5,
                stop=Stop(StopCause.SILENT, "not a word"),
            )
            await store.save_run(replace(ended, agent="codex", folder="elsewhere"), event=an_event("ended"))
            assert await store.find_run(ended.id) == ended
            assert (await kinds(store))[-1] == "ended"

    async def test_what_it_resumes_and_how_it_was_interrupted_is_kept(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            run = replace(a_run(), resumes="cli-session-7")
            await store.record_run(run, event=an_event())
            interruption = Interruption(InterruptionKind.LOST, "the machine was restarted")
            outcome = RunOutcome(None, None, interruption=interruption, can_resume=True)
            ended = replace(run, state=RunState.ENDED, outcome=outcome)
            await store.save_run(ended)
            assert await store.find_run(run.id) == ended

    async def test_they_are_counted_by_how_they_ended(self, opened):
        author = AuthorReport(ReportedOutcome.DONE, "x")
        ends = [
            RunOutcome(author, None),
            RunOutcome(ReviewReport(Decision.APPROVE, "x"), None),
            RunOutcome(author, Failure(FailureKind.HANG, "x")),
            RunOutcome(None, None, interruption=Interruption(InterruptionKind.LOST, "x")),
            RunOutcome(RouterReport(Complexity.SIMPLE), None),
            None,
        ]
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(a_run(), event=an_event())
            for number, outcome in enumerate(ends):
                run = replace(
                    a_run(), id=RunId(f"R{number}"), attempt=number + 10, state=RunState.ENDED, role=Role.REVIEWER
                )
                await store.record_run(replace(run, outcome=outcome), event=an_event())
            counted = await store.count_runs()
        agent = a_run().agent
        ways = {"done": 1, "approve": 1, "hang": 1, "lost": 1, "reported": 2}
        assert counted == {(agent, "reviewer", way): count for way, count in ways.items()}

    async def test_what_ended_does_not_open_again(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            ended = replace(a_run(), state=RunState.ENDED, outcome=RunOutcome(None, Failure(FailureKind.HANG, "")))
            await store.record_run(ended, event=an_event())
            with pytest.raises(Conflict):
                await store.save_run(replace(a_run(), state=RunState.RUNNING), event=an_event("late"))
            assert await store.find_run(ended.id) == ended
            assert "late" not in await kinds(store)

    async def test_save_of_none_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.save_run(a_run())

    async def test_are_loaded_as_recorded_whatever_the_clock_said_and_limited_to_the_last(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_task(a_task(OTHER), event=an_event())
            for n in (3, 1, 2):
                state = RunState.RUNNING if n == 2 else RunState.ENDED
                await store.record_run(a_run(n, state=state), event=an_event())
            await store.record_run(a_run(9, key=OTHER, role=Role.ROUTER), event=an_event())
            assert [run.attempt for run in await store.load_runs()] == [3, 1, 2, 9]
            assert [run.attempt for run in await store.load_runs(limit=2)] == [2, 9]
            assert [run.attempt for run in await store.load_runs(limit=0)] == []
            assert [run.attempt for run in await store.load_runs(task=KEY)] == [3, 1, 2]
            assert [run.attempt for run in await store.load_runs(open_only=True)] == [2, 9]
            assert [run.attempt for run in await store.load_runs(task=KEY, open_only=True)] == [2]


class TestRoutes:
    async def test_the_last_one_recorded_is_the_tasks(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_route(KEY, replace(ROUTE, agent="codex"), at=NOW)
            await store.record_route(KEY, ROUTE, at=LATER)
            assert await store.find_task(KEY) == replace(a_task(), route=ROUTE, updated_at=LATER)

    async def test_of_no_task_is_missing(self, opened):
        async with opened() as store:
            with pytest.raises(Missing):
                await store.record_route(KEY, ROUTE, at=NOW)


class TestVerdicts:
    async def test_one_a_run_and_its_review_is_known_by_id(self, opened):
        run = a_run(role=Role.REVIEWER)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(run, event=an_event())
            assert await store.record_verdict(a_verdict(run), event=an_event("verdict"))
            second = a_verdict(run, decision=Decision.REQUEST_CHANGES)
            assert not await store.record_verdict(second, event=an_event("again"))
            assert await store.load_verdicts(task=KEY) == (a_verdict(run),)
            assert await store.load_review_ids(KEY) == frozenset()
            await store.mark_verdict_posted(
                run.id, head_sha=a_verdict(run).head_sha, review_id=77, event=an_event("posted")
            )
            assert await store.load_verdicts() == (replace(a_verdict(run), posted=True),)
            assert await store.load_verdicts(task=OTHER) == ()
            assert await store.load_review_ids(KEY) == frozenset({77})
            assert await store.load_review_ids(OTHER) == frozenset()
            assert (await kinds(store))[-2:] == ["verdict", "posted"]

    async def test_one_that_is_carried_over_stands_beside_the_one_that_was_given(self, opened):
        run = a_run(role=Role.REVIEWER)
        given = a_verdict(run)
        carried = replace(given, head_sha=Sha("c" * 40), carried_from=given.head_sha)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(run, event=an_event())
            for verdict in (given, carried):
                assert await store.record_verdict(verdict, event=an_event())
            await store.mark_verdict_posted(run.id, head_sha=carried.head_sha, review_id=78, event=an_event("posted"))
            assert await store.load_verdicts(task=KEY) == (given, replace(carried, posted=True))
            assert await store.load_review_ids(KEY) == frozenset({78})

    async def test_one_may_come_to_hold_for_another_base(self, opened):
        run = a_run(role=Role.REVIEWER)
        given = a_verdict(run)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            await store.record_run(run, event=an_event())
            await store.record_verdict(given, event=an_event())
            await store.retarget_verdict(run.id, head_sha=given.head_sha, base_ref="next", event=an_event("kept"))
            assert await store.load_verdicts() == (replace(given, base_ref="next"),)
            assert (await kinds(store))[-1] == "kept"
            with pytest.raises(Missing):
                await store.retarget_verdict(run.id, head_sha=Sha("c" * 40), base_ref="next", event=an_event())

    async def test_are_loaded_as_recorded_whatever_the_clock_said(self, opened):
        runs = [a_run(n, role=Role.REVIEWER) for n in (2, 1)]
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            for run in runs:
                await store.record_run(run, event=an_event())
                await store.record_verdict(a_verdict(run), event=an_event())
            assert [verdict.run for verdict in await store.load_verdicts(task=KEY)] == [runs[0].id, runs[1].id]

    async def test_of_no_run_is_missing(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event())
            with pytest.raises(Missing):
                await store.record_verdict(a_verdict(a_run()), event=an_event())
            with pytest.raises(Missing):
                await store.mark_verdict_posted(
                    a_run().id, head_sha=a_verdict(a_run()).head_sha, review_id=1, event=an_event("posted")
                )
            assert "posted" not in await kinds(store)


class TestCooldowns:
    WHOLE = Cooldown("claude", None, FailureKind.AUTH, LATER, 1, "log in")
    DEFAULT = Cooldown("claude", "", FailureKind.OVERLOADED, LATER, 1, "busy")
    MODEL = Cooldown("claude", "deep", FailureKind.RATE_LIMIT, LATER, 2, "too many")

    async def test_each_agent_model_and_kind_has_one(self, opened):
        async with opened() as store:
            for one in (self.MODEL, self.WHOLE, self.DEFAULT, replace(self.MODEL, kind=FailureKind.HANG)):
                await store.save_cooldown(one, event=an_event("cooled"))
            again = replace(self.MODEL, count=3, until_at=LATER + timedelta(hours=1), why="still")
            await store.save_cooldown(again, event=an_event("cooled"))
            found = await store.load_cooldowns()
            assert found == (self.WHOLE, self.DEFAULT, replace(self.MODEL, kind=FailureKind.HANG), again)
            assert await kinds(store) == ["cooled"] * 5

    @pytest.mark.case("C123")
    async def test_clearing_the_whole_agent_leaves_its_models(self, opened):
        async with opened() as store:
            for one in (self.WHOLE, self.DEFAULT, self.MODEL):
                await store.save_cooldown(one, event=an_event("cooled"))
            assert await store.clear_cooldowns(agent="claude", model=None, event=an_event("cleared")) == 1
            assert await store.load_cooldowns() == (self.DEFAULT, self.MODEL)
            assert await store.clear_cooldowns(agent="claude", model="deep", event=an_event("cleared")) == 1
            assert await store.load_cooldowns() == (self.DEFAULT,)

    async def test_clearing_nothing_is_no_event(self, opened):
        async with opened() as store:
            assert await store.clear_cooldowns(agent="claude", model=None, event=an_event()) == 0
            assert await kinds(store) == []

    @pytest.mark.case("C137")
    async def test_survive_a_restart_with_their_reasons(self, opened):
        async with opened() as store:
            await store.save_cooldown(self.MODEL, event=an_event())
        async with opened() as store:
            assert await store.load_cooldowns() == (self.MODEL,)

    async def test_its_notice_is_kept_only_where_there_was_no_such_row(self, opened):
        one = Notice("", "agent_needs_person", Priority.ACTION, "It needs you.", NOW)
        async with opened() as store:
            await store.save_cooldown(self.MODEL, event=an_event(), notice=one)
            await store.save_cooldown(self.MODEL, event=an_event(), notice=one)
            assert [notice.words for notice in await store.load_notices()] == ["It needs you."]
            await store.save_cooldown(self.DEFAULT, event=an_event(), notice=one)
            (_, second) = await store.load_notices()
        assert (second.project, second.task) == ("", None)

    async def test_what_it_is_counted_by_comes_back(self, opened):
        counted = replace(self.MODEL, since_at=NOW, successes=2, run=RunId("01R"))
        async with opened() as store:
            await store.save_cooldown(self.MODEL)
            await store.save_cooldown(counted)
            assert await kinds(store) == []
        async with opened() as store:
            assert await store.load_cooldowns() == (counted,)

    async def test_one_kind_is_cleared_by_itself(self, opened):
        other = replace(self.MODEL, kind=FailureKind.HANG)
        async with opened() as store:
            for one in (self.MODEL, other):
                await store.save_cooldown(one, event=an_event("cooled"))
            hang = FailureKind.HANG
            assert await store.clear_cooldowns(agent="claude", model="deep", kind=hang, event=an_event("cleared")) == 1
            assert await store.clear_cooldowns(agent="claude", model="deep", kind=hang, event=an_event("again")) == 0
            assert await store.load_cooldowns() == (self.MODEL,)
            assert await kinds(store) == ["cooled", "cooled", "cleared"]


class TestReruns:
    ROW = Rerun(9, SHA, "build", "check_run:ci", "1 red", NOW, tests=("test_a", "test_b"))

    async def test_a_check_is_on_record_once_a_head_with_what_became_of_it(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("adopted"))
            await store.record_reruns(KEY, [self.ROW], event=an_event("wanted"))
            await store.record_reruns(KEY, [replace(self.ROW, mark="2")], event=an_event("again"))
            assert (await store.load_reruns())[KEY] == (self.ROW,)
            event = replace(an_event("asked"), at=LATER)
            await store.settle_reruns(KEY, [self.ROW], state=RerunState.REFUSED, why="no permission", event=event)
        async with opened() as store:
            refused = replace(self.ROW, state=RerunState.REFUSED, why="no permission", at=LATER)
            assert (await store.load_reruns())[KEY] == (refused,)
            assert await kinds(store) == ["adopted", "wanted", "again", "asked"]
            assert await store.load_flakes() == ()

    async def test_what_passed_is_flaky_by_check_and_test(self, opened):
        other = replace(self.ROW, pull=10, tests=("test_b",))
        bare = replace(self.ROW, check="lint", tests=())
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("adopted"))
            for row, at in ((self.ROW, NOW), (other, LATER), (bare, NOW)):
                await store.record_reruns(KEY, [row], event=an_event("wanted"))
                event = replace(an_event("passed"), at=at)
                await store.settle_reruns(KEY, [row], state=RerunState.PASSED, why="", event=event)
            project = KEY.project
            assert await store.load_flakes(project=project) == (
                Flake(project, "build", "test_b", 2, NOW, LATER),
                Flake(project, "build", "test_a", 1, NOW, NOW),
                Flake(project, "lint", "", 1, NOW, NOW),
            )
            assert len(await store.load_flakes(limit=1)) == 1
            assert await store.load_flakes(project="no/such") == ()


class TestUnknownFailures:
    ONE = UnknownFailure("claude", 1, "Odd thing 17 in /tmp/x1", NOW, NOW, RunId("01A"))

    async def test_texts_of_one_shape_are_one_row(self, opened):
        again = replace(self.ONE, text="Odd thing 18 in /tmp/y2", first_at=LATER, last_at=LATER, run=RunId("01B"))
        async with opened() as store:
            await store.record_unknown_failure(self.ONE)
            await store.record_unknown_failure(self.ONE)
            assert await store.load_unknown_failures() == (self.ONE,)
            await store.record_unknown_failure(again)
        async with opened() as store:
            assert await store.load_unknown_failures() == (replace(again, first_at=NOW, count=2),)

    async def test_agents_and_exit_codes_are_kept_apart(self, opened):
        async with opened() as store:
            for one in (self.ONE, replace(self.ONE, exit_code=2), replace(self.ONE, agent="codex")):
                await store.record_unknown_failure(one)
            found = await store.load_unknown_failures()
            assert [(one.agent, one.exit_code) for one in found] == [("claude", 1), ("claude", 2), ("codex", 1)]

    async def test_the_oldest_go_when_there_are_too_many(self, opened):
        async with opened() as store:
            for number in range(205):
                at = NOW + timedelta(minutes=number)
                words = "".join(chr(ord("a") + int(digit)) for digit in str(number))
                await store.record_unknown_failure(replace(self.ONE, text=words, first_at=at, last_at=at))
            found = await store.load_unknown_failures()
            assert len(found) == 200
            assert (found[0].text, found[-1].text) == ("cae", "f")

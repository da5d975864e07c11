"""What every store promises of what people are told and ask: reactions, commands, notices, cards of boards, builds."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.command import Command, SettledCommand, Settlement, Verb
from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.lifecycle import Evidence, Status, transition
from nightcrew.core.model.board import Card
from nightcrew.core.model.build import Build, BuildState, Member
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.reaction import Reaction, ReactionKey, ReactionKind
from tests.adapters.store.sample import (
    KEY,
    LATER,
    NOW,
    OTHER,
    SHA,
    a_run,
    a_task,
    an_event,
    to,
)
from tests.contract.conftest import Opened, kinds


def a_command(comment: int = 7, place: int = 0, **fields: Any) -> SettledCommand:
    given = Command(Verb.BLOCK, "the 'design'; --")
    plain = SettledCommand(KEY, given, comment, place, "ada", NOW, Settlement.DONE, "done", LATER)
    return replace(plain, **fields)


class TestReactions:
    async def test_sending_is_counted_by_head_and_kind_and_anew_after_a_reset(self, opened):
        key = ReactionKey(9, SHA, ReactionKind.CI_FAILED)
        other = replace(key, kind=ReactionKind.CHANGES_REQUESTED)
        edge = transition(Status.NEEDS_REVIEW, Status.ROUTED, Evidence.CHANGES_REQUESTED)
        async with opened() as store:
            await store.record_task(a_task(status=Status.NEEDS_REVIEW), event=an_event("task"))
            before = store.writes
            await store.note_reaction(KEY, key, is_told=False, event=an_event("seen"))
            assert store.writes > before
            await store.change_status(KEY, edge, event=an_event("sent", at=LATER), sent=(key, other))
        async with opened() as store:
            assert (await store.load_reactions())[KEY] == (
                Reaction(key, NOW, sent=1, sent_at=LATER),
                Reaction(other, LATER, sent=1, sent_at=LATER),
            )
            with pytest.raises(Conflict):
                await store.change_status(KEY, edge, event=an_event("again"), sent=(key,))
            assert (await store.load_reactions())[KEY][0].sent == 1

    async def test_a_person_is_told_once_and_the_first_times_stay(self, opened):
        key = ReactionKey(9, SHA, ReactionKind.CHANGES_REQUESTED)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            await store.note_reaction(KEY, key, is_told=False, event=an_event("seen"))
            for at in (LATER, LATER + timedelta(days=1)):
                await store.note_reaction(KEY, key, is_told=True, event=an_event("told", at=at))
            assert (await store.load_reactions())[KEY] == (Reaction(key, NOW, told_at=LATER),)
            with pytest.raises(Missing):
                await store.note_reaction(OTHER, key, is_told=True, event=an_event("told"))

    async def test_what_a_run_was_given_is_recorded_once(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            run = a_run()
            await store.record_run(run, event=an_event("run"))
            assert await store.record_delivery(KEY, run.id, ("remark:1", "review:2"), at=NOW)
            assert not await store.record_delivery(KEY, run.id, ("remark:3",), at=LATER)
        async with opened() as store:
            assert await store.load_deliveries() == {KEY: frozenset({"remark:1", "review:2"})}


class TestCommands:
    async def test_is_kept_once_by_comment_and_place(self, opened):
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            await store.record_command(a_command(), event=an_event("one"))
            with pytest.raises(Conflict):
                await store.record_command(a_command(settlement=Settlement.REFUSED), event=an_event("again"))
            second = a_command(place=1, given=Command(Verb.AGENT, "codex"), settlement=Settlement.IGNORED)
            await store.record_command(second, event=an_event("two"))
        async with opened() as store:
            assert await store.load_commands() == (a_command(), second)
            assert await store.load_commands(limit=1) == (second,)
            assert await kinds(store) == ["task", "one", "two"]

    async def test_is_settled_in_the_transaction_of_its_move_or_neither_is(self, opened):
        move = transition(Status.NEW, Status.BLOCKED, Evidence.PERSON)
        back = transition(Status.BLOCKED, Status.NEW, Evidence.PERSON)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("task"))
            await store.change_status(KEY, move, event=an_event("moved"), command=a_command())
            assert await store.load_commands() == (a_command(),)
            before = await store.find_task(KEY)
            with pytest.raises(Conflict):
                change = to(replace(a_task(), pull=9))
                await store.change_status(KEY, back, event=an_event("back"), change=change, command=a_command())
            assert await store.find_task(KEY) == before
            with pytest.raises(Conflict):
                await store.change_status(KEY, move, event=an_event("again"), command=a_command(place=1))
            assert await store.load_commands() == (a_command(),)
            assert await kinds(store) == ["task", "moved"]

    async def test_may_be_about_a_pull_request_that_is_no_task(self, opened):
        async with opened() as store:
            await store.record_command(a_command(given=Command(Verb.REVIEW, "again")), event=an_event())
            assert await store.load_commands() == (a_command(given=Command(Verb.REVIEW, "again")),)


class TestNotices:
    async def test_each_receiver_is_given_each_notice_once(self, opened):
        one = Notice(KEY.project, "blocked", Priority.ACTION, "It waits for you.", NOW, KEY)
        two = Notice(KEY.project, "all_complete", Priority.INFO, "All is done.", LATER)
        async with opened() as store:
            assert await store.record_notice(one)
            assert await store.record_notice(two, event=an_event("told"))
            first, second = await store.load_notices()
            assert (replace(first, id=0), replace(second, id=0)) == (one, two)
            assert 0 < first.id < second.id
            assert await kinds(store) == ["told"]
            await store.record_notices_delivered([first.id, 999], receiver="telegram:12", at=LATER)
            await store.record_notices_delivered([first.id], receiver="telegram:12", at=LATER)
        async with opened() as store:
            assert await store.load_notices(undelivered_to="telegram:12") == (second,)
            assert await store.load_notices(undelivered_to="desktop") == (first, second)
            assert await store.load_notices(after=first.id) == (second,)
            assert await store.load_notices(limit=1) == (first,)
            assert await store.load_notices(limit=1, newest=True) == (second,)
        async with opened() as store:
            await store.record_notice(replace(one, priority=Priority.URGENT))
            left = await store.load_notices(undelivered_to="desktop", limit=2)
            assert [notice.priority for notice in left] == [Priority.ACTION, Priority.URGENT]

    async def test_what_bears_a_mark_is_kept_once(self, opened):
        one = Notice(KEY.project, "ci_failed", Priority.WARNING, "Red.", NOW, KEY, mark="ci_failed:a/b#1:2:abc")
        async with opened() as store:
            assert await store.record_notice(one)
            before = store.writes
            assert not await store.record_notice(replace(one, words="Red again."), event=an_event("told"))
            assert [notice.words for notice in await store.load_notices()] == ["Red."]
            assert await kinds(store) == []
            assert store.writes == before

    async def test_it_is_written_with_the_change_that_it_tells_of_or_not_at_all(self, opened):
        notice = Notice(KEY.project, "blocked", Priority.ACTION, "It waits for you.", NOW, KEY)
        step = transition(Status.NEW, Status.BLOCKED, Evidence.NEEDS_PERSON)
        async with opened() as store:
            await store.record_task(a_task(), event=an_event("adopted"))
            await store.change_status(KEY, step, event=an_event("moved"), notice=notice)
            with pytest.raises(Conflict):
                await store.change_status(KEY, step, event=an_event("moved"), notice=notice)
            assert len(await store.load_notices()) == 1


async def test_cards_are_kept_by_task_and_board_with_what_happened(opened: Opened):
    card = Card(KEY, "ada/7", "I1", Status.NEW, "c1")
    async with opened() as store:
        with pytest.raises(Missing):
            await store.save_cards([card])
        await store.record_task(a_task(), event=an_event())
        await store.save_cards([card, replace(card, board="ada/8")], happened=[an_event(kind="board.moved")])
        moved = replace(card, status=Status.DONE, column="c2", settled=True, left="-", gone=True)
        await store.save_cards([moved])
    async with opened() as store:
        assert await store.load_cards() == (moved, replace(card, board="ada/8"))
        assert (await kinds(store)).count("board.moved") == 1


class TestBuilds:
    def build(self, **fields: Any) -> Build:
        members = (Member(42, 7, SHA, Sha("b" * 40)), Member(43, 8, SHA, Sha("c" * 40)))
        plain = Build(KEY.project, "main", Sha("a" * 40), MergeMethod.SQUASH, members, NOW, left_out=(9,))
        return replace(plain, **fields)

    async def test_are_kept_as_they_are(self, opened):
        async with opened() as store:
            made = await store.record_build(self.build(), event=an_event())
            assert await store.load_builds() == (self.build(id=made),)
        async with opened() as store:
            assert await store.load_builds() == (self.build(id=made),)

    async def test_one_is_open_for_a_base_until_it_ends(self, opened):
        async with opened() as store:
            made = await store.record_build(self.build(), event=an_event())
            with pytest.raises(Conflict):
                await store.record_build(self.build(base_sha=SHA), event=an_event())
            other = await store.record_build(self.build(base_ref="release"), event=an_event())
            assert await store.end_build(made, state=BuildState.RED, why="checks failed", told=(an_event(),))
            again = await store.record_build(self.build(), event=an_event())
            found = await store.load_builds()
            assert [build.id for build in found] == [made, other, again]
            assert (found[0].state, found[0].why, found[0].ended_at) == (BuildState.RED, "checks failed", NOW)
            assert [build.id for build in await store.load_builds(limit=2)] == [other, again]

    async def test_ends_once(self, opened):
        async with opened() as store:
            made = await store.record_build(self.build(), event=an_event())
            assert await store.end_build(made, state=BuildState.LANDED, why="", told=(an_event(), an_event()))
            before = len(await store.load_events())
            assert not await store.end_build(made, state=BuildState.DROPPED, why="no", told=(an_event(),))
            assert len(await store.load_events()) == before == 3
            assert (await store.load_builds())[0].state is BuildState.LANDED
            with pytest.raises(Missing):
                await store.end_build(made + 1, state=BuildState.RED, why="", told=(an_event(),))

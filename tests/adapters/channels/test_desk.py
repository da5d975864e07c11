"""The desk: orders from a chat, each answered, each the same command as the command line's."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.channels.confirm import CONFIRM_FOR
from nightcrew.channels.desk import Asker, Desk
from nightcrew.core.chat.message import Message, Style
from nightcrew.core.chat.order import HELP, Verb
from nightcrew.core.ids import parse_task_key
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.job import JobRun, JobSettings, JobState
from nightcrew.core.model.task import Block
from nightcrew.ports.channel import Place
from nightcrew.ports.job_service import JobDetail, JobSummary
from tests.engine.part import FakeClock
from tests.fakes.note import KeptNote
from tests.fakes.service import PROJECT, FakeService, a_proposal, a_run, a_task

ME, OTHER = Asker("telegram", Place("7"), "7"), Asker("telegram", Place("7"), "8")


class Stage:
    def __init__(self) -> None:
        self.service = FakeService()
        self.service.put_task(a_task(42), sentence="It is new: it waits for an agent.")
        self.service.put_task(a_task(43, status=Status.BLOCKED, title="Other"), sentence="It is blocked: a question.")
        self.clock = FakeClock()
        self.note = KeptNote()
        self.restart()

    def restart(self) -> None:
        self.desk = Desk(self.service, self.clock, self.note)

    async def give(self, text: str, asker: Asker = ME) -> Message:
        answer = await self.desk.take(text, asker)
        assert answer is not None, text
        return answer

    async def sure(self, text: str) -> Message:
        question = await self.give(text)
        return await self.give(question.buttons[0].order)

    @property
    def statuses(self) -> list[Status]:
        return [task.status for task in self.service.tasks.values()]


async def test_what_waits_for_a_person_comes_first_in_the_list():
    text = (await Stage().give("/tasks")).text
    assert text.index("widgets#43") < text.index("widgets#42")
    assert "It is blocked: a question." in text


async def test_a_task_shows_its_reason_its_runs_and_what_can_be_done():
    stage = Stage()
    stage.service.put_run(a_run(a_task(43).key))
    answer = await stage.give("/task 43")
    assert "It is blocked: a question." in answer.text
    assert "author 1: claude, at work" in answer.text
    assert (answer.buttons[0].words, answer.buttons[0].order) == ("Retry", f"/retry {PROJECT}#43")


async def test_the_pull_request_of_an_internal_task_can_be_opened():
    stage = Stage()
    internal = parse_task_key(f"{PROJECT}#i1")
    stage.service.put_task(replace(a_task(1), key=internal, pull=71))
    (button,) = (await stage.give("/task i1")).buttons
    assert (button.words, button.url) == ("Open PR", f"http://127.0.0.1/{PROJECT}/pull/71")


@pytest.mark.parametrize("verb", ["stop", "block", "retry", "merge"])
async def test_dangerous_orders_do_nothing_before_they_are_confirmed(verb):
    stage = Stage()
    question = await stage.give(f"/{verb} 42")
    assert question.spans[0].style is Style.CODE
    assert stage.statuses == [Status.NEW, Status.BLOCKED]
    assert (await stage.give(question.buttons[1].order)).text == "Nothing was done."
    assert "not waiting" in (await stage.give(question.buttons[0].order)).text
    assert stage.statuses == [Status.NEW, Status.BLOCKED]


async def test_only_who_asked_can_confirm_and_only_in_time():
    stage = Stage()
    question = await stage.give("/block 42 not now")
    assert "not waiting" in (await stage.give(question.buttons[0].order, OTHER)).text
    assert (await stage.give(question.buttons[0].order)).text
    assert stage.statuses[0] is Status.BLOCKED
    late = await stage.give("/retry 42")
    stage.clock.advance(CONFIRM_FOR.total_seconds() + 1)
    assert "not waiting" in (await stage.give(late.buttons[0].order)).text
    assert stage.statuses[0] is Status.BLOCKED


async def test_a_confirmed_order_is_carried_out():
    stage = Stage()
    await stage.sure("/retry 43")
    assert stage.statuses == [Status.NEW, Status.NEW]
    await stage.sure("/block 42 it hurts")
    assert "it hurts" in str(stage.service.tasks[a_task(42).key].block)


async def test_a_new_task_takes_its_title_from_the_first_line_and_its_text_from_the_others():
    stage = Stage()
    stage.service.add_project("acme/doors")
    assert "Which project?" in (await stage.give("/new Fix it")).text
    answer = await stage.give("/new doors Fix the door\nIt squeaks.\nBadly.")
    assert "acme/doors#" in answer.text
    task = next(task for key, task in stage.service.tasks.items() if key.project == "acme/doors")
    assert task.title == "Fix the door"


async def test_a_name_that_two_projects_have_is_asked_about():
    stage = Stage()
    stage.service.add_project("acme/doors")
    stage.service.add_project("other/doors")
    assert "Which project?" in (await stage.give("/new doors Fix the door")).text
    assert "other/doors#" in (await stage.give("/new other/doors Fix the door")).text


async def test_a_button_for_an_approval_names_the_head_and_other_words_do_not():
    stage = Stage()
    stage.service.put_task(replace(a_task(44), pull=71))
    assert "another head" in (await stage.give(f"/approve 44 {'0123456789abcdef'[:8]}")).text
    assert not stage.service.tasks[a_task(44).key].approved_sha
    await stage.give("/Approve 44 looks good to me")
    assert stage.service.tasks[a_task(44).key].approved_sha


async def test_the_first_button_of_telegram_is_answered_with_help():
    assert (await Stage().give("/start")).text == (await Stage().give("/help")).text


async def test_what_cannot_be_done_is_said_in_words():
    stage = Stage()
    for text in ("/task", "/task 99", "/approve 42", "/pause nowhere", "/comment 42", "/say 42"):
        answer = await stage.give(text)
        assert answer.text, text
    assert stage.statuses == [Status.NEW, Status.BLOCKED]


async def test_notices_are_asked_for_place_by_place():
    stage = Stage()
    await stage.give("/subscribe")
    await stage.give("/subscribe widgets", Asker("telegram", Place("-100", "5"), "7"))
    assert stage.service.subscriptions == {"telegram:7": {"*"}, "telegram:-100/5": {PROJECT}}
    await stage.give("/unsubscribe")
    assert stage.service.subscriptions["telegram:7"] == set()


async def test_what_is_said_goes_to_the_agent_and_names_the_place():
    stage = Stage()
    answer = await stage.give("/say 42 use a lock\nand a test")
    assert "It is said here when it has been read." in answer.text
    await stage.give("/say 42 —now stop that", Asker("telegram", Place("-100", "5"), "7"))
    first, second = stage.service.said
    assert (first.text, first.receiver, first.interrupts) == ("use a lock\nand a test", "telegram:7", False)
    assert (second.text, second.receiver, second.interrupts) == ("stop that", "telegram:-100/5", True)
    assert first.author == "7 on telegram"
    assert "missing is the text" in (await stage.give("/say 42 --now")).text
    shown = await stage.give("/task 42")
    assert "message of 7 on telegram: it waits for the agent's next turn" in shown.text


async def test_jobs_show_when_they_are_due_and_how_they_went():
    stage = Stage()
    assert (await stage.give("/jobs")).text == "There are no jobs."
    settings, now = JobSettings("nightly", "0 3 * * *"), stage.clock.now()
    last = JobRun(PROJECT, "nightly", now - timedelta(hours=2), now, JobState.DONE)
    summary = JobSummary(PROJECT, settings, True, (now + timedelta(hours=22),), "", last)
    stage.service.jobs[PROJECT, "nightly"] = JobDetail(summary)
    assert (await stage.give("/jobs")).text == f"{PROJECT} nightly: due in 22 h, last done 2 h ago"


async def test_help_names_every_order_and_each_is_answered():
    stage = Stage()
    text = (await stage.give("/help")).text
    for verb in Verb:
        assert f"/{verb.value}" in text or verb in (Verb.CONFIRM, Verb.CANCEL)
        assert (await stage.give(f"/{verb.value} 42 text")).text
    assert set(HELP) == set(Verb) - {Verb.CONFIRM, Verb.CANCEL}


async def test_talk_is_no_order():
    stage = Stage()
    for text in ("hello", "", "/", "//status", "a /status"):
        assert await stage.desk.take(text, ME) is None


async def test_sub_tasks_are_answered_by_an_order_or_a_button():
    stage = Stage()
    block = Block("sub_tasks", "ann proposes 2 sub-tasks")
    stage.service.put_task(replace(a_task(44, status=Status.BLOCKED), block=block, delegated=a_proposal()))
    buttons = (await stage.give("/task 44")).buttons
    orders = [f"/delegate {PROJECT}#44 accept", f"/delegate {PROJECT}#44 refuse"]
    assert [button.order for button in buttons[:2]] == orders
    assert "accept or refuse" in (await stage.give("/delegate 44")).text
    assert "routed" in (await stage.give(orders[0])).text


async def test_a_word_for_a_merge_makes_no_sub_tasks():
    stage = Stage()
    block = Block("sub_tasks", "ann proposes 2 sub-tasks")
    stage.service.put_task(replace(a_task(44, status=Status.BLOCKED), pull=9, block=block, delegated=a_proposal()))
    assert "nothing to merge" in (await stage.sure("/merge 44")).text
    assert (await stage.service.get_task(parse_task_key(f"{PROJECT}#44"))).summary.task.approved_sha is None

"""`nightcrew task …` against a running service."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import Decision, Finding
from nightcrew.core.model.task import Block
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.reason import Wait
from tests.adapters.cli.command import shell
from tests.fakes.service import HEAD, NOW, PROJECT, FakeService, a_proposal, a_route, a_run, a_task

# Cursor, colour, clipboard (OSC 52, both forms), a second line, reversed order, hidden letters, a C1 control.
HOSTILE = (
    "Fix \x1b[2J\x1b[31mred\x1b]52;c;ZXZpbA==\x07 \x9d0;title\x9c\r\nfake#1  done\x08\u202eesrever\u200b\x85\x7f end"
)
SAFE = "Fix red fake#1 doneesrever end"


async def test_list_shows_each_task_on_a_line(tmp_path):
    service = FakeService()
    service.put_task(
        replace(a_task(1, title="日本語 title"), route=a_route(), pull=12), sentence="It waits for a slot."
    )
    service.put_task(a_task(20, status=Status.BLOCKED, title="Other"), sentence="It is blocked: asked.")
    service.put_task(a_task(3, status=Status.DONE))
    async with shell(service, tmp_path) as person:
        lines = (await person.said("task", "list")).splitlines()
        everything = await person.said("task", "list", "--all")
        blocked = await person.said("task", "list", "--status", "blocked")
        listed = await person.told("task", "list")
    assert lines[0].split() == ["TASK", "STATUS", "AGENT", "PR", "WHY/NEXT", "AGE", "TITLE"]
    assert lines[1].startswith("acme/widgets#1   new      claude  #12  It waits for a slot.")
    assert lines[1].endswith("日本語 title")
    assert lines[2].startswith("acme/widgets#20  blocked               It is blocked: asked.")
    assert len(lines) == 3
    assert "acme/widgets#3 " in everything
    assert "acme/widgets#1 " not in blocked
    assert "acme/widgets#20" in blocked
    assert [task["number"] for task in listed["tasks"]] == [1, 20]


async def test_an_empty_list_says_what_to_do(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        assert "nightcrew task add" in await person.said("task", "list")
        assert await person.told("task", "list") == {"tasks": []}


async def test_show_begins_with_the_sentence(tmp_path):
    service = FakeService()
    task = replace(
        a_task(status=Status.BLOCKED),
        route=a_route(),
        pull=7,
        block=Block("question", "which colour?", answerable=True, at=NOW),
        tried=("codex",),
        branch="nightcrew/42-fix-it",
    )
    wait = Wait("question", "a person is asked", "it goes on with the answer", NOW + timedelta(days=36_500))
    key = service.put_task(task, sentence="It is blocked because a person is asked: which colour?", wait=wait)
    service.put_run(a_run(key))
    service.verdicts.append(
        Verdict(
            a_run(key).id,
            key,
            Decision.REQUEST_CHANGES,
            HEAD,
            "main",
            "codex",
            "",
            "no",
            (Finding("a.py", 3, "x"),),
            NOW,
        )
    )
    for number in range(30):
        service.record("status.changed", f"why {number}", task=key)
    async with shell(service, tmp_path) as person:
        lines = (await person.said("task", "show", "widgets#42")).splitlines()
        detail = await person.told("task", "show", "42")
    text = "\n".join(lines)
    assert lines[0] == "It is blocked because a person is asked: which colour?"
    assert "  until      in " in text
    assert "which colour? [question]" in text
    assert "answer     comment on the issue" in text
    assert "claude, medium: its turn" in text
    assert "ago (2026-03-01 09:00)" in text
    assert "nightcrew/42-fix-it from main" in text
    assert "request_changes by codex on ababababab" in text
    assert "    a.py:3  x" in text
    assert "why 29" in text
    assert "why 1\n" not in text
    assert "01JQ0000000000000000000001" in text
    assert detail["summary"]["task"] == "acme/widgets#42"
    assert len(detail["events"]) == 30


@pytest.mark.case("C211")
async def test_an_ambiguous_number_names_all_and_does_nothing(tmp_path):
    service = FakeService()
    service.add_project("acme/gears")
    for project in (PROJECT, "acme/gears"):
        service.put_task(a_task(7, project=project, status=Status.IN_PROGRESS))
    async with shell(service, tmp_path) as person:
        words = await person.refused("task", "stop", "7")
        assert "acme/gears#7" in words
        assert "acme/widgets#7" in words
        assert {task.status for task in service.tasks.values()} == {Status.IN_PROGRESS}
        await person.said("task", "stop", "gears#7")
    assert {str(key): task.status for key, task in service.tasks.items()} == {
        "acme/widgets#7": Status.IN_PROGRESS,
        "acme/gears#7": Status.BLOCKED,
    }


async def test_what_is_not_there_is_one_line(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        assert await person.refused("task", "show", "99") == "there is no task 99"
        assert "write it as" in await person.refused("task", "show", "x")
        assert "there is no project" in await person.refused("task", "list", "--project", "no/such")
        assert (await person.run("task", "show", "../../x#1")).returncode == 1


@pytest.mark.parametrize(
    ("verb", "start", "end"),
    [
        ("retry", Status.BLOCKED, Status.NEW),
        ("stop", Status.IN_PROGRESS, Status.BLOCKED),
        ("unblock", Status.BLOCKED, Status.NEW),
        ("close", Status.IN_PROGRESS, Status.DONE),
    ],
)
async def test_a_word_about_a_task(tmp_path, verb, start, end):
    service = FakeService()
    key = service.put_task(a_task(status=start))
    async with shell(service, tmp_path) as person:
        assert str(key) in await person.said("task", verb, "42")
        assert service.tasks[key].status is end
        service.put_task(a_task(status=start))
        assert (await person.told("task", verb, "42"))["changed"] is True


async def test_start_does_not_wait_for_others(tmp_path):
    service = FakeService()
    key = service.put_task(a_task(status=Status.NEW))
    async with shell(service, tmp_path) as person:
        assert str(key) in await person.said("task", "start", "42")
        service.put_task(a_task(status=Status.IN_PROGRESS))
        assert "it has started" in await person.refused("task", "start", "42")


async def test_pull_requests_of_people_are_claimed_and_reviewed(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        assert "looked after" in await person.said("claim", "https://forge.example/acme/gears/pull/7")
        assert (await person.told("review", "--again", "gears#7"))["changed"] is True
        assert "review" in await person.said("review", "7")
    assert service.asked == [
        ("claim", "https://forge.example/acme/gears/pull/7", False), ("review", "gears#7", True), ("review", "7", False)
    ]  # fmt: skip


async def test_approve_says_why_it_cannot(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    async with shell(service, tmp_path) as person:
        assert "no pull request yet" in await person.refused("task", "approve", "42")
        service.put_task(replace(a_task(), pull=3))
        assert await person.said("task", "approve", "42") == f"approved {key}\n"
        assert "already" in await person.said("task", "approve", "42")
    assert service.tasks[key].approved_sha == HEAD


async def test_block_needs_a_reason(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    async with shell(service, tmp_path) as person:
        assert "--why" in await person.refused("task", "block", "42", code=2)
        await person.said("task", "block", "42", "--why", "wait; rm -rf / $(x)")
        assert "Take 42; $(x)" in await person.said("task", "comment", "42", "Take 42; $(x)")
    block = service.tasks[key].block
    assert block is not None
    assert block.words == "wait; rm -rf / $(x)"


async def test_what_is_said_is_kept_and_shown(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    async with shell(service, tmp_path) as person:
        assert f"kept for the agent of {key}" in await person.said("task", "say", "42", "use a lock; $(x)", "--now")
        told = await person.said("task", "say", "42", "-", "--json", stdin=b"and\na test")
        assert '"message": "cli:' in told
        text = await person.said("task", "show", "42")
        assert "Messages to its agent" in text
        assert "it waits for the agent's next turn" in text
        assert "use a lock; $(x)" in text
        (first, second) = (await person.told("task", "show", "42"))["sayings"]
    assert (first["interrupts"], first["state"], second["text"]) == (True, "queued", "and\na test")
    assert len({one.id for one in service.said}) == 2


async def test_add_files_an_issue(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        assert "acme/widgets#1" in await person.said("task", "add", "Mend it", "--body", "-", stdin=b"four")
        service.add_project("acme/gears")
        assert "acme/gears" in await person.refused("task", "add", "Which?", code=2)
        told = await person.told("task", "add", "Oil it", "--project", "acme/gears", "--label", "bug", "--label", "x")
    assert told["data"]["task"] == "acme/gears#1"
    assert [task.title for task in service.tasks.values()] == ["Mend it", "Oil it"]
    assert [event.why for event in service.events] == [
        "filed with 4 characters, labels ",
        "filed with 0 characters, labels bug, x",
    ]


async def test_an_internal_task_is_added_shown_and_published(tmp_path):
    service = FakeService()
    async with shell(service, tmp_path) as person:
        words = ("task", "add", "Look", "--internal", "--report", "--body", "why?", "--agent", "claude")
        assert (await person.told(*words))["data"]["task"] == "acme/widgets#i1"
        (key,) = service.internals
        service.internals[key] = replace(service.internals[key], result="It is \x1b[31mslow.")
        shown = await person.said("task", "show", "i1")
        asks = Block("question", "which colour?", answerable=True, at=NOW)
        service.tasks[key] = replace(service.tasks[key], status=Status.BLOCKED, block=asks)
        assert "nightcrew task comment acme/widgets#i1 TEXT" in await person.said("task", "show", "i1")
        assert "#77" in await person.said("task", "publish", "i1")
        assert "--internal" in await person.refused("task", "add", "Look", "--report", code=2)
        assert "labels" in await person.refused("task", "add", "Look", "--internal", "--label", "x", code=2)
    assert "why?" in shown
    assert "slow." in shown
    assert "\x1b" not in shown


async def test_a_diff_is_for_programs_as_it_is(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    service.diffs[key] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+\x1b[31mé\u202e\r\n"
    async with shell(service, tmp_path) as person:
        done = await person.run("task", "diff", "42")
        assert (await person.told("task", "diff", "42"))["diff"] == service.diffs[key]
    assert done.stdout.decode() == service.diffs[key]


async def test_hostile_text_reaches_no_terminal(tmp_path):
    service = FakeService()
    key = service.put_task(replace(a_task(title=HOSTILE), branch=HOSTILE, base_ref="main"), sentence=HOSTILE)
    service.put_run(replace(a_run(key), model=HOSTILE), log=HOSTILE, prompt=HOSTILE)
    service.record(HOSTILE, HOSTILE, task=key)
    service.problems = (HOSTILE,)
    service.add_project("acme/x")
    async with shell(service, tmp_path) as person:
        for command in (
            ["task", "list"],
            ["task", "show", "42"],
            ["run", "list"],
            ["run", "show", "42"],
            ["run", "logs", "42"],
            ["status"],
        ):
            for text in (await person.said(*command), await person.said(*command, "--json")):
                wrong = [char for char in text if char != "\n" and not char.isprintable()]
                assert wrong == [], (command, wrong)
                assert "52;c;" not in text or "\\u001b" in text
        listed = await person.said("task", "list")
        service.tasks.pop(key)
        refused = await person.run("task", "show", HOSTILE.replace("\n", ""))
    assert listed.count(SAFE) == 2
    assert len(listed.splitlines()) == 2
    assert len(refused.stderr.decode().splitlines()) == 1
    assert b"\x1b" not in refused.stderr


async def test_sub_tasks_that_are_proposed_are_shown_and_answered(tmp_path):
    service = FakeService()
    key = service.put_task(replace(a_task(status=Status.BLOCKED), delegated=a_proposal()))
    async with shell(service, tmp_path) as person:
        shown = await person.said("task", "show", "42")
        assert str(key) in await person.said("task", "delegate", "42", "accept")
        assert "no sub-tasks" in await person.refused("task", "delegate", "42", "refuse")
        assert (await person.run("task", "delegate", "42", "perhaps")).returncode == 2
    assert "Sub-tasks (proposed)" in shown
    assert "acme/widgets#8" in shown
    assert "left out: “The roof” is proposed twice" in shown
    assert service.tasks[key].status is Status.ROUTED

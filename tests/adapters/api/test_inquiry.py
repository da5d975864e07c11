"""Questions over the API and on the command line."""

import json
import os
import pty
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from nightcrew.cli.order import find_command
from nightcrew.config.home import Home
from nightcrew.core.chat.order import Order, parse_order
from nightcrew.core.lifecycle import Status
from tests.adapters.api.serving import asked
from tests.adapters.cli.command import ARGV, Shell, environment, shell
from tests.fakes.service import PROJECT, FakeService, a_task
from tests.waiting import eventually


def service_with(answer: str = "", *orders: str) -> FakeService:
    service = FakeService()
    service.put_task(a_task(42))
    service.at_once, service.orders = answer, orders
    return service


async def test_a_question_is_asked_looked_for_and_given_up(tmp_path):
    service = service_with()
    async with asked(service, tmp_path) as client:
        made = (await client.post("/inquiries", json={"question": "Why?", "task": "42", "talk": "cli:1"})).json()
        assert (made["state"], made["task"], made["project"]) == ("asked", f"{PROJECT}#42", PROJECT)
        (name,) = service.inquiries
        service.take(name)
        running = (await client.get(f"/inquiries/{name}")).json()
        assert (running["state"], running["tries"][0]["agent"]) == ("running", "claude")
        service.answer(name, "It waits.", f"/retry {PROJECT}#42", "do it")
        answered = (await client.get("/inquiries", params={"talk": "cli:1"})).json()["inquiries"][0]
        assert answered["answer"] == "It waits."
        assert answered["proposals"] == [
            {"text": f"/retry {PROJECT}#42", "order": "retry"},
            {"text": "do it", "order": ""},
        ]
        assert (await client.get("/inquiries", params={"talk": "cli:2"})).json() == {"inquiries": []}
        other = (await client.post("/inquiries", json={"question": "And now?"})).json()["id"]
        assert (await client.post(f"/inquiries/{other}/cancel")).json()["changed"] is True
        assert (await client.get(f"/inquiries/{other}")).json()["kind"] == "cancelled"
        wrong = [
            (await client.post("/inquiries", json=body)).status_code
            for body in ({"question": ""}, {"question": "Why?", "task": "99"}, {"question": "Why?", "talk": "a b"})
        ]
        assert wrong == [422, 404, 422]
        assert (await client.get("/inquiries/none")).status_code == 404


async def test_a_person_asks_and_reads_what_is_proposed(tmp_path):
    service = service_with("It waits.\x1b[2J", f"/retry {PROJECT}#42", "/block 42 it's; rm -rf /", "merge it")
    async with shell(service, tmp_path) as person:
        said = await person.said("ask", "Why?", "--task", "42")
        told = json.loads(await person.said("ask", "-", "--project", PROJECT, "--json", stdin=b"Why?"))
        service.at_once = ""
    assert said.splitlines() == [
        "It waits.",
        "",
        "It proposes; nothing of it was done:",
        f"  nightcrew task retry '{PROJECT}#42'",
        "  nightcrew task block 42 '--why=it'\"'\"'s; rm -rf /'",
        "  merge it",
    ]
    assert told["state"] == "answered"
    assert [task.status for task in service.tasks.values()] == [Status.NEW]


async def test_without_a_service_nobody_answers(tmp_path):
    home = Home(tmp_path / "home")
    home.ensure()
    person = Shell(home.root)
    for words in (["ask", "Why?"], ["chat"]):
        assert "not running" in await person.refused(*words, code=3)


async def test_what_could_not_be_answered_is_said(tmp_path):
    class Failing(FakeService):
        async def ask(self, new):
            inquiry = await super().ask(new)
            self.fail(inquiry.id, "No agent can answer now.")
            return self.inquiries[inquiry.id]

    async with shell(Failing(), tmp_path) as person:
        assert await person.refused("ask", "Why?") == "No agent can answer now."
        assert await person.refused("ask", "") == "question: is empty, or too short"
        assert "no task 99" in await person.refused("ask", "Why?", "--task", "99")


async def test_a_file_of_questions_is_one_conversation_and_orders_nothing(tmp_path):
    service = service_with("So.", f"/retry {PROJECT}#42")
    async with shell(service, tmp_path) as person:
        said = await person.said("chat", "--project", PROJECT, stdin=b"Why?\n\nAnd then?\n/quit\nNever asked.\n")
        lines = await person.said("chat", "--json", stdin=b"Why?\n")
        done = await person.run("chat", stdin=b"/block 42 now\n")
    assert said.splitlines() == ["So.", f"(proposed: nightcrew task retry '{PROJECT}#42')"] * 2
    assert json.loads(lines)["answer"] == "So."
    assert done.returncode == 1
    assert b"orders are taken on a terminal alone" in done.stderr
    questions = [one.question for one in service.inquiries.values()]
    assert questions == ["Why?", "And then?", "Why?"]
    first, second, third = (one.talk for one in service.inquiries.values())
    assert first == second != third
    assert [task.status for task in service.tasks.values()] == [Status.NEW]


class Typed:
    """The command on a terminal of its own, with what a person types."""

    def __init__(self, home: Path, words: Sequence[str]) -> None:
        self.terminal, inside = pty.openpty()
        argv = [*ARGV, "--home", str(home), *words]
        self.process = subprocess.Popen(
            argv, stdin=inside, stdout=inside, stderr=inside, env=environment(home, TERM="dumb")
        )
        os.close(inside)
        os.set_blocking(self.terminal, False)
        self.seen = ""

    def look(self, text: str) -> bool:
        with suppress(OSError):  # nothing is there, or it has ended
            self.seen += os.read(self.terminal, 65_536).decode()
        return text in self.seen

    async def until(self, text: str) -> None:
        await eventually(lambda: self.look(text), what=f"{text!r} on the terminal")
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def type(self, line: str) -> None:
        os.write(self.terminal, line.encode() + b"\n")

    async def end(self) -> int:
        await eventually(lambda: self.process.poll() is not None, what="its end")
        os.close(self.terminal)
        return self.process.wait()


async def test_on_a_terminal_what_is_proposed_is_done_after_a_yes_alone(tmp_path):
    service = service_with("So.", f"/block {PROJECT}#42 it hurts")
    key = a_task(42).key
    async with shell(service, tmp_path) as person:
        typed = Typed(person.home, ["chat"])
        await typed.until("/quit ends.")
        await typed.until("> ")
        typed.type("Why?")
        await typed.until("Really? [y/N] ")
        typed.type("")
        await typed.until("Nothing was done.")
        assert service.tasks[key].status is Status.NEW
        typed.type("Once more?")
        await typed.until("Really? [y/N] ")
        typed.type("y")
        await eventually(lambda: service.tasks[key].status is Status.BLOCKED, what="the order")
        await typed.until("> ")
        typed.type("/unblock 42")
        await typed.until("Really? [y/N] ")
        typed.type("yes")
        await eventually(lambda: service.tasks[key].status is not Status.BLOCKED, what="the order")
        typed.type("/nothing")
        await typed.until("not an order")
        typed.type("/quit")
        assert await typed.end() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/retry a/b#4", ["task", "retry", "a/b#4"]),
        ("/merge 4", ["task", "approve", "4"]),
        ("/approve a/b#i4 abcdef12", ["task", "approve", "a/b#i4"]),
        ("/block 4", ["task", "block", "4", "--why=set aside in a chat"]),
        ("/block 4 --why=x --home=/", ["task", "block", "4", "--why=--why=x --home=/"]),
        ("/comment 4 Yes, do.", ["task", "comment", "4", "Yes, do."]),
        ("/pause", ["pause"]),
        ("/resume a/b", ["resume", "a/b"]),
        ("/new a/b Mend it\nBadly.\n- so", ["task", "add", "Mend it", "--project=a/b", "--body=Badly.\n- so"]),
        ("/new Mend it", ["task", "add", "Mend it", "--body="]),
        ("/retry --all", None),
        ("/retry", None),
        ("/comment 4 --help", None),
        ("/comment 4", None),
        ("/new --internal", None),
        ("/new a/b", None),
        ("/pause --home=/", None),
        ("/status", None),
    ],
)
def test_an_order_is_the_command_that_one_would_type_and_never_an_option(text, words):
    order = parse_order(text)
    assert isinstance(order, Order)
    assert find_command(order) == words

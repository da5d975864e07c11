"""What the service said, read from its files by a command."""

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from nightcrew.cli.logs import Tail, read_lines
from nightcrew.config.home import Home
from nightcrew.service.log_file import LogFile
from tests.adapters.cli.command import ARGV, Shell, environment
from tests.waiting import eventually


def line(event: str, *, task: str | None = None, level: str = "info", **more: Any) -> str:
    return json.dumps({"event": event, "task": task, "level": level, "timestamp": "2026-03-04T12:00:00Z", **more})


def written(folder: Path, *lines: str) -> tuple[Home, Shell]:
    home = Home(folder / "home")
    home.ensure()
    home.log.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return home, Shell(home.root)


async def test_lines_are_shown_for_a_person_and_nothing_in_them_reaches_the_terminal(tmp_path):
    _, person = written(
        tmp_path,
        line("pull.merge", task="a/b#12", why="it is \x1b[31mapproved\nforged", run="R1", state="done", detail=""),
        '{"cut off',
        "[]",
        line("problem", level="warning", what="x"),
        '{"event": "odd"}',
    )
    said = await person.said("logs")
    assert said.splitlines() == [
        "03-04 12:00:00  a/b#12  pull.merge  it is approved forged  state=done",
        "03-04 12:00:00  warning  problem  what=x",
        "?  odd",
    ]


async def test_they_are_chosen_by_task_level_and_count_over_all_files(tmp_path):
    home, person = written(tmp_path, line("three", task="a/b#1"), line("four", task="a/b#11", level="error"))
    home.log.with_name(home.log.name + ".2").write_text(line("one", task="a/b#1") + "\n", encoding="utf-8")
    home.log.with_name(home.log.name + ".1").write_text(line("two", task="c/b#1") + "\n", encoding="utf-8")

    async def events(*options: str) -> list[str]:
        return [json.loads(text)["event"] for text in (await person.said("logs", "--json", *options)).splitlines()]

    assert await events() == ["one", "two", "three", "four"]
    assert await events("--task", "a/b#1") == ["one", "three"]
    assert await events("--task", "1") == ["one", "two", "three"]
    assert await events("--level", "error") == ["four"]
    assert await events("--lines", "1") == ["four"]


async def test_following_goes_on_over_a_file_that_is_put_aside(tmp_path):
    home, person = written(tmp_path, line("old", task="a/b#1"))
    child = await asyncio.create_subprocess_exec(
        *ARGV, "logs", "-f", "--json", "--task", "a/b#1", "--lines", "0",
        env=environment(person.home), stdout=asyncio.subprocess.PIPE, stderr=sys.stderr,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        file = LogFile(home.log, largest_bytes=3_000)
        wanted = 0

        async def write() -> bytes:
            nonlocal wanted
            file.write(line(f"n{wanted}", task="a/b#1", filler="x" * 1_000))
            file.write(line("other", task="a/b#2"))
            wanted += 1
            try:
                async with asyncio.timeout(0.5):
                    return await child.stdout.readline()  # type: ignore[union-attr] # asked above
            except TimeoutError:
                return b""

        first = json.loads(await eventually(write))["event"]
        for number in range(int(first[1:]) + 1, wanted):
            assert json.loads(await child.stdout.readline())["event"] == f"n{number}"
        for number in range(wanted, wanted + 6):
            file.write(line(f"n{number}", task="a/b#1", filler="x" * 1_000))
            assert json.loads(await child.stdout.readline())["event"] == f"n{number}"
    finally:
        child.kill()
        await child.wait()
    assert home.log.with_name(home.log.name + ".1").exists()


async def test_without_a_home_there_is_nothing(tmp_path):
    assert "there is no log" in await Shell(tmp_path / "none").refused("logs")


def test_what_is_written_or_put_aside_while_it_is_read_is_read_once(tmp_path):
    home, _ = written(tmp_path, line("one"))
    with closing(Tail(home.log)) as tail:
        home.log.rename(home.log.with_name("nightcrew.jsonl.1"))
        home.log.write_text(line("two") + "\n", encoding="utf-8")
        assert [json.loads(text)["event"] for text in read_lines(home.log, tail)] == ["one", "two"]
        with home.log.open("a", encoding="utf-8") as log:
            log.write(line("three") + "\n")
        assert [json.loads(text)["event"] for text in tail.read()] == ["three"]

"""Whatever goes wrong is one clear line with what to do, and the exit code tells what kind it was."""

import socket

import pytest

from nightcrew.config.home import Home
from tests.adapters.cli.command import Shell, shell
from tests.fakes.service import FakeService


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["task"],
        ["task", "nonsense"],
        ["task", "show"],
        ["task", "list", "--stat", "new"],
        ["task", "list", "--status", "odd"],
        ["forge", "serve", "--port", "99999"],
        ["demo", "--agents", ","],
        ["completions", "tcsh"],
        ["serve", "--json"],
        ["--home", "", "status"],
        ["\x1b[31mred\nline"],
    ],
)
async def test_wrong_usage(tmp_path, arguments):
    words = await Shell(tmp_path / "home").refused(*arguments, code=2)
    assert "\x1b" not in words


@pytest.mark.parametrize(
    "arguments",
    [
        ["pause"],
        ["resume"],
        ["stream"],
        ["task", "add", "x"],
        ["task", "block", "1", "--why", "x"],
        ["task", "comment", "1", "x"],
        ["task", "say", "1", "x"],
        *(["task", verb, "1"] for verb in ("approve", "retry", "stop", "unblock", "close")),
    ],
)
async def test_what_needs_the_service_says_how_to_start_it(tmp_path, arguments):
    home = Home(tmp_path / "home")
    home.ensure()
    words = await Shell(home.root).refused(*arguments, code=3)
    assert words == "the service is not running (start it with: nightcrew serve)"


async def test_the_socket_of_a_dead_service_is_no_service(tmp_path):
    home = Home(tmp_path / "home")
    home.ensure()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home.socket))
    assert "is not running" in await Shell(home.root).refused("pause", code=3)


async def test_without_a_home_reading_says_how_to_begin(tmp_path):
    words = await Shell(tmp_path / "home").refused("task", "list")
    assert "nightcrew init" in words
    assert not (tmp_path / "home").exists()


async def test_a_home_that_is_none_is_refused(tmp_path):
    done = await Shell(tmp_path / "home").run("status", NIGHTCREW_HOME="/")
    assert done.returncode == 1
    assert done.stderr.startswith(b"nightcrew: NIGHTCREW_HOME is /")


async def test_a_bug_of_the_service_is_said(tmp_path):
    class Broken(FakeService):
        async def status(self):
            raise ZeroDivisionError

    async with shell(Broken(), tmp_path) as person:
        assert "ZeroDivisionError inside Nightcrew" in await person.refused("status")


async def test_debug_shows_where_an_error_came_from(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        done = await person.run("task", "show", "9", NIGHTCREW_DEBUG="1")
    assert b"Traceback" in done.stderr
    assert done.stderr.splitlines()[-1] == b"nightcrew: there is no task 9"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nxyz",
        b"HTTP/1.1 200 OK\r\ncontent-length: 300\r\n\r\n{",
        b"HTTP/1.1 500 Oops\r\ncontent-length: 3\r\n\r\nxyz",
    ],
)
async def test_a_service_that_talks_nonsense_is_one_line(tmp_path, answer):
    import asyncio

    async def talk(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    home = Home(tmp_path / "home")
    home.ensure()
    server = await asyncio.start_unix_server(talk, str(home.socket))
    async with server:
        words = await Shell(home.root).refused("status")
    assert "service" in words

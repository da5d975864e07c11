"""The API's socket: who may connect, what is replaced, what is refused, and that it is gone afterwards."""

import asyncio
import socket
import stat

import pytest

from nightcrew.api.socket import answers, bind_socket, serve_api
from nightcrew.core.errors import Conflict, Denied, Unavailable
from tests.adapters.api.serving import connected, messages, served
from tests.fakes.service import FakeService
from tests.waiting import eventually


async def test_only_the_owner_may_connect(tmp_path):
    async with served(FakeService(), tmp_path / "home" / "api.sock") as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_folder_that_is_too_open_is_closed(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    async with served(FakeService(), folder / "api.sock"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_the_socket_of_a_dead_service_is_replaced(tmp_path):
    path = tmp_path / "home" / "api.sock"
    bind_socket(path).close()
    assert path.is_socket()
    assert not answers(path)
    async with served(FakeService(), path), connected(path) as client:
        assert (await client.get("/status")).status_code == 200


async def test_a_living_service_is_left_alone(tmp_path):
    async with served(FakeService(), tmp_path / "home" / "api.sock") as path:
        before = path.stat().st_ino
        with pytest.raises(Conflict, match="serves this home already"):
            await serve_api(FakeService(), path)
        assert path.stat().st_ino == before
        async with connected(path) as client:
            assert (await client.get("/status")).status_code == 200


def test_a_file_in_the_way_is_not_removed(tmp_path):
    path = tmp_path / "api.sock"
    path.write_text("mine")
    with pytest.raises(Conflict, match="not a socket"):
        bind_socket(path)
    assert path.read_text() == "mine"


def test_a_link_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Denied, match="not a folder of its own"):
        bind_socket(tmp_path / "home" / "api.sock")


def test_a_path_too_long_for_a_socket_is_said(tmp_path):
    with pytest.raises((Unavailable, OSError), match="too long"):
        bind_socket(tmp_path / ("x" * 120) / "api.sock")


async def test_the_socket_is_gone_afterwards(tmp_path):
    async with served(FakeService(), tmp_path / "home" / "api.sock") as path:
        pass
    assert not path.exists()


async def test_a_removed_socket_is_made_anew(tmp_path):
    async with served(FakeService(), tmp_path / "home" / "api.sock") as path:
        path.unlink()
        await eventually(path.is_socket, what="the socket is there again")
        async with connected(path) as client:
            assert (await client.get("/status")).status_code == 200


async def test_ending_ends_open_streams_cleanly_and_idle_connections_too(tmp_path):
    service, path = FakeService(), tmp_path / "home" / "api.sock"
    async with asyncio.timeout(20), connected(path) as client:
        async with served(service, path):
            await client.get("/status")
            response = await client.send(client.build_request("GET", "/events/live"), stream=True)
            stream = messages(response)
            assert (await anext(stream))[0] == "ready"
        assert not path.exists()
        assert [message async for message in stream] == []
    assert service.listeners == []


async def test_serving_leaves_the_process_its_signal_handlers(tmp_path):
    import signal

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    async with served(FakeService(), tmp_path / "home" / "api.sock") as path, connected(path) as client:
        await client.get("/status")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_something_that_accepts_is_alive(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "x.sock"))
        assert not answers(tmp_path / "x.sock")
        listening.listen()
        assert answers(tmp_path / "x.sock")
    assert not answers(tmp_path / "nothing.sock")

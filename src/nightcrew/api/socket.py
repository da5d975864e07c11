"""The Unix socket that the API listens on: made by us, closed to everybody else, and served until cancelled.

uvicorn would give a socket that it makes itself mode 0666; so it is handed a bound one. The folder is 0700 before the
socket exists in it, so there is no moment at which another user could connect.
"""

import asyncio
import contextlib
import logging
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from nightcrew.api.app import DEFAULT_PACE, create_app
from nightcrew.api.pace import Pace
from nightcrew.core.errors import Conflict, Denied, Unavailable
from nightcrew.ports.service import Service
from nightcrew.serving.asgi import make_config

_GRACE_S = 2
_CONNECT_S = 2.0
_BACKLOG = 128
_log = logging.getLogger(__name__)


def bind_socket(path: Path) -> socket.socket:
    """A bound socket at `path`, mode 0600, in a folder of mode 0700. What a dead service left there is replaced.

    Raises Conflict if a living one answers there, Denied if the folder belongs to somebody else, and Unavailable if
    the place cannot be used.
    """
    try:
        _ensure_folder(path.parent)
        _clear_stale(path)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            bound.bind(str(path))
            path.chmod(0o600)
            bound.listen(_BACKLOG)
            bound.setblocking(False)
        except BaseException:
            bound.close()
            raise
    except OSError as error:
        raise Unavailable(f"cannot listen on {path}: {error.strerror or error}") from error
    return bound


def answers(path: Path) -> bool:
    """Whether something listens at `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except TimeoutError:
            return True
    return True


async def serve_api(service: Service, socket_path: Path, *, pace: Pace = DEFAULT_PACE) -> None:
    """Serve the API at `socket_path` until cancelled; then live streams end, answers in flight have two seconds, and
    the socket is removed. A socket that somebody removed is made anew. Errors: those of `bind_socket`."""
    while True:
        app = create_app(service, pace=pace)
        bound = bind_socket(socket_path)
        mark = _mark(socket_path)
        try:
            await _serve_until_removed(app, bound, path=socket_path, mark=mark)
        finally:
            bound.close()
            if mark is not None and _mark(socket_path) == mark:
                socket_path.unlink(missing_ok=True)
        _log.warning("the api's socket was removed; making it anew at %s", socket_path)


async def _serve_until_removed(app: FastAPI, bound: socket.socket, *, path: Path, mark: tuple[int, int] | None) -> None:
    server = _Server(
        make_config(app, grace_s=_GRACE_S),
        closing=app.state.closing,
        path=path,
        mark=mark,
        watch_s=app.state.pace.watch_s,
    )
    try:
        await server.serve(sockets=[bound])
    except asyncio.CancelledError:
        app.state.closing.set()
        if server.started:
            await server.shutdown(sockets=[bound])
        raise


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: ending is the service's affair. It stops by itself when the socket's path
    is no longer ours."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        closing: asyncio.Event,
        path: Path,
        mark: tuple[int, int] | None,
        watch_s: float,
    ) -> None:
        super().__init__(config)
        self._closing = closing
        self._path = path
        self._mark = mark
        self._watch_s = watch_s

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while _mark(self._path) == self._mark and not self.should_exit:
            await asyncio.sleep(self._watch_s)
            await self.on_tick(0)
        self._closing.set()


def _ensure_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        raise Denied(f"{folder} is not a folder of its own; remove it")
    if facts.st_uid != os.getuid():
        raise Denied(f"{folder} belongs to another user; remove it, or use another home")
    if stat.S_IMODE(facts.st_mode) != 0o700:
        folder.chmod(0o700)


def _clear_stale(path: Path) -> None:
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(facts.st_mode):
        raise Conflict(f"{path} is in the way and is not a socket; remove it")
    if answers(path):
        raise Conflict(f"another Nightcrew serves this home already (it answers at {path})")
    path.unlink(missing_ok=True)


def _mark(path: Path) -> tuple[int, int] | None:
    """What tells our socket from another at the same place."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino

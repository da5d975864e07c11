"""An ASGI app on a socket, served until cancelled. Apart from `port`, so that who does not serve need not load a
server."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

_GRACE_S = 1


async def serve_app(app: Callable[..., Any], bound: socket.socket, *, connections: int) -> None:
    """Serve until cancelled, then close the socket. `connections` more than that at once are turned away."""
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            limit_concurrency=connections,
            timeout_graceful_shutdown=_GRACE_S,
        )
    )
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[bound]), name="port")
            try:
                await asyncio.shield(serving)
            except asyncio.CancelledError:
                # Uvicorn, when cancelled itself, would leave its port open.
                server.should_exit = True
                await serving
                raise
    finally:
        bound.close()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: ending is the service's affair."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

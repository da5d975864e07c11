"""An ASGI app on a socket, served until cancelled. Apart from `port`, so that who does not serve need not load a
server."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from nightcrew.serving.guard import HEADERS, App, Guarded

_GRACE_S = 1


def make_config(app: App, *, grace_s: int, connections: int | None = None) -> uvicorn.Config:
    """How every app here is served: guarded, over plain HTTP, and deaf to what headers say of who asks."""
    return uvicorn.Config(
        Guarded(app),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        headers=list(HEADERS),
        limit_concurrency=connections,
        timeout_graceful_shutdown=grace_s,
    )


async def serve_app(app: App, bound: socket.socket, *, connections: int) -> None:
    """Serve until cancelled, then close the socket. `connections` more than that at once are turned away."""
    server = _Server(make_config(app, grace_s=_GRACE_S, connections=connections))
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

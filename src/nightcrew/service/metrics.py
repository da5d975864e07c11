"""Measures and health over TCP as a part of the service: on where the settings say so, and on anew when they change."""

import asyncio

import structlog

from nightcrew.engine.loop import Loop
from nightcrew.ports.service import Service
from nightcrew.service.wanted import until_changed
from nightcrew.service.webhook import split_address
from nightcrew.serving.port import bind

CONNECTIONS = 32


class MetricsPart:
    """Listens where `metrics.listen` says. `address` is where it does now, empty: nowhere."""

    def __init__(self, loop: Loop, service: Service) -> None:
        self._loop = loop
        self._service = service
        self.address = ""

    async def run(self) -> None:
        """Serve for ever. Raises what keeps it from listening."""
        while True:
            if wanted := self._wanted:
                await self._serve(wanted)
            else:
                await until_changed(lambda: self._wanted, wanted)

    async def _serve(self, wanted: str) -> None:
        from nightcrew.api.health import create_metrics_app
        from nightcrew.serving.asgi import serve_app

        app = create_metrics_app(self._service)
        host, port = split_address(wanted)
        bound = bind(host, port)
        shown = f"[{host}]" if ":" in host else host
        try:
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(serve_app(app, bound, connections=CONNECTIONS), name="metrics port")
                self.address = f"http://{shown}:{bound.getsockname()[1]}"
                structlog.get_logger("service").info("measures", address=self.address)
                await until_changed(lambda: self._wanted, wanted)
                serving.cancel()
        finally:
            bound.close()
            self.address = ""

    @property
    def _wanted(self) -> str:
        return self._loop.means.settings.upkeep.metrics.listen

"""The webhook listener as a part of the service: on where the settings say so, and on anew when they change."""

import asyncio
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.secret import resolve_secret
from nightcrew.config.spelling import find_spelling
from nightcrew.core.errors import NightcrewError
from nightcrew.core.model.forge import WebhookSettings
from nightcrew.engine.loop import Loop
from nightcrew.engine.nudge import Nudges
from nightcrew.forges.github.webhook.listener import PATH, Listener, Tally
from nightcrew.ports.clock import Clock
from nightcrew.ports.service import WebhookStatus
from nightcrew.service.wanted import until_changed
from nightcrew.serving.port import bind

CONNECTIONS = 64


class WebhookPart:
    """Listens, and has the loop look at a project that a delivery is about."""

    def __init__(self, home: Home, clock: Clock, *, loop: Loop, learn: Callable[[Iterable[str]], None]) -> None:
        """`learn` is told the secret."""
        self._home = home
        self._clock = clock
        self._loop = loop
        self._learn = learn
        self._nudges = Nudges(self._look)
        self._tally = Tally()
        self._listener: Listener | None = None
        self._address = ""
        self._problem = ""

    def status(self) -> WebhookStatus | None:
        """How it is; None if it is not asked for."""
        if not self._wanted.listen:
            return None
        tally = self._listener.tally if self._listener is not None else self._tally
        return WebhookStatus(self._address, tally.taken, tally.refused, tally.last_at, self._problem)

    async def run(self) -> None:
        """Serve for ever. Raises what keeps it from listening."""
        while True:
            wanted = self._wanted
            try:
                if wanted.listen:
                    await self._serve(wanted)
                else:
                    await until_changed(lambda: self._wanted, wanted)
            except NightcrewError as error:
                self._problem = str(error)
                raise

    async def _serve(self, wanted: WebhookSettings) -> None:
        from nightcrew.serving.asgi import serve_app

        secret = read_secret(self._home, wanted)
        self._learn([secret])
        host, port = split_address(wanted.listen)
        bound = bind(host, port)
        shown = f"[{host}]" if ":" in host else host
        self._listener = Listener(secret, clock=self._clock, tell=self._tell, tally=self._tally)
        try:
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(
                    serve_app(self._listener, bound, connections=CONNECTIONS), name="webhook listener"
                )
                self._address, self._problem = f"http://{shown}:{bound.getsockname()[1]}{PATH}", ""
                await until_changed(lambda: self._wanted, wanted)
                serving.cancel()
        finally:
            bound.close()
            self._tally, self._listener, self._address = self._listener.tally, None, ""

    @property
    def _wanted(self) -> WebhookSettings:
        return self._loop.means.settings.webhook

    def _tell(self, name: str) -> bool:
        project = find_spelling(name, self._loop.means.settings.projects)
        if project is not None:
            self._nudges.nudge(project)
        return project is not None

    def _look(self, project: str) -> None:
        self._loop.means.observer.tell(project)
        self._loop.wake()


def read_secret(home: Home, wanted: WebhookSettings) -> str:
    """The secret that deliveries are signed with. ConfigError if there is none."""
    return resolve_secret(wanted.secret, "webhook.secret", environ=load_environment(), base=home.root).reveal()


def split_address(listen: str) -> tuple[str, int]:
    """Host and port of `host:port`."""
    parts = urlsplit(f"//{listen}")
    return parts.hostname or "", parts.port or 0

"""The embedded local forge, as a forge of the service: in this process, without a port, over its own folder."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github.forge import GitHubForge
from nightcrew.forges.github.token import Token
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.inprocess import BASE_URL, transport_to
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Store
from nightcrew.service.clock import SystemClock

OWNER = "local"
"""The account that owns the repositories of a local forge, and that Nightcrew and its person share there."""


@dataclass(frozen=True, slots=True)
class OpenLocalForge:
    """An open local forge, and the token of its owner."""

    forge: LocalForge
    token: Token

    def settings(self, given: ForgeSettings) -> ForgeSettings:
        """The settings of a forge of kind `local`, with its address, and no pacing."""
        return replace(given, base_url=BASE_URL, write_interval_s=0.0)

    def client(self, given: ForgeSettings, *, store: Store, clock: Clock, jitter: Callable[[], float]) -> GitHubForge:
        """A client that reaches it in this process."""
        return GitHubForge(
            self.settings(given),
            token=self.token,
            store=store,
            clock=clock,
            jitter=jitter,
            transport=transport_to(self.forge),
        )


@asynccontextmanager
async def open_local_forge(folder: Path) -> AsyncIterator[OpenLocalForge]:
    """The forge of a home, its owner's account made at first."""
    clock = SystemClock()
    forge = LocalForge(folder, clock=clock.now)
    try:
        token = owner_token(folder)
        forge.ensure_user(OWNER, token=token)
        yield OpenLocalForge(forge, Token(token, "the local forge's own token"))
    finally:
        forge.close()


def owner_token(folder: Path) -> str:
    """The owner's token, made once and kept in the forge's folder for its owner's eyes only."""
    path = folder / "token"
    if not path.is_file():
        path.touch(mode=0o600)
        path.write_text(f"nightcrew_local_{secrets.token_hex(20)}\n", encoding="ascii")
    return path.read_text(encoding="ascii").strip()

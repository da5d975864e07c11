"""The forges that are in use: each is opened once, with the token that it has then, and closed at the end."""

import random  # noqa: TID251 - the home of randomness
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Self

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.secret import resolve_secret
from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.model.forge import AppSettings, ForgeSettings
from nightcrew.core.model.settings import Settings
from nightcrew.engine.ports import Forge
from nightcrew.forges.github.app import AppKey, AppToken, sign_claim
from nightcrew.forges.github.forge import GitHubForge
from nightcrew.forges.github.token import Token, resolve_token
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Store

Credentials = tuple[Token, ...] | AppKey
"""Who we are on a forge: by one token or several, or as an App."""


class Connections:
    """Open forges by name. A forge stays as it was opened until the service ends."""

    def __init__(self, home: Home, *, store: Store, clock: Clock, learn: Callable[[Iterable[str]], None]) -> None:
        """`learn` is told the token of each forge that is opened later than at the start."""
        self._home = home
        self._learn = learn
        self._store = store
        self._clock = clock
        self._stack = AsyncExitStack()
        self._forges: dict[str, Forge] = {}
        self._opened: dict[str, ForgeSettings] = {}

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    @property
    def opened(self) -> Mapping[str, ForgeSettings]:
        """How each was opened."""
        return dict(self._opened)

    @property
    def forges(self) -> Mapping[str, Forge]:
        return dict(self._forges)

    async def ensure(self, settings: Settings) -> None:
        """Open what is used by now and not open yet; ConfigError, with nothing opened, if a token is missing."""
        lacking = [forge for forge in used_forges(settings) if forge.name not in self._forges]
        tokens = await resolve_tokens(self._home, lacking)
        self._learn(list_secrets(tokens))
        await self.open(settings, tokens)

    async def open(self, settings: Settings, tokens: Mapping[str, Credentials]) -> None:
        """Open the forges that are used and not open yet."""
        jitter = random.SystemRandom().random
        for used in used_forges(settings):
            if used.name in self._forges:
                continue
            if used.kind == "local":
                from nightcrew.service.local import open_local_forge

                local = await self._stack.enter_async_context(open_local_forge(self._home.forge))
                forge = local.client(used, store=self._store, clock=self._clock, jitter=jitter)
            else:
                found = tokens[used.name]
                token = self._app_token(found, used) if isinstance(found, AppKey) else found
                forge = GitHubForge(used, token=token, store=self._store, clock=self._clock, jitter=jitter)
            self._stack.push_async_callback(forge.close)
            self._forges[used.name] = Forge(forge, forge, forge.boards, forge.quota)
            self._opened[used.name] = used

    def _app_token(self, key: AppKey, used: ForgeSettings) -> AppToken:
        jitter = random.SystemRandom().random
        return AppToken(key, base_url=used.base_url, clock=self._clock, jitter=jitter, learn=self._learn)


def used_forges(settings: Settings) -> tuple[ForgeSettings, ...]:
    """The forges that some project uses."""
    return tuple(settings.forges[name] for name in sorted({project.forge for project in settings.projects.values()}))


async def resolve_tokens(home: Home, forges: Iterable[ForgeSettings]) -> Mapping[str, Credentials]:
    """The tokens, or the key of an App, for each of them that needs some; ConfigError if one is missing."""
    return {
        forge.name: resolve_app(forge, forge.app, home=home)
        if forge.app is not None
        else await resolve_each(forge, home=home)
        for forge in forges
        if forge.kind != "local"
    }


async def resolve_each(forge: ForgeSettings, *, home: Home) -> tuple[Token, ...]:
    """All tokens of a forge, each once; ConfigError if one is missing."""
    environment, base = load_environment(), home.root
    references = (forge.token, *forge.tokens) if forge.token or not forge.tokens else forge.tokens
    one_each = [replace(forge, token=reference) for reference in references]
    tokens = [await resolve_token(one, environment=environment, base=base) for one in one_each]
    return tuple({token.principal: token for token in tokens}.values())


def list_secrets(tokens: Mapping[str, Credentials]) -> tuple[str, ...]:
    """All that is secret about them."""
    each = (one for found in tokens.values() for one in (found if isinstance(found, tuple) else (found,)))
    return tuple(secret for one in each for secret in one.secrets())


def resolve_app(forge: ForgeSettings, app: AppSettings, *, home: Home) -> AppKey:
    """The App with its private key; ConfigError if there is none, or what is there cannot be one."""
    where = f"forges.{forge.name}.app.private_key"
    key = resolve_secret(app.private_key, where, environ=load_environment(), base=home.root).reveal()
    try:
        sign_claim(key, {"iss": str(app.id)})
    except ValueError:
        hint = "download one from the App's settings; it begins with -----BEGIN RSA PRIVATE KEY-----"
        raise ConfigError([Problem(where, "is not a private key in PEM form", hint)]) from None
    return AppKey(app.id, app.installation, key)

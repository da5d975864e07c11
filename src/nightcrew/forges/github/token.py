"""The credentials for a GitHub server: where they come from, and how they are kept out of every text.

Resolved once at the start. The environment comes in as a mapping; nothing here reads this process's own.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.process import NotFound, TimedOut, clean_environment, run_process

MASK = "***"
OWN_VARIABLE = "NIGHTCREW_GITHUB_TOKEN"
GITHUB_VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN")
ENTERPRISE_VARIABLES = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
GH_TIMEOUT_S = 10.0

# What `gh` needs to find its own login, beyond the base variables.
_GH_VARIABLES = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DBUS_SESSION_BUS_ADDRESS")


class Credential(Protocol):
    """Who we are on a forge. `principal` tells two of them apart and gives nobody away."""

    @property
    def principal(self) -> str: ...

    def mask(self, text: str) -> str:
        """`text` without the secret in it."""
        ...

    async def current(self) -> str:
        """What a request carries now. Errors: Denied, Unavailable."""
        ...

    def drop(self, refused: str) -> bool:
        """The forge refused this one. Whether `current` may give another."""
        ...


@dataclass(frozen=True, slots=True)
class Token:
    """A secret and, in words, where it came from. Its repr shows only the latter."""

    value: str = field(repr=False)
    source: str

    @property
    def principal(self) -> str:
        """A short digest: tells two tokens apart and tells nobody the token."""
        return hashlib.sha256(b"nightcrew principal\0" + self.value.encode()).hexdigest()[:24]

    def mask(self, text: str) -> str:
        """`text` without the secret in it."""
        return text.replace(self.value, MASK)

    def secrets(self) -> tuple[str, ...]:
        return (self.value,)

    async def current(self) -> str:
        return self.value

    def drop(self, refused: str) -> bool:  # noqa: ARG002 - there is only this one
        return False


async def resolve_token(settings: ForgeSettings, *, environment: Mapping[str, str], base: Path = Path()) -> Token:
    """The token for this forge: the configured reference (`env:NAME`, or `file:PATH` from `base`), else the usual
    variables, else what `gh auth token` says for the same host. Variables meant for github.com are not given to
    another server.

    Raises ConfigError with what to do when there is none, or when what was found cannot be one.
    """
    if settings.token:
        return _checked(_referenced(settings, environment, base), settings)
    host = _web_host(settings.base_url)
    usual = GITHUB_VARIABLES if host == "github.com" or host.endswith(".ghe.com") else ENTERPRISE_VARIABLES
    for name in (OWN_VARIABLE, *usual):
        if environment.get(name, "").strip():
            return _checked(Token(environment[name].strip(), f"variable {name}"), settings)
    found = await _ask_gh(host, environment)
    if found is not None:
        return _checked(found, settings)
    raise _problem(settings, f"no token for {host}", f"set {OWN_VARIABLE}, or run `gh auth login --hostname {host}`")


def _referenced(settings: ForgeSettings, environment: Mapping[str, str], base: Path) -> Token:
    kind, _, name = settings.token.partition(":")
    if kind == "env" and name:
        value = environment.get(name, "").strip()
        if not value:
            raise _problem(settings, f"variable {name} is not set", f"set {name} before starting Nightcrew")
        return Token(value, f"variable {name}")
    if kind == "file" and name:
        path = base / Path(name).expanduser()
        try:
            return Token(path.read_text(encoding="utf-8").strip(), f"file {path}")
        except (OSError, UnicodeDecodeError) as error:
            raise _problem(settings, f"cannot read {path}", "write the token alone into that file") from error
    raise _problem(settings, "the token must be a reference", "write env:NAME or file:PATH, never the token itself")


async def _ask_gh(host: str, environment: Mapping[str, str]) -> Token | None:
    extra = {name: environment[name] for name in (*_GH_VARIABLES, "PATH", "HOME") if name in environment}
    try:
        done = await run_process(
            ["gh", "auth", "token", "--hostname", host], env=clean_environment(extra=extra), timeout_s=GH_TIMEOUT_S
        )
    except (NotFound, TimedOut):
        return None
    return Token(done.text.strip(), "`gh auth token`") if done.ok and done.text.strip() else None


def _checked(token: Token, settings: ForgeSettings) -> Token:
    if not token.value or not token.value.isascii() or any(not "!" <= letter <= "~" for letter in token.value):
        raise _problem(settings, f"what {token.source} holds is not a token", "it must be one word of plain letters")
    return token


def _web_host(base_url: str) -> str:
    host = urlsplit(base_url).hostname or ""
    return host.removeprefix("api.") if host == "api.github.com" or host.endswith(".ghe.com") else host


def _problem(settings: ForgeSettings, what: str, hint: str) -> ConfigError:
    return ConfigError([Problem(f"forges.{settings.name}.token", what, hint)])

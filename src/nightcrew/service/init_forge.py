"""Who Nightcrew will be on GitHub, found out by `nightcrew init`: the person's own token, or a GitHub App with its key.

Nothing is written here but the copy of a key, which is made once all is known to work.
"""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import Denied, Invalid
from nightcrew.core.model.forge import AppSettings, ForgeSettings
from nightcrew.forges.github.app import AppKey, AppToken, Grant
from nightcrew.forges.github.setup import Access, ensure_labels, inspect_access
from nightcrew.forges.github.token import Token, resolve_token
from nightcrew.ports.tracker import LabelSpec
from nightcrew.service.clock import SystemClock
from nightcrew.service.connection import resolve_app

NEEDED = {
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "statuses": "write",
    "checks": "read",
    "actions": "read",
    "metadata": "read",
}
"""What an App must have been granted (docs/github-app.md)."""
_LEVELS = {"read": 1, "write": 2, "admin": 3}


@dataclass(frozen=True, slots=True)
class AppAnswer:
    """An App as a person names it: its id, where its key lies, and its installation if they say which."""

    id: int
    key_file: Path
    installation: int | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What was found: the settings to write down, what may be done with the repository, and labels that were made."""

    settings: ForgeSettings
    access: Access
    labels: tuple[str, ...]
    key_file: Path | None = None


def ask_app(keyboard: TextIO) -> AppAnswer | None:
    """The App that a person wants Nightcrew to be; None for their own token, which is what an empty answer means, or
    nobody there."""
    if not keyboard.isatty():
        return None
    number = _ask(keyboard, "Be a GitHub App (docs/github-app.md)? Its id, or nothing to use your own token: ")
    if not number:
        return None
    if not number.isascii() or not number.isdigit() or len(number) > 15:
        raise Invalid(f"{number!r} is not the id of an App; nothing was written")
    return AppAnswer(int(number), Path(_ask(keyboard, "Where is its private key (the .pem file)? ")).expanduser())


def _ask(keyboard: TextIO, question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    return keyboard.readline().strip()


async def check_forge(settings: ForgeSettings, home: Home, project: str, labels: dict[str, LabelSpec]) -> Identity:
    """As the settings say: with the person's own token, or as the App that is named there."""
    if settings.app is None:
        token = await resolve_token(settings, environment=load_environment(), base=home.root)
        return await _check(settings, token, project, labels)
    app = _token_of(resolve_app(settings, settings.app, home=home), settings)
    try:
        return await _check_app(settings, app, project, labels)
    finally:
        await app.close()


async def check_app(settings: ForgeSettings, app: AppAnswer, project: str, labels: dict[str, LabelSpec]) -> Identity:
    """As an App: its key is tried, its installation looked up, and what that was granted compared with what is needed.
    The reference to the key is one into the home, where the key is not yet."""
    given = AppSettings(app.id, app.installation or 0, f"file:{app.key_file.absolute()}")
    key = resolve_app(settings, given, home=Home(app.key_file.absolute().parent))
    installation = app.installation or await _find_installation(key, settings, project)
    token = _token_of(replace(key, installation=installation), settings)
    try:
        identity = await _check_app(settings, token, project, labels)
    finally:
        await token.close()
    written = AppSettings(app.id, installation, f"file:{key_name(app.id)}")
    return replace(identity, settings=replace(settings, app=written), key_file=app.key_file.absolute())


async def _check_app(settings: ForgeSettings, app: AppToken, project: str, labels: dict[str, LabelSpec]) -> Identity:
    grant = await app.fetch_grant()
    lacking = list_lacking(grant)
    if lacking:
        raise Denied(f"App {app.key.id} was not granted {', '.join(lacking)}; see docs/github-app.md")
    token = Token(grant.token, f"App {app.key.id}")
    return await _check(settings, token, project, labels, app_login=await app.fetch_login())


async def _find_installation(key: AppKey, settings: ForgeSettings, project: str) -> int:
    token = _token_of(key, settings)
    try:
        return await token.fetch_installation(project)
    finally:
        await token.close()


def _token_of(key: AppKey, settings: ForgeSettings) -> AppToken:
    return AppToken(key, base_url=settings.base_url, clock=SystemClock(), jitter=lambda: 0.5)


def list_lacking(grant: Grant) -> tuple[str, ...]:
    """What an App that is granted this has not been granted, of what is needed."""
    return tuple(f"{name}={level}" for name, level in NEEDED.items() if not _covers(grant.permissions.get(name), level))


def _covers(given: str | None, needed: str) -> bool:
    return _LEVELS.get(given or "", 0) >= _LEVELS[needed]


async def _check(
    settings: ForgeSettings, token: Token, project: str, labels: dict[str, LabelSpec], *, app_login: str = ""
) -> Identity:
    access = await inspect_access(settings, token=token, project=project, app_login=app_login)
    if access.problems:
        raise Invalid("; ".join(access.problems))
    made = await ensure_labels(settings, token=token, project=access.slug, labels=labels)
    return Identity(settings, access, made)


def key_name(app: int) -> str:
    """The file in the home that an App's key is kept in."""
    return f"app-{app}.pem"


def keep_key(identity: Identity, home: Home) -> str:
    """Copy the key of an App into the home, for its owner's eyes only. Words about it; empty if there is none."""
    app, source = identity.settings.app, identity.key_file
    if app is None or source is None:
        return ""
    target = home.root / key_name(app.id)
    if source == target.absolute():
        target.chmod(0o600)
        return f"The App's key is {target}."
    text = source.read_text(encoding="utf-8")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(target)
    return f"The App's key was copied to {target}; {source} is not needed any more."

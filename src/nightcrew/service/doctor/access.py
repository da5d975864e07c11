"""What each token may do with each repository."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, replace

from nightcrew.config.home import Home
from nightcrew.core.errors import NightcrewError, Unavailable
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.settings import Settings
from nightcrew.engine.doctor.ward import Found
from nightcrew.forges.github.app import AppToken
from nightcrew.forges.github.setup import inspect_access
from nightcrew.forges.github.token import Token
from nightcrew.service.clock import SystemClock
from nightcrew.service.connection import resolve_app, resolve_each, used_forges
from nightcrew.service.init_forge import list_lacking

AT_ONCE = 6


@dataclass(frozen=True, slots=True)
class Pass:
    """A token to look with, the account of the App that it is of (empty: it is a person's), and what that App was not
    granted."""

    token: Token
    app_login: str = ""
    lacking: tuple[str, ...] = ()


async def look_at_access(home: Home, settings: Settings) -> AsyncIterator[Found]:
    """First who we are on each forge, then each repository. A forge that does not answer, or a token that is not to be
    had, leaves the repositories unknown."""
    passes: dict[str, tuple[Pass, ...]] = {}
    for forge in used_forges(settings):
        if forge.kind == "local":
            continue
        try:
            passes[forge.name] = await _passes(home, forge)
        except Unavailable as error:
            yield Found(Diagnosis(f"forge {forge.name}", Level.UNKNOWN, str(error)))
        except NightcrewError as error:
            yield Found(Diagnosis(f"forge {forge.name}", Level.ERROR, str(error)))
    gate = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        looks = [group.create_task(_look(settings, slug, passes, gate)) for slug in settings.projects]
    for look in looks:
        for diagnosis in look.result():
            yield Found(diagnosis)


async def _look(
    settings: Settings, slug: str, passes: Mapping[str, tuple[Pass, ...]], gate: asyncio.Semaphore
) -> list[Diagnosis]:
    forge = settings.forges[settings.projects[slug].forge]
    if forge.kind == "local":
        return [Diagnosis(slug, Level.OK, "on the local forge")]
    if forge.name not in passes:
        return [Diagnosis(slug, Level.UNKNOWN, f"what may be done there is not known: see forge {forge.name}")]
    async with gate:
        found = [diagnosis async for diagnosis in _inspect(forge, slug, passes[forge.name])]
    usable = any(diagnosis.level is Level.OK for diagnosis in found)
    # One of several tokens that cannot be used stops nobody.
    return [_as_spare(diagnosis) for diagnosis in found] if usable else found


def _as_spare(diagnosis: Diagnosis) -> Diagnosis:
    return replace(diagnosis, level=Level.WARNING) if diagnosis.level is Level.ERROR else diagnosis


async def _inspect(forge: ForgeSettings, slug: str, passes: Iterable[Pass]) -> AsyncIterator[Diagnosis]:
    """What each token of a forge may do with a repository."""
    several = list(passes)
    for one in several:
        of = f" ({one.token.source})" if len(several) > 1 else ""
        try:
            access = await inspect_access(forge, token=one.token, project=slug, app_login=one.app_login)
        except Unavailable as error:
            yield Diagnosis(slug, Level.UNKNOWN, f"{error}{of}")
            continue
        except NightcrewError as error:
            yield Diagnosis(slug, Level.ERROR, f"{error}{of}", f"see forges.{forge.name}.token in docs/config.md")
            continue
        problems = (*access.problems, *(f"the App was not granted {what}" for what in one.lacking))
        if not problems:
            words = f"{access.login} may push; the default branch is {access.default_branch}{of}"
            yield Diagnosis(slug, Level.OK, words)
        for problem in problems:
            yield Diagnosis(slug, Level.ERROR, f"{problem}{of}", "README.md, “Use it on GitHub”, says what is needed")
        for note in access.notes:
            yield Diagnosis(slug, Level.WARNING, f"{note}{of}")


async def _passes(home: Home, forge: ForgeSettings) -> tuple[Pass, ...]:
    if forge.app is None:
        return tuple(Pass(token) for token in await resolve_each(forge, home=home))
    key = resolve_app(forge, forge.app, home=home)
    app = AppToken(key, base_url=forge.base_url, clock=SystemClock(), jitter=lambda: 0.5)
    try:
        grant = await app.fetch_grant()
        token = Token(grant.token, "the App's installation")
        return (Pass(token, await app.fetch_login(), list_lacking(grant)),)
    finally:
        await app.close()

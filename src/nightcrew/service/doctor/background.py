"""The service that the operating system keeps: whether what it is started with is still right. launchd and systemd give
it the PATH of its file, not that of a terminal."""

import shutil
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace

from nightcrew.config.home import Home
from nightcrew.core.errors import Conflict, Missing, NightcrewError, PortError
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.settings import Settings
from nightcrew.engine.doctor.ward import Found, Mend
from nightcrew.service.background.control import find_keeper, install_anew
from nightcrew.service.background.plan import draw_plan
from nightcrew.service.background.secret import find_unseen

ANEW = "nightcrew service install"


async def look_at_background(
    home: Home, settings: Settings, environ: Mapping[str, str], *, programs: Iterable[str], system: str = ""
) -> AsyncIterator[Found]:
    """`programs` are those that the service has to find; `system` is the operating system, this one if empty."""
    try:
        plan = await draw_plan(home, {**environ, "SHELL": ""}, programs=())
        keeper = find_keeper(plan, environ, system=system)
    except Missing as error:
        yield Found(Diagnosis("background", Level.UNKNOWN, str(error)))
        return
    try:
        text = keeper.file.read_text(encoding="utf-8")
    except FileNotFoundError:
        yield Found(Diagnosis("background", Level.OK, f"not installed; to have it run after each login: {ANEW}"))
        return
    except (OSError, UnicodeDecodeError) as error:
        yield Found(Diagnosis("background", Level.UNKNOWN, f"{keeper.file} cannot be read: {error}"))
        return
    mend = _mend(home, environ, system)
    if keeper.is_stale(text):
        words = f"{keeper.file} names a program that is not there any more"
        yield Found(Diagnosis("background", Level.ERROR, words, ANEW), mend)
        return
    path = keeper.find_path(text)
    lost = [one for one in dict.fromkeys(programs) if not _finds(one, path) and _finds(one, environ.get("PATH", ""))]
    if lost:
        words = f"{', '.join(lost)} is not found on the PATH that the service is started with: {path or 'none'}"
        yield Found(Diagnosis("background PATH", Level.ERROR, words, ANEW), mend)
    else:
        yield Found(Diagnosis("background PATH", Level.OK, f"what is needed is on that of {keeper.file}"))
    for words in await find_unseen(home, settings, replace(plan, path=path), environ=environ):
        yield Found(Diagnosis("background variables", Level.WARNING, words))


def _finds(program: str, path: str) -> bool:
    return shutil.which(program, path=path) is not None


def _mend(home: Home, environ: Mapping[str, str], system: str) -> Mend:
    """As `service install` does it: the file is written, and the service started again; agents go on."""

    async def install() -> str:
        try:
            answer = await install_anew(home, environ, system=system)
        except PortError:
            raise
        except NightcrewError as error:
            raise Conflict(str(error)) from error
        return str(answer["words"])

    return install

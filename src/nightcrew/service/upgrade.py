"""`nightcrew upgrade`: is there a newer version, and if so: copy the database, install it, start the service again.

What the newest version is, and where it comes from, is pip's to say, with its own settings. Agents at work go on, and
the service that starts takes them over. Only a person upgrades, never an agent.
"""

import asyncio
import importlib.metadata
import importlib.util
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import Conflict, Missing, PortError, Unavailable
from nightcrew.core.neutral import one_line
from nightcrew.process import clean_environment, run_process
from nightcrew.service.background.control import find_keeper
from nightcrew.service.background.plan import draw_plan
from nightcrew.service.clock import SystemClock
from nightcrew.service.lock import find_holder
from nightcrew.service.ours import refuse_agents
from nightcrew.store.backup import back_up
from nightcrew.version import VERSION

NAME = "nightcrew"
CHECK_TIMEOUT_S, INSTALL_TIMEOUT_S = 120.0, 900.0
_PASSED_ON = ("PIP_", "SSL_", "REQUESTS_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "XDG_CONFIG_HOME",
              "XDG_CONFIG_DIRS", "VIRTUAL_ENV")  # fmt: skip


def run_upgrade(home: Path, *, only_check: bool, as_json: bool) -> int:
    """Say what there is, or upgrade to it."""
    environ = load_environment()
    refuse_agents(environ)
    answer = asyncio.run(_upgrade(Home(home), environ, only_check=only_check))
    sys.stdout.write(json.dumps(answer, indent=2) + "\n" if as_json else answer["words"] + "\n")
    return 0


async def _upgrade(home: Home, environ: Mapping[str, str], *, only_check: bool) -> dict[str, Any]:
    newest = await fetch_newest(environ)
    answer = {"installed": VERSION, "newest": newest or VERSION, "upgraded": False, "backup": ""}
    if newest is None:
        return {**answer, "words": f"nightcrew {VERSION} is the newest"}
    if only_check:
        return {**answer, "words": f"nightcrew {newest} is there ({VERSION} is installed); run: nightcrew upgrade"}
    _refuse_checkout()
    copy = back_up(home.database, now=SystemClock().now()) if home.database.is_file() else None
    await _pip(environ, "install", "--upgrade", "--quiet", f"{NAME}=={newest}", timeout_s=INSTALL_TIMEOUT_S)
    restarted = await _restart(home, environ)
    kept = f"; the database as it was is {copy}" if copy is not None else ""
    return {
        **answer,
        "upgraded": True,
        "backup": str(copy or ""),
        "words": f"nightcrew {newest} is installed in the place of {VERSION}; {restarted}{kept}",
    }


async def fetch_newest(environ: Mapping[str, str]) -> str | None:
    """The version that pip would install in the place of this one; None if this is the newest. Missing where pip is
    not there, Unavailable if its index does not answer: asked to upgrade, pip takes silence for being up to date, so it
    is asked first as if nothing was installed."""
    if await _ask_pip(environ, "--ignore-installed") == VERSION:
        return None
    return await _ask_pip(environ, "--upgrade")


async def _ask_pip(environ: Mapping[str, str], how: str) -> str | None:
    """The version that pip would install so."""
    words = ("install", "--dry-run", "--quiet", "--no-deps", how, "--report", "-", NAME)
    said = await _pip(environ, *words, timeout_s=CHECK_TIMEOUT_S)
    try:
        chosen = [item["metadata"] for item in json.loads(said)["install"]]
        return next((str(one["version"]) for one in chosen if one["name"].lower() == NAME), None)
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable("pip gave an answer that cannot be read; is it older than 22.2?") from error


async def _pip(environ: Mapping[str, str], *words: str, timeout_s: float) -> str:
    if importlib.util.find_spec("pip") is None:
        raise Missing(f"there is no pip beside {sys.executable}; upgrade with: {_other_way()}")
    extra = {name: value for name, value in environ.items() if name.upper().startswith(_PASSED_ON)}
    argv = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    done = await run_process(argv, env=clean_environment(extra=extra), timeout_s=timeout_s)
    if not done.ok:
        last = [line for line in done.complaint.splitlines() if line.strip()][-1:]
        raise Unavailable(f"pip says: {one_line(last[0] if last else f'exit code {done.returncode}', 300)}")
    return done.text


def _other_way() -> str:
    """How an installation without pip of its own was most likely made."""
    place = Path(sys.prefix).parts
    if "uv" in place and shutil.which("uv"):
        return f"uv tool upgrade {NAME}"
    return f"pipx upgrade {NAME}" if "pipx" in place else "the program that installed it"


def _refuse_checkout() -> None:
    """Conflict for an installation that runs from a checkout: pip would put a package in its place."""
    try:
        origin = importlib.metadata.distribution(NAME).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        origin = '{"dir_info": {"editable": true}}'
    if origin and json.loads(origin).get("dir_info", {}).get("editable"):
        raise Conflict("this Nightcrew runs from a checkout: update that, then run: nightcrew service restart")


async def _restart(home: Home, environ: Mapping[str, str]) -> str:
    """Have the installed service run the new version. What cannot be done is said: the upgrade itself is made."""
    holder = find_holder(home.lock)
    try:
        keeper = find_keeper(await draw_plan(home, {**environ, "SHELL": ""}, programs=()), environ)
        if keeper.file.exists() and (await keeper.load_state()).pid:
            await keeper.restart()
            return "the service was started again, and agents at work went on"
    except PortError as error:
        return f"start the service again yourself, as that failed ({error})"
    return f"start the service (pid {holder}) again, which is still the old one" if holder else "no service runs"

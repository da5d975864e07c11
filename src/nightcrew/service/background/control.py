"""The commands of `nightcrew service`. Each may be given twice: what is so already is said and left."""

import asyncio
import json
import os
import platform
import pwd
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError, Conflict, Missing, NightcrewError
from nightcrew.service.adapter import load_agents
from nightcrew.service.background.keeper import Keeper, State
from nightcrew.service.background.launchd import LaunchAgent
from nightcrew.service.background.plan import Plan, draw_plan
from nightcrew.service.background.secret import find_unseen
from nightcrew.service.background.systemd import UserUnit
from nightcrew.service.load import load
from nightcrew.service.lock import find_holder
from nightcrew.service.ours import refuse_agents
from nightcrew.service.tool import TOOLS

Answer = dict[str, Any]
"""What came of a command, as JSON shows it; `words` and `hints` are for a person."""


def run_background(home: Path, *, verb: str, dry_run: bool = False, as_json: bool = False) -> int:
    """`install`, `start`, `stop`, `restart`, `status` or `uninstall` of the service of this home."""
    environ = load_environment()
    if verb != "status" and not dry_run:
        refuse_agents(environ)
    answer = asyncio.run(_perform(Home(home), environ, verb=verb, dry_run=dry_run))
    if as_json:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(answer)) + "\n")
    return 3 if verb == "status" and not answer["running"] else 0


def run_background_log(home: Path, *, lines: int, follow: bool) -> int:
    """`logs`: this process becomes the command that shows what the manager kept of the service's output."""
    environ = load_environment()
    argv = asyncio.run(_argv(Home(home), environ, lines=lines, follow=follow))
    try:
        os.execvpe(argv[0], argv, environ)  # noqa: S606 - an argv list of our own; no shell
    except OSError as error:
        raise Missing(f"cannot start {argv[0]}: {error.strerror}") from error


async def _argv(home: Home, environ: Mapping[str, str], *, lines: int, follow: bool) -> tuple[str, ...]:
    keeper = find_keeper(await draw_plan(home, {**environ, "SHELL": ""}, programs=()), environ)
    _require_installed(keeper)
    return keeper.log_argv(lines=lines, follow=follow)


def find_keeper(plan: Plan, environ: Mapping[str, str], *, system: str = "") -> Keeper:
    """That of this operating system. Missing if there is none that is known here."""
    system = system or platform.system()
    if system == "Darwin":
        return LaunchAgent(plan, environ, uid=os.getuid())
    if system == "Linux":
        return UserUnit(plan, environ, user=pwd.getpwuid(os.getuid()).pw_name)
    raise Missing(f"no service manager of {system} is known here: run `nightcrew serve` by other means")


async def _perform(home: Home, environ: Mapping[str, str], *, verb: str, dry_run: bool) -> Answer:
    if verb == "install":
        return await install_anew(home, environ, dry_run=dry_run)
    keeper = find_keeper(await draw_plan(home, {**environ, "SHELL": ""}, programs=()), environ)
    if verb == "uninstall":
        return await uninstall(keeper, dry_run=dry_run)
    if verb == "status":
        return await tell_status(keeper, home)
    return await turn(keeper, home, verb=verb)


async def install_anew(home: Home, environ: Mapping[str, str], *, dry_run: bool = False, system: str = "") -> Answer:
    """Install it as things are now: the PATH is that of the login shell, with the folders of what is needed."""
    settings = load(home).apply()
    programs = [*TOOLS, *(agent.program for agent in load_agents(settings).values())]
    plan = await draw_plan(home, environ, programs=programs)
    warnings = await find_unseen(home, settings, plan, environ=environ)
    return await install(find_keeper(plan, environ, system=system), home, dry_run=dry_run, warnings=warnings)


async def install(keeper: Keeper, home: Home, *, dry_run: bool, warnings: tuple[str, ...] = ()) -> Answer:
    """Write the file, and have the manager start the service now and after each login."""
    text = keeper.render()
    if dry_run:
        return {"words": f"would write {keeper.file}:", "file": str(keeper.file), "text": text, "hints": warnings}
    is_changed = _read(keeper.file) != text
    await _refuse_other(keeper, home)
    home.ensure()
    if is_changed:
        _write(keeper.file, text)
    await keeper.adopt(is_changed=is_changed)
    words = "installed, and running" if is_changed else "was installed already, and is running"
    return {"words": f"{words}: {keeper.file}", "file": str(keeper.file), "hints": (*warnings, *await keeper.hints())}


async def uninstall(keeper: Keeper, *, dry_run: bool) -> Answer:
    """Stop the service, and take away what `install` wrote. The home stays as it is, and agents at work go on."""
    if not keeper.file.exists() and not (await keeper.load_state()).is_known:
        return {"words": "was not installed", "file": str(keeper.file)}
    if dry_run:
        return {"words": f"would stop the service and remove {keeper.file}", "file": str(keeper.file)}
    await keeper.forget()
    keeper.file.unlink(missing_ok=True)
    await keeper.settle()
    return {"words": f"uninstalled: {keeper.file}", "file": str(keeper.file)}


async def turn(keeper: Keeper, home: Home, *, verb: str) -> Answer:
    """Start, stop or restart what is installed."""
    _require_installed(keeper)
    before = await keeper.load_state()
    if verb == "restart":
        load(home).apply()  # what is wrong is said before the service that runs is ended
    if verb == "stop":
        await keeper.stop()
        return {"words": "stopped; agents at work go on" if before.pid else "was not running"}
    if verb == "start" and before.pid:
        return {"words": f"is running already, pid {before.pid}"}
    await _refuse_other(keeper, home)
    await (keeper.restart() if verb == "restart" else keeper.start())
    return {"words": "started" if verb == "start" else "started again; agents at work went on"}


async def tell_status(keeper: Keeper, home: Home) -> Answer:
    """How it is, and what is odd about it."""
    text = _read(keeper.file)
    state = await keeper.load_state() if text is not None else State(is_known=False)
    holder = find_holder(home.lock)
    hints: list[str] = []
    if text is not None and keeper.is_stale(text):
        hints.append(f"{keeper.file} names a program that is not there any more; run: nightcrew service install")
    if holder and holder != state.pid:
        hints.append(f"a Nightcrew that was started by hand runs on {home.root}, pid {holder}")
    installed = "installed" if text is not None else "not installed"
    words = f"{installed}; {state.words or 'not running'}" + (f", pid {state.pid}" if state.pid else "")
    if text is not None:
        hints += _wrong(home)
    return {
        "words": words,
        "installed": text is not None,
        "running": bool(state.pid),
        "pid": state.pid,
        "file": str(keeper.file),
        "hints": tuple(hints),
    }


def _wrong(home: Home) -> list[str]:
    try:
        load(home).apply()
    except (ConfigError, Missing) as error:
        return [f"the configuration is wrong: {line}" for line in str(error).splitlines()]
    return []


async def _refuse_other(keeper: Keeper, home: Home) -> None:
    """Conflict if another process serves this home: the one that is started here would fail over and over."""
    holder = find_holder(home.lock)
    if holder and holder != (await keeper.load_state()).pid:
        raise Conflict(f"another Nightcrew (pid {holder}) already runs on {home.root}; stop it first")


def _require_installed(keeper: Keeper) -> None:
    if not keeper.file.exists():
        raise Missing(f"the service is not installed ({keeper.file} is not there); run: nightcrew service install")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NightcrewError(f"{path} cannot be read: {error.strerror or error}") from error


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.chmod(0o644)
        draft.replace(path)
    except OSError as error:
        raise NightcrewError(f"{path} cannot be written: {error.strerror or error}") from error


def _lines(answer: Answer) -> list[str]:
    text = answer.get("text", "").rstrip("\n")
    return [answer["words"], *([text] if text else []), *(f"note: {hint}" for hint in answer.get("hints", ()))]

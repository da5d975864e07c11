"""`nightcrew doctor`: what is missing or wrong on this machine, each with what to do about it."""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nightcrew.config.check import Surroundings, check_settings
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError, NightcrewError, PortError
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.settings import Settings
from nightcrew.core.neutral import one_line
from nightcrew.forges.github.app import AppToken
from nightcrew.forges.github.setup import inspect_access
from nightcrew.forges.github.token import Token
from nightcrew.process import run_process
from nightcrew.service.adapter import load_agents
from nightcrew.service.clock import SystemClock
from nightcrew.service.connection import resolve_app, resolve_each
from nightcrew.service.load import load
from nightcrew.service.sandbox import Sandboxes, find_bounds, list_unseen
from nightcrew.service.tool import TOOLS, install_command

LEAST_FREE_BYTES = 2_000_000_000
VERSION_TIMEOUT_S = 15.0
LEAST_VERSION = {"git": (2, 38), "tmux": (3, 2)}
"""git merge-tree --write-tree came with 2.38, tmux's read-only flag of attach with 3.2."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `level` is ok, warning or error; `hint` says what to do."""

    what: str
    level: str
    words: str
    hint: str = ""


def run_doctor(
    home: Path, *, as_json: bool, service: Sequence[str] = (), webhook: tuple[str, str] | None = None
) -> int:
    """Look at everything. `service` are the problems that the running service names, `webhook` the level and words of
    its listener. Exit code 1 if something is an error."""
    findings = asyncio.run(_all(Home(home)))
    if webhook is not None:
        findings.append(Finding("webhooks", *webhook))
    findings += [Finding("service", "warning", one_line(words, 500)) for words in service]
    if as_json:
        plain = [{"what": f.what, "level": f.level, "words": f.words, "hint": f.hint} for f in findings]
        sys.stdout.write(json.dumps({"findings": plain}, indent=2) + "\n")
    else:
        for finding in findings:
            hint = f" → {finding.hint}" if finding.hint else ""
            sys.stdout.write(f"{finding.level:<8} {finding.what}: {finding.words}{hint}\n")
    return 1 if any(finding.level == "error" for finding in findings) else 0


async def _all(home: Home) -> list[Finding]:
    findings = [finding async for finding in _tools()]
    findings.append(_disk(home))
    try:
        settings = load(home).apply()
    except ConfigError as error:
        return [*findings, *(Finding(p.where, "error", p.what, p.hint) for p in error.problems)]
    except NightcrewError as error:
        return [*findings, Finding("config", "error", str(error))]
    findings.append(Finding("config", "ok", str(home.config)))
    findings += [finding async for finding in _agents(home, settings)]
    findings += [finding async for finding in _projects(home, settings)]
    return findings


async def _tools() -> AsyncIterator[Finding]:
    for tool in TOOLS:
        if shutil.which(tool) is None:
            yield Finding(tool, "error", "cannot be found", install_command((tool,)))
            continue
        flag = "-V" if tool == "tmux" else "--version"
        done = await run_process([tool, flag], timeout_s=VERSION_TIMEOUT_S)
        words = done.text.strip() or done.complaint
        if not done.ok or _version(words) < LEAST_VERSION[tool]:
            least = ".".join(map(str, LEAST_VERSION[tool]))
            yield Finding(tool, "error", f"{words} is too old", f"{least} or newer is needed")
        else:
            yield Finding(tool, "ok", words)


def _version(words: str) -> tuple[int, ...]:
    """The first two numbers of a version; a development build without any counts as new."""
    found = re.search(r"(\d+)\.(\d+)", words)
    return (int(found[1]), int(found[2])) if found else (99,)


def _disk(home: Home) -> Finding:
    folder = home.root if home.root.is_dir() else home.root.parent
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    words = f"{free / 1e9:.1f} GB free at {folder}"
    if free < LEAST_FREE_BYTES:
        return Finding("disk", "warning", words, "worktrees and run folders need room; free some")
    return Finding("disk", "ok", words)


async def _agents(home: Home, settings: Settings) -> AsyncIterator[Finding]:
    try:
        agents = load_agents(settings)
    except ConfigError as error:
        for problem in error.problems:
            yield Finding(problem.where, "error", problem.what, problem.hint)
        return
    missing = {f"agents.{name}" for name, agent in agents.items() if shutil.which(agent.program) is None}
    around = Surroundings(environ=load_environment(), base=home.root)
    for problem in check_settings(settings, around):
        if problem.where not in missing:  # that is said below, as an error
            yield Finding(problem.where, "warning", problem.what, problem.hint)
    for problem in list_unseen(settings):
        yield Finding(problem.where, "warning", problem.what, problem.hint)
    for name, bound in (await find_bounds(settings, agents, Sandboxes())).items():
        yield Finding(f"sandbox of {name}", bound.level, bound.words, bound.hint)
    for name, agent in agents.items():
        found = shutil.which(agent.program)
        if found is None:
            yield Finding(f"agent {name}", "error", f"{agent.program} is not on PATH", "install it, or take it out")
            continue
        try:
            done = await run_process([agent.program, "--version"], timeout_s=VERSION_TIMEOUT_S)
            words = done.text.strip().splitlines()
            yield Finding(f"agent {name}", "ok", f"{found} {words[0] if words else ''}".strip())
        except PortError as error:
            yield Finding(f"agent {name}", "warning", f"{found} does not tell its version: {error}")


async def _projects(home: Home, settings: Settings) -> AsyncIterator[Finding]:
    for slug, project in settings.projects.items():
        forge = settings.forges[project.forge]
        if forge.kind == "local":
            yield Finding(slug, "ok", "on the local forge")
            continue
        found = [one async for one in _access(home, forge, slug)]
        usable = any(finding.level == "ok" for finding in found)
        for finding in found:
            # One of several tokens that cannot be used stops nobody.
            is_spare = usable and finding.level == "error"
            yield replace(finding, level="warning") if is_spare else finding


async def _access(home: Home, forge: ForgeSettings, slug: str) -> AsyncIterator[Finding]:
    """What each token of a forge may do with a repository."""
    try:
        credentials = await _credentials(home, forge)
    except NightcrewError as error:
        yield Finding(slug, "error", str(error))
        return
    for token, login in credentials:
        of = f" ({token.source})" if len(credentials) > 1 else ""
        try:
            access = await inspect_access(forge, token=token, project=slug, app_login=login)
        except NightcrewError as error:
            yield Finding(slug, "error", f"{error}{of}")
            continue
        if not access.problems:
            yield Finding(slug, "ok", f"{access.login} may push; the default branch is {access.default_branch}{of}")
        for problem in access.problems:
            yield Finding(slug, "error", f"{problem}{of}")
        for note in access.notes:
            yield Finding(slug, "warning", f"{note}{of}")


async def _credentials(home: Home, forge: ForgeSettings) -> tuple[tuple[Token, str], ...]:
    """Tokens to look with, and the account of the App that they are of, if they are of one."""
    if forge.app is None:
        return tuple((token, "") for token in await resolve_each(forge, home=home))
    key = resolve_app(forge, forge.app, home=home)
    app = AppToken(key, base_url=forge.base_url, clock=SystemClock(), jitter=lambda: 0.5)
    try:
        return ((Token(await app.current(), "the App's installation"), await app.fetch_login()),)
    finally:
        await app.close()

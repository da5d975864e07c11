"""Which sandbox works on this machine, and what bounds each agent: for those who start runs, and in words for
people."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightcrew.config.environment import load_environment
from nightcrew.config.secret import is_reference
from nightcrew.core.errors import Problem
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import (
    AgentSettings,
    Network,
    SandboxKind,
    Settings,
)
from nightcrew.ports.agent import Agent, AgentJob
from nightcrew.sandbox import Found, Unusable, Usable, find_sandbox, find_tool_binds
from nightcrew.sandbox.bubblewrap import Bubblewrap


class Sandboxes:
    """Each kind is tried until it works once; then that holds, so that nothing later can talk a run out of it."""

    def __init__(self) -> None:
        self._found: dict[SandboxKind, Usable] = {}
        self._lock = asyncio.Lock()

    async def find(self, kind: SandboxKind) -> Found:
        async with self._lock:
            if kind in self._found:
                return self._found[kind]
            found = await find_sandbox(kind)
            if isinstance(found, Usable):
                self._found[kind] = found
            return found


@dataclass(frozen=True, slots=True)
class Bound:
    """What bounds one agent: in words, and if something is to be done about it, what and how bad it is."""

    words: str
    level: str = "ok"
    hint: str = ""


async def find_bounds(settings: Settings, agents: Mapping[str, Agent], sandboxes: Sandboxes) -> dict[str, Bound]:
    """By the name of the agent, of those in use."""
    return {name: await _bound(settings, settings.agents[name], agents[name], sandboxes) for name in agents}


async def _bound(settings: Settings, keys: AgentSettings, agent: Agent, sandboxes: Sandboxes) -> Bound:
    kind = keys.sandbox or settings.sandbox
    found = await sandboxes.find(kind)
    restricted = keys.network is not Network.OPEN
    if isinstance(found, Unusable):
        if kind is not SandboxKind.AUTO or restricted:
            asked = f"sandbox: {kind.value}" if kind is not SandboxKind.AUTO else f"network: {keys.network.value}"
            return Bound(f"{asked} cannot be kept, so it is never started: {found.reason}", "error", found.hint)
        return Bound(f"no sandbox, only its CLI's own rules: {found.reason}", "warning", found.hint)
    if found.means is None:
        if restricted:
            return Bound(f"network: {keys.network.value} needs a sandbox", "error", "set `sandbox: auto`")
        return Bound("no sandbox, as is set: only its CLI's own rules", "warning", "set `sandbox: auto`")
    needs = agent.needs(_any_job(keys))
    hosts = tuple(dict.fromkeys((*needs.hosts, *keys.hosts)))
    if keys.network is Network.VENDOR and not isinstance(found.means, Bubblewrap):
        return Bound("network: vendor needs bwrap, so it is never started", "error", "set `network: open` or `none`")
    if keys.network is Network.VENDOR and not hosts:
        return Bound("network: vendor needs the servers of the model, and has none", "error", "set `hosts`")
    nested = needs.nested
    if nested and found.is_root:
        words = f"it starts a sandbox of its own ({nested}), which root cannot inside {found.kind.value}"
        return Bound(words, "error", "take that option out, run Nightcrew as another user, or set `sandbox: none`")
    shown = {Network.OPEN: "the network is open", Network.VENDOR: f"only {', '.join(hosts)} are reached"}
    return Bound(f"in {found.kind.value}, {shown.get(keys.network, 'no network')}")


def _any_job(keys: AgentSettings) -> AgentJob:
    """A job to ask with what an agent needs; it is not done."""
    nowhere = Path("/nowhere")
    # A value that is a reference is a secret, and no address.
    env = {name: "" if is_reference(value) else value for name, value in keys.env.items()}
    return AgentJob(Role.AUTHOR, "", nowhere, nowhere, nowhere / "report.json", "", "", env)


def find_sandbox_problems(bounds: Mapping[str, Bound]) -> tuple[Problem, ...]:
    """What keeps agents from being started at all, as problems of the configuration."""
    return tuple(
        Problem(f"agents.{name}", bound.words, bound.hint) for name, bound in bounds.items() if bound.level == "error"
    )


def list_unseen(settings: Settings) -> Iterable[Problem]:
    """Paths that are let in and are not there, and programs of the person's home that no agent sees."""
    keys: dict[str, tuple[str, ...]] = {
        **{f"agents.{name}.sandbox_read": agent.sandbox_read for name, agent in settings.agents.items()},
        **{f"projects[{slug}].sandbox_read": project.sandbox_read for slug, project in settings.projects.items()},
    }
    for where, paths in keys.items():
        for path in paths:
            if not Path(path).exists():
                yield Problem(where, f"there is no {path}")
    environ = load_environment()
    home, seen = Path(environ.get("HOME") or "/nowhere"), [Path(path) for paths in keys.values() for path in paths]
    seen += [bind.path for bind in find_tool_binds(home, search=environ.get("PATH", ""))]
    for text in dict.fromkeys(environ.get("PATH", "").split(os.pathsep)):
        folder = Path(text)
        hidden = folder.is_absolute() and folder.is_relative_to(home) and folder.is_dir()
        if hidden and not any(folder.is_relative_to(path) for path in seen):
            yield Problem(
                "sandbox", f"programs in {folder} are not seen in it", "name what projects need in sandbox_read"
            )

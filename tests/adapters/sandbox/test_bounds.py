"""What people are told bounds each agent, and what keeps one from ever being started."""

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.core.model.settings import (
    AgentSettings,
    Network,
    ProjectSettings,
    SandboxKind,
    Settings,
)
from nightcrew.sandbox import Found, Unusable, Usable
from nightcrew.sandbox.bubblewrap import Bubblewrap
from nightcrew.sandbox.seatbelt import Seatbelt
from nightcrew.service.sandbox import Bound, Sandboxes, find_bounds, find_sandbox_problems, list_unseen

WORKS = Usable(SandboxKind.BWRAP, Bubblewrap("/usr/bin/bwrap"))
AS_ROOT = Usable(SandboxKind.BWRAP, Bubblewrap("/usr/bin/bwrap", uid=1000))
MAC = Usable(SandboxKind.SEATBELT, Seatbelt("/usr/bin/sandbox-exec"))
LACKS = Unusable(SandboxKind.BWRAP, "bwrap is not installed", "install it")


class Machine(Sandboxes):
    """One on which `found` is found."""

    def __init__(self, found: Found) -> None:
        super().__init__()
        self.found = found

    async def find(self, kind: SandboxKind) -> Found:
        return Usable(kind) if kind is SandboxKind.NONE else self.found


async def bound(found: Found, *, own: bool = False, **keys: object) -> Bound:
    settings = AgentSettings("claude", "claude", options={"sandbox": own}, **keys)  # type: ignore[arg-type]  # by name
    agents = {"claude": ClaudeAgent(settings)}
    return (await find_bounds(Settings(agents={"claude": settings}), agents, Machine(found)))["claude"]


@pytest.mark.parametrize(
    ("found", "keys", "level", "words"),
    [
        (WORKS, {}, "ok", "in bwrap, the network is open"),
        (WORKS, {"network": Network.NONE}, "ok", "in bwrap, no network"),
        (WORKS, {"own": True}, "ok", "in bwrap"),
        (WORKS, {"network": Network.VENDOR, "hosts": ("a.example",)}, "ok", "only api.anthropic.com"),
        (
            WORKS,
            {"network": Network.VENDOR, "env": {"ANTHROPIC_BASE_URL": "http://localhost:4000"}},
            "ok",
            "only localhost:4000 are reached",
        ),
        (MAC, {"network": Network.VENDOR}, "error", "network: vendor needs bwrap"),
        (LACKS, {"network": Network.VENDOR}, "error", "network: vendor cannot be kept, so it is never started"),
        (AS_ROOT, {}, "ok", "in bwrap"),
        (AS_ROOT, {"own": True}, "error", "a sandbox of its own (option sandbox), which root cannot inside bwrap"),
        (AS_ROOT, {"own": True, "sandbox": SandboxKind.NONE}, "warning", "no sandbox, as is set"),
        (LACKS, {}, "warning", "no sandbox, only its CLI's own rules: bwrap is not installed"),
        (LACKS, {"sandbox": SandboxKind.BWRAP}, "error", "sandbox: bwrap cannot be kept, so it is never started"),
        (LACKS, {"network": Network.NONE}, "error", "network: none cannot be kept, so it is never started"),
        (WORKS, {"sandbox": SandboxKind.NONE, "network": Network.NONE}, "error", "network: none needs a sandbox"),
    ],
)
async def test_what_bounds_an_agent(found, keys, level, words):
    told = await bound(found, **keys)
    assert told.level == level
    assert words in told.words
    assert bool(told.hint) is (level != "ok")
    assert len(find_sandbox_problems({"claude": told})) == (level == "error")


async def test_what_worked_once_is_held_to():
    sandboxes = Sandboxes()
    first = await sandboxes.find(SandboxKind.NONE)
    assert await sandboxes.find(SandboxKind.NONE) is first


def test_paths_that_are_not_there_are_told(tmp_path):
    (tmp_path / "there").touch()
    read = (str(tmp_path / "there"), str(tmp_path / "not"))
    agents = {"claude": AgentSettings("claude", "claude", sandbox_read=read)}
    projects = {"a/b": ProjectSettings("a/b", sandbox_read=read)}
    told = [(one.where, one.what) for one in list_unseen(Settings(agents=agents, projects=projects))]
    assert [one for one in told if one[0] != "sandbox"] == [
        ("agents.claude.sandbox_read", f"there is no {tmp_path / 'not'}"),
        ("projects[a/b].sandbox_read", f"there is no {tmp_path / 'not'}"),
    ]

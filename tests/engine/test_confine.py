"""What is started around an agent, a setup command and a check, and what is never started without a sandbox."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.failures import FailureKind
from nightcrew.core.model.run import Role, RunState
from nightcrew.core.model.settings import (
    AgentSettings,
    Network,
    ProjectSettings,
    SandboxKind,
    Settings,
    SetupCommand,
)
from nightcrew.engine.effect.confine import confine_checks, confine_setup
from nightcrew.ports.agent import Access, HomePath, Needs
from nightcrew.sandbox import Found, Unusable, Usable
from nightcrew.sandbox.bubblewrap import Bubblewrap
from nightcrew.sandbox.seatbelt import Seatbelt
from tests.engine.part import AGENTS, PROJECT
from tests.engine.stage import Stage

WORKS = Usable(SandboxKind.BWRAP, Bubblewrap("/usr/bin/bwrap"))
AS_ROOT = Usable(SandboxKind.BWRAP, Bubblewrap("/usr/bin/bwrap", uid=1000))
MAC = Usable(SandboxKind.SEATBELT, Seatbelt("/usr/bin/sandbox-exec"))
LACKS = Unusable(SandboxKind.BWRAP, "bwrap is not installed", "install it")


def make(root: Path, found: Found = WORKS, *, sandbox=SandboxKind.AUTO, project=None, **agent) -> Stage:
    """A service in a home of its own below `root`; every agent has the settings `agent`."""

    async def find(kind: SandboxKind) -> Found:
        return Usable(SandboxKind.NONE) if kind is SandboxKind.NONE else found

    (root / "person").mkdir()
    (root / "crew").mkdir()
    agents = {name: AgentSettings(name, "fake", **agent) for name in AGENTS}
    stage = Stage(
        root / "crew",
        projects=(project or ProjectSettings(PROJECT),),
        settings=Settings(agents=agents, sandbox=sandbox),
        guards={"find_sandbox": find},
    )
    # The real ones are made by git; what is looked at is the packed refs.
    stage.workspace.git_folders(PROJECT, 1).common.mkdir(parents=True)
    return stage


def mounts(argv: tuple[str, ...]) -> dict[str, str]:
    """How each path of a bubblewrap line is there; the last counts."""
    found: dict[str, str] = {}
    for index, word in enumerate(argv):
        if word in ("--bind", "--ro-bind", "--ro-bind-try", "--bind-try"):
            found[argv[index + 2]] = word.removesuffix("-try").removeprefix("--")
        elif word == "--tmpfs":
            found[argv[index + 1]] = "empty"
    return found


def sandboxes(stage: Stage) -> list[object]:
    return [event.data.get("sandbox") for event in stage.store.events if event.kind == "run.started"]


async def test_an_author_gets_its_workspace_and_its_part_of_the_run_folder(tmp_path):
    stage = make(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    [spec] = stage.runtime.started
    assert spec.argv[0] == "/usr/bin/bwrap"
    assert spec.argv[-2:] == (stage.agents["ann"].program, "--go")
    assert sandboxes(stage) == ["bwrap"]
    seen = mounts(spec.argv)
    folders = stage.workspace.git_folders(PROJECT, key.number)
    assert seen[str(stage.home)] == seen[str(tmp_path / "person")] == seen[str(folders.common)] == "empty"
    assert seen[str(stage.workspace.path(PROJECT, key.number))] == seen[str(folders.own)] == "bind"
    assert seen[str(spec.folder / "agent")] == "bind"
    assert str(spec.folder) not in seen
    assert seen[str(folders.common / "config")] == seen[str(folders.borrowed)] == "ro-bind"
    assert "TMPDIR" not in spec.env


async def test_a_reviewer_gets_its_checkout_and_no_repository(tmp_path):
    stage = make(tmp_path)
    key = stage.file()
    await stage.until(lambda: any(run.role is Role.REVIEWER for run in stage.store.runs.values()))
    await stage.until(lambda: len(stage.runtime.started) == 2)
    seen = mounts(stage.runtime.started[1].argv)
    assert seen[str(stage.runtime.started[1].cwd)] == "bind"
    assert seen[str(stage.runtime.started[1].cwd / ".git")] == "ro-bind"
    assert str(stage.workspace.path(PROJECT, key.number)) not in seen
    assert str(stage.workspace.git_folders(PROJECT, key.number).common) not in seen


async def test_what_an_adapter_and_a_person_name_is_let_in(tmp_path):
    tool = tmp_path / "tool"
    tool.mkdir()
    project = ProjectSettings(PROJECT, sandbox_read=(str(tool),))
    stage = make(tmp_path, project=project, sandbox_read=(str(tmp_path / "more"),), network=Network.NONE)
    (tmp_path / "person" / ".ann").mkdir()
    for agent in stage.agents.values():
        agent.needed = Needs((HomePath(".ann/", Access.WRITE),), read=(tmp_path / "book",))
    stage.file()
    await stage.settle(play=False)
    [spec] = stage.runtime.started
    seen = mounts(spec.argv)
    assert seen[str(tmp_path / "person" / ".ann")] == "bind"
    assert {seen[str(path)] for path in (tool, tmp_path / "more", tmp_path / "book")} == {"ro-bind"}
    assert "--unshare-net" in spec.argv


async def test_a_model_is_reached_by_a_proxy_and_nothing_else(tmp_path):
    stage = make(tmp_path, network=Network.VENDOR, hosts=("registry.example",))
    stage.agents["ann"].needed = Needs(hosts=("api.example",))
    stage.file()
    await stage.settle(play=False)
    [spec] = stage.runtime.started
    words = list(spec.argv)
    outside, bwrap, inside = words.index("outside"), words.index("/usr/bin/bwrap"), words.index("inside")
    assert outside < bwrap < inside
    assert json.loads(words[outside + 1]) == {
        "socket": str(spec.folder / "proxy" / "proxy.sock"),
        "hosts": ["api.example", "registry.example"],
        "log": str(spec.folder / "network.log"),
    }
    assert words[inside + 2 :] == ["--", "ann-cli", "--go"]
    assert "--unshare-net" in words
    assert (mounts(spec.argv)["/run/nightcrew"], str(spec.folder / "proxy") in words) == ("ro-bind", True)


@pytest.mark.parametrize(
    ("found", "settings", "words"),
    [
        (LACKS, {"sandbox": SandboxKind.BWRAP}, "sandbox: bwrap cannot be had: bwrap is not installed; install it"),
        (LACKS, {"network": Network.NONE}, "network: none of ann needs a sandbox, and bwrap is not installed"),
        (LACKS, {"network": Network.VENDOR}, "network: vendor of ann needs a sandbox, and bwrap is not installed"),
        (WORKS, {"network": Network.VENDOR}, "network: vendor needs the servers of the model"),
        (MAC, {"network": Network.VENDOR, "hosts": ("a.example",)}, "network: vendor needs bwrap"),
        (WORKS, {"sandbox": SandboxKind.NONE, "network": Network.NONE}, "needs a sandbox, and there is none"),
        (WORKS, {"sandbox_read": ("CREW/config.yml",)}, "stays out of every sandbox"),
        (WORKS, {"sandbox_read": ("SOURCE/secret",)}, "stays out of every sandbox"),
        (WORKS, {"sandbox_read": ("LINK",)}, "stays out of every sandbox"),
        (WORKS, {"sandbox_read": ("TOP",)}, "the whole home is in it"),
        (WORKS, {"sandbox_read": ("TOP/../x",)}, "cannot be a path of a sandbox"),
    ],
)
async def test_nothing_is_started_without_the_sandbox_that_was_asked_for(tmp_path, found, settings, words):
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "crew")
    places = {"CREW": tmp_path / "crew", "SOURCE": source, "LINK": tmp_path / "link", "TOP": tmp_path}
    if paths := settings.get("sandbox_read"):
        for name, place in places.items():
            paths = tuple(path.replace(name, str(place)) for path in paths)
        settings = {**settings, "sandbox_read": paths}
    stage = make(tmp_path, found, project=ProjectSettings(PROJECT, source=str(source)), **settings)
    key = stage.file()
    await stage.settle()
    assert stage.runtime.started == []
    run = stage.runs(key)[0]
    assert run.state is RunState.ENDED
    assert run.outcome is not None
    assert run.outcome.failure is not None
    assert run.outcome.failure.kind is FailureKind.CRASH
    assert words in run.outcome.failure.detail


async def test_root_starts_no_cli_with_a_sandbox_of_its_own_in_another(tmp_path):
    stage = make(tmp_path, AS_ROOT)
    for agent in stage.agents.values():
        agent.needed = Needs(nested="option sandbox")
    key = stage.file()
    await stage.settle()
    assert stage.runtime.started == []
    outcome = stage.runs(key)[0].outcome
    assert outcome is not None
    assert "ann starts a sandbox of its own (option sandbox)" in str(outcome.failure)


async def test_auto_goes_without_and_says_so(tmp_path):
    stage = make(tmp_path, LACKS)
    stage.file()
    await stage.settle(play=False)
    assert stage.runtime.started[0].argv == ("ann-cli", "--go")
    assert sandboxes(stage) == ["none: bwrap is not installed"]


async def test_an_agent_may_have_another_sandbox_than_the_rest(tmp_path):
    stage = make(tmp_path, sandbox=SandboxKind.BWRAP)
    agents = {**stage.settings.agents, "ann": replace(stage.settings.agents["ann"], sandbox=SandboxKind.NONE)}
    stage.settings = replace(stage.settings, agents=agents)
    stage.start()
    stage.file()
    await stage.settle(play=False)
    assert stage.runtime.started[0].argv == ("ann-cli", "--go")
    assert sandboxes(stage) == ["none"]


async def test_setup_and_checks_have_one_too(tmp_path):
    project = ProjectSettings(PROJECT, setup=(SetupCommand(("true",)),), network=Network.NONE)
    stage = make(tmp_path, project=project)
    key = stage.file()
    await stage.settle(play=False)
    tree = stage.workspace.path(PROJECT, key.number)
    setup = await confine_setup(stage.means, key, tree)
    argv = tuple(setup.wrap(("npm", "ci")))
    assert argv[-2:] == ("npm", "ci")
    assert "--unshare-net" in argv
    assert setup.env is not None
    caches = Path(setup.env["XDG_CACHE_HOME"])
    assert (mounts(argv)[str(caches)], mounts(argv)[str(tree)]) == ("bind", "bind")
    checkout = stage.home / "checkouts" / "x"
    checks = await confine_checks(stage.means, key, checkout)
    seen = mounts(tuple(checks.wrap(("npm", "test"))))
    assert (seen[str(checkout)], seen[str(checkout / ".git")], str(caches) in seen) == ("bind", "ro-bind", False)


async def test_without_one_they_run_as_they_are(tmp_path):
    stage = make(tmp_path, LACKS)
    key = stage.file()
    await stage.settle(play=False)
    setup = await confine_setup(stage.means, key, stage.home)
    assert (tuple(setup.wrap(("npm", "ci"))), setup.env) == (("npm", "ci"), None)

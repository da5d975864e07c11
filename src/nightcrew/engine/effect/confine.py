"""The sandbox around what is not Nightcrew's own: agents, and the commands of projects. Which one works on this machine
is asked through the ports; what it lets in is decided here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import Network, SandboxKind
from nightcrew.engine.effect.means import Means
from nightcrew.engine.naming import safe_project
from nightcrew.ports.agent import AgentCommand, AgentJob
from nightcrew.ports.workspace import UNCONFINED, Confinement
from nightcrew.sandbox import (
    Bind,
    GitView,
    SandboxSpec,
    Unusable,
    Usable,
    VendorView,
    build_argv,
    checkout_view,
    ensure_home_view,
    ensure_vendor_view,
    ensure_worktree_view,
    find_program_view,
    find_tool_binds,
)

_NOTHING = Usable(SandboxKind.NONE)


@dataclass(frozen=True, slots=True)
class Confined:
    """An agent's command line and environment as they are started; `words` name the sandbox, or say why there is
    none."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    words: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What of its project an agent reaches besides its workspace: further paths to read, and its git."""

    read: tuple[str, ...]
    view: Callable[[], GitView]


NO_REACH = Reach((), lambda: GitView(()))


async def confine_agent(
    means: Means, run: Run, job: AgentJob, *, command: AgentCommand, env: Mapping[str, str], reach: Reach | None = None
) -> Confined:
    """Put an agent's sandbox around its command. `reach` None: that of its task. Invalid if the sandbox that is asked
    for does not work here, or cannot keep what is asked of it: then it is not started at all."""
    settings, adapter = means.settings.agents[run.agent], means.ports.agents[run.agent]
    sandbox, lacking = await _usable(means, settings.sandbox or means.settings.sandbox)
    if sandbox.means is None:
        if settings.network is not Network.OPEN:
            why = lacking or "there is none"
            raise Invalid(f"network: {settings.network.value} of {run.agent} needs a sandbox, and {why}")
        return Confined(command.argv, env, f"none: {lacking}" if lacking else "none")
    needs = adapter.needs(job)
    if needs.nested and sandbox.is_root:
        raise Invalid(f"{run.agent} starts a sandbox of its own ({needs.nested}), which root cannot in another")
    env = _without_tmp(means, env)
    reach = reach or Reach(means.project(run.task).sandbox_read, lambda: _git_view(means, run, job.workspace))
    home, view = _home(env), reach.view()
    program = find_program_view(command.argv[0], search=env.get("PATH", ""))
    own = ensure_home_view(home, needs.home)
    way = VendorView()
    if settings.network is Network.VENDOR:
        way = ensure_vendor_view(means.folder(run), (*needs.hosts, *settings.hosts))
    read = (*settings.sandbox_read, *reach.read)
    spec = SandboxSpec(
        workspace=job.workspace,
        folder=job.folder,
        home=home,
        binds=(
            *(*view.binds, *own.binds, *program.binds, *way.binds, *_readable(means, read)),
            *(*find_tool_binds(home, search=env.get("PATH", "")), *(Bind(path, optional=True) for path in needs.read)),
        ),
        private=(*view.private, *own.private, *_closed(means)),
        links=(*program.links, *way.links),
        network=settings.network,
    )
    argv = (*way.outside, *build_argv(spec, (*way.inside, *command.argv), sandbox))
    return Confined(argv, env, sandbox.kind.value)


async def confine_setup(means: Means, key: TaskKey, workspace: Path) -> Confinement:
    """Around the setup commands of a workspace. Caches of package managers are the project's own, and last."""
    caches = means.ports.home / "caches" / safe_project(key.project)
    caches.mkdir(mode=0o700, parents=True, exist_ok=True)
    folders = means.ports.workspace.git_folders(key.project, key.number)
    view = ensure_worktree_view(common=folders.common, own=folders.own, borrowed=folders.borrowed)
    more = {
        "XDG_CACHE_HOME": str(caches),
        "npm_config_cache": str(caches / "npm"),
        "CARGO_HOME": str(caches / "cargo"),
        "GOMODCACHE": str(caches / "go"),
        "GRADLE_USER_HOME": str(caches / "gradle"),
        "HUSKY": "0",  # git's configuration is read-only, and such an installer of hooks would fail for it
    }
    return await _confinement(means, key, workspace, view=view, folder=caches, more=more)


async def confine_checks(means: Means, key: TaskKey, checkout: Path) -> Confinement:
    """Around the engine checks in a checkout."""
    borrowed = means.ports.workspace.git_folders(key.project, key.number).borrowed
    view = checkout_view(checkout=checkout, borrowed=borrowed)
    return await _confinement(means, key, checkout, view=view, folder=None, more={})


async def _confinement(
    means: Means, key: TaskKey, cwd: Path, *, view: GitView, folder: Path | None, more: Mapping[str, str]
) -> Confinement:
    project = means.project(key)
    sandbox, lacking = await _usable(means, means.settings.sandbox)
    if sandbox.means is None:
        if project.network is not Network.OPEN:
            why = lacking or "there is none"
            raise Invalid(f"network: {project.network.value} of {key.project} needs a sandbox, and {why}")
        return UNCONFINED
    env = {**_without_tmp(means, means.ports.base_env()), **more}
    home, search = _home(env), env.get("PATH", "")
    binds = (*view.binds, *find_tool_binds(home, search=search), *_readable(means, project.sandbox_read))
    private = (*view.private, *_closed(means))

    def wrap(argv: Sequence[str]) -> Sequence[str]:
        program = find_program_view(argv[0], search=search)
        spec = SandboxSpec(
            workspace=cwd,
            folder=folder,
            home=home,
            binds=(*binds, *program.binds),
            private=private,
            links=program.links,
            network=project.network,
        )
        return build_argv(spec, argv, sandbox)

    return Confinement(wrap, env)


async def _usable(means: Means, kind: SandboxKind) -> tuple[Usable, str]:
    """The sandbox, or none and why `auto` found none. Invalid if a certain one was asked for and does not work."""
    found = await means.ports.find_sandbox(kind)
    match found:
        case Usable():
            return found, ""
        case Unusable():
            if kind is not SandboxKind.AUTO:
                raise Invalid(f"sandbox: {kind.value} cannot be had: {found.reason}; {found.hint}")
            return _NOTHING, found.reason


def _git_view(means: Means, run: Run, workspace: Path) -> GitView:
    if run.role is Role.ROUTER:
        return GitView(())
    folders = means.ports.workspace.git_folders(run.task.project, run.task.number)
    if run.role is Role.REVIEWER:
        return checkout_view(checkout=workspace, borrowed=folders.borrowed)
    return ensure_worktree_view(common=folders.common, own=folders.own, borrowed=folders.borrowed)


def _home(env: Mapping[str, str]) -> Path:
    home = env.get("HOME", "")
    if not home:
        raise Invalid("HOME is not set, so that no sandbox can hide it")
    return Path(home)


def _without_tmp(means: Means, env: Mapping[str, str]) -> dict[str, str]:
    """A temporary folder of this machine's is not there in a sandbox; one that the CLI's adapter names is."""
    ours = means.ports.base_env().get("TMPDIR")
    return {name: value for name, value in env.items() if name != "TMPDIR" or value != ours}


def _closed(means: Means) -> tuple[Path, ...]:
    """What stays out wherever it lies: Nightcrew's home, the person's, and the checkouts that files are copied from."""
    home = means.ports.base_env().get("HOME", "")
    sources = (project.source for project in means.settings.projects.values() if project.source)
    paths = dict.fromkeys((means.ports.home, *(Path(path) for path in (home, *sources) if path)))
    return tuple(path for path in paths if path.is_dir() and path != Path("/"))


def _readable(means: Means, paths: Sequence[str]) -> tuple[Bind, ...]:
    """What a person lets in, as far as it is there. Invalid if it is what has to stay out."""
    home = means.ports.base_env().get("HOME", "")
    closed = [path for path in _closed(means) if str(path) != home]
    for text in paths:
        for path in (Path(text), Path(text).resolve()):
            within = next((one for one in closed if path.is_relative_to(one)), None)
            if within is not None:
                raise Invalid(f"sandbox_read cannot name {text}: {within} stays out of every sandbox")
    return tuple(Bind(Path(path), optional=True) for path in dict.fromkeys(paths))

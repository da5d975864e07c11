"""Everything outside that the engine reaches, in one value. Concrete classes are chosen in `service.compose`."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nightcrew.core.errors import Unavailable
from nightcrew.core.model.claim import Machine
from nightcrew.core.model.settings import (
    AgentSettings,
    ProjectSettings,
    SandboxKind,
    Settings,
)
from nightcrew.engine.trace import NoTracer, Tracer
from nightcrew.ports.agent import Agent
from nightcrew.ports.board import Boards
from nightcrew.ports.claim import Claims
from nightcrew.ports.clock import Clock
from nightcrew.ports.ids import Ids
from nightcrew.ports.quota import Quota, Unlimited
from nightcrew.ports.runtime import Runtime
from nightcrew.ports.scm import Scm
from nightcrew.ports.skill import NoSkills, SkillLibrary
from nightcrew.ports.store import Store
from nightcrew.ports.tracker import Tracker
from nightcrew.ports.workspace import Workspace
from nightcrew.sandbox import Found, Usable
from nightcrew.secret.hit import Hit


@dataclass(frozen=True, slots=True)
class Forge:
    """One forge, as tracker and as source control; with boards, where it has any, and how much may still be asked."""

    tracker: Tracker
    scm: Scm
    boards: Boards | None = None
    quota: Quota = field(default_factory=Unlimited)


def _as_it_is(text: str) -> str:
    return text


def _no_hits(_diff: str) -> tuple[Hit, ...]:
    return ()


def _no_jobs(project: ProjectSettings, _files: Mapping[str, str]) -> tuple[ProjectSettings, tuple[str, ...]]:
    return project, ()


async def _no_sandbox(_kind: SandboxKind) -> Found:
    return Usable(SandboxKind.NONE)


async def _no_files(_folder: Path) -> tuple[str, ...]:
    return ()


async def _no_models(_agent: Agent, _env: Mapping[str, str]) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Ports:
    """`resolve_env` turns an agent's variables (references and values) into values, when a run starts. `find_program`
    tells where a program is, or that it is not there. `overlay` reads a repository's own settings file over the
    owner's settings of the project; `add_jobs` takes up the files of jobs that it brings along. `base_env` is the
    clean environment that runs start from. `mask` takes secrets out of a text; `mask_folder` out of the files of a
    run's folder, and names those that had some; `scan` finds secrets among the lines that a diff adds.
    `find_sandbox` tells whether a kind of sandbox works here. `list_models` asks an agent's CLI, with its own
    variables, for the names of its models (PortError if that fails; none if it cannot say). `free_bytes` is the
    room on the disk of the home, None if it cannot be told; `tracer` is where spans go. `claims` is where tasks are
    claimed, None where that cannot be done; `machine` is who claims; `skills` is where skills are."""

    store: Store
    clock: Clock
    ids: Ids
    runtime: Runtime
    workspace: Workspace
    forges: Mapping[str, Forge]
    agents: Mapping[str, Agent]
    home: Path
    resolve_env: Callable[[AgentSettings], Mapping[str, str]]
    find_program: Callable[[str], str | None]
    overlay: Callable[[ProjectSettings, str], ProjectSettings]
    base_env: Callable[[], Mapping[str, str]]
    add_jobs: Callable[[ProjectSettings, Mapping[str, str]], tuple[ProjectSettings, tuple[str, ...]]] = _no_jobs
    mask: Callable[[str], str] = _as_it_is
    mask_folder: Callable[[Path], Awaitable[tuple[str, ...]]] = _no_files
    scan: Callable[[str], tuple[Hit, ...]] = _no_hits
    find_sandbox: Callable[[SandboxKind], Awaitable[Found]] = _no_sandbox
    list_models: Callable[[Agent, Mapping[str, str]], Awaitable[tuple[str, ...]]] = _no_models
    free_bytes: Callable[[], int | None] = lambda: None
    tracer: Tracer = field(default_factory=NoTracer)
    claims: Claims | None = None
    machine: Machine = Machine("", "")
    skills: SkillLibrary = field(default_factory=NoSkills)

    def forge_of(self, settings: Settings, project: str) -> Forge:
        """The forge of a project; Unavailable if it is not configured (any more)."""
        if project not in settings.projects:
            raise Unavailable(f"{project} is not a configured project")
        return self.forges[settings.projects[project].forge]

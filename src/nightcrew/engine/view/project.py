"""What is known of a repository as a whole: its default branch, and the settings file that it brings along."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nightcrew.core.errors import ConfigError, Missing, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.model.settings import MergeMethod, ProjectSettings
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import Repository, Scm
from nightcrew.ports.workspace import Workspace

REPOSITORY_FOR_S = 3600.0
SHUT_FOR_S = 300.0
"""How long what the forge said of a repository holds: with write access, and without."""
SETTINGS_FILE = ".nightcrew.yml"
NO_ACCESS = "Nightcrew's account may not push to it (or it is archived): write access is needed"

Overlay = Callable[[ProjectSettings, str], ProjectSettings]


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """`base_ref` is the default branch, or the configured one; `base_sha` where it was when `settings` were read from
    it. `problem` says what is wrong with the repository's settings file, which is then not used."""

    base_ref: str
    base_sha: Sha
    settings: ProjectSettings
    problem: str = ""
    text: str = ""
    """What the settings file says."""
    access: str = ""
    """What keeps Nightcrew from its work on it; empty if nothing is known to."""


class ProjectReader:
    """Reads the facts of one repository. The settings file is taken from the fetched base branch only, never from a
    work tree that an agent can write."""

    def __init__(
        self,
        scm: Scm,
        workspace: Workspace,
        overlay: Overlay,
        clock: Clock,
        project: ProjectSettings,
    ) -> None:
        self._scm = scm
        self._workspace = workspace
        self._overlay = overlay
        self._clock = clock
        self._project = project
        self._seen: tuple[float, Repository] | None = None

    async def read(self, known: ProjectFacts | None) -> ProjectFacts:
        """The facts as they are now; raises PortError if they cannot be read."""
        slug = self._project.slug
        repository = await self._repository()
        base_ref = self._project.base_ref or repository.default_branch
        access = "" if repository.can_push else NO_ACCESS
        base_sha = await self._scm.find_branch(slug, base_ref)
        if base_sha is None:
            self._seen = None
            raise Missing(f"{slug} has no branch {base_ref!r} (an empty repository needs a first commit)")
        same = known is not None and known.base_ref == base_ref and known.base_sha == base_sha
        if known is not None and same and await self._is_here(base_ref, base_sha):
            return known if known.access == access else replace(known, access=access)
        await self._workspace.fetch(slug, await self._scm.fetch_remote(slug))
        text = await self._workspace.find_file(slug, base_sha, SETTINGS_FILE)
        return replace(self._laid_over(base_ref, base_sha, text or ""), access=access)

    def merge_methods(self) -> frozenset[MergeMethod]:
        """The ways of merging that the repository's settings leave, as last read; all while that is not known."""
        return frozenset(MergeMethod) if self._seen is None else self._seen[1].merge_methods

    def forget(self) -> None:
        """What the forge said of the repository is asked for anew at the next look."""
        self._seen = None

    def adopt(self, overlay: Overlay, known: ProjectFacts | None) -> bool:
        """Lay settings files over the owner's with `overlay` from now on. Whether what is known still holds then."""
        self._overlay = overlay
        if known is None:
            return True
        again = self._laid_over(known.base_ref, known.base_sha, known.text)
        return (again.settings, again.problem) == (known.settings, known.problem)

    def _laid_over(self, base_ref: str, base_sha: Sha, text: str) -> ProjectFacts:
        try:
            settings = self._overlay(self._project, text) if text else self._project
        except ConfigError as error:
            words = f"{SETTINGS_FILE} is not used: {error}"
            return ProjectFacts(base_ref, base_sha, self._project, words, text=text)
        return ProjectFacts(base_ref, base_sha, settings, text=text)

    async def _is_here(self, base_ref: str, base_sha: Sha) -> bool:
        """Whether what was fetched is still here: somebody may have deleted or damaged it."""
        try:
            return await self._workspace.find_branch(self._project.slug, base_ref) == base_sha
        except (Missing, Unavailable):
            return False

    async def _repository(self) -> Repository:
        now = self._clock.monotonic()
        if self._seen is not None:
            at, repository = self._seen
            if now - at < (REPOSITORY_FOR_S if repository.can_push else SHUT_FOR_S):
                return repository
        repository = await self._scm.fetch_repository(self._project.slug)
        self._seen = (now, repository)
        return repository

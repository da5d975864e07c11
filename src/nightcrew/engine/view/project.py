"""What is known of a repository as a whole: its default branch, and the settings file that it brings along."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from nightcrew.core.errors import ConfigError, Missing, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import Repository, Scm
from nightcrew.ports.workspace import Workspace

REPOSITORY_FOR_S = 3600.0
SHUT_FOR_S = 300.0
"""How long what the forge said of a repository holds: with write access, and without."""
SETTINGS_FILE = ".nightcrew.yml"
NO_ACCESS = "Nightcrew's account may not push to it (or it is archived): write access is needed"

JOB_FOLDER = ".nightcrew/jobs/"
MOST_JOBS = 50

Overlay = Callable[[ProjectSettings, str], ProjectSettings]
AddJobs = Callable[[ProjectSettings, Mapping[str, str]], tuple[ProjectSettings, tuple[str, ...]]]
"""The project with the jobs of these files (path to text), and what is wrong with those that are left out."""


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
    files: Mapping[str, str] = field(default_factory=dict)
    """The files of jobs, by path."""
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
        *,
        add_jobs: AddJobs,
    ) -> None:
        self._scm = scm
        self._workspace = workspace
        self._overlay = overlay
        self._add_jobs = add_jobs
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
        files = await self._job_files(slug, base_sha)
        return replace(self._laid_over(base_ref, base_sha, text or "", files), access=access)

    def merge_methods(self) -> frozenset[MergeMethod]:
        """The ways of merging that the repository's settings leave, as last read; all while that is not known."""
        return frozenset(MergeMethod) if self._seen is None else self._seen[1].merge_methods

    def forget(self) -> None:
        """What the forge said of the repository is asked for anew at the next look."""
        self._seen = None

    def adopt(self, overlay: Overlay, known: ProjectFacts | None, *, add_jobs: AddJobs) -> bool:
        """Lay settings files over the owner's with `overlay` from now on, and take up job files with `add_jobs`.
        Whether what is known still holds then."""
        self._overlay, self._add_jobs = overlay, add_jobs
        if known is None:
            return True
        again = self._laid_over(known.base_ref, known.base_sha, known.text, known.files)
        return (again.settings, again.problem) == (known.settings, known.problem)

    def _laid_over(self, base_ref: str, base_sha: Sha, text: str, files: Mapping[str, str]) -> ProjectFacts:
        problems = []
        try:
            settings = self._overlay(self._project, text) if text else self._project
        except ConfigError as error:
            settings = self._project
            problems.append(f"{SETTINGS_FILE} is not used: {error}")
        if files:
            used = dict(sorted(files.items())[:MOST_JOBS])
            settings, wrong = self._add_jobs(settings, used)
            problems += wrong
            if len(files) > MOST_JOBS:
                problems.append(f"{JOB_FOLDER} holds more than {MOST_JOBS} files; only the first of them are used")
        return ProjectFacts(base_ref, base_sha, settings, "; ".join(problems), text=text, files=files)

    async def _job_files(self, slug: str, sha: Sha) -> Mapping[str, str]:
        """The files of jobs that the repository brings along, as they are on the base."""
        tree = await self._workspace.list_tree(slug, sha)
        paths = [path for path in tree if path.startswith(JOB_FOLDER) and path.endswith(".md")]
        own = [path for path in paths if "/" not in path.removeprefix(JOB_FOLDER)][: MOST_JOBS + 1]
        found = {path: await self._workspace.find_file(slug, sha, path) for path in own}
        return {path: text for path, text in found.items() if text is not None}

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

"""What is known of the merge queues of a project: the builds under test, as they stand on the forge."""

import asyncio
from collections.abc import Sequence

from nightcrew.core.branch import queue_branch
from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.build import Build, BuildView
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.core.model.quota import Pace
from nightcrew.core.model.settings import Settings
from nightcrew.core.policy.pacing import flight_interval_s
from nightcrew.engine.view.observed import observed
from nightcrew.ports.scm import Scm
from nightcrew.ports.workspace import Workspace


class QueueReader:
    """Reads the open builds of one project."""

    def __init__(self, scm: Scm, workspace: Workspace, project: str) -> None:
        self._scm = scm
        self._workspace = workspace
        self._project = project
        self._asked_at: float | None = None
        self._began_at: dict[int, float] = {}

    def next_at(self, *, settings: Settings, pace: Pace) -> float | None:
        """When the open builds are to be read again, by the monotonic clock; None if there are none."""
        if not self._began_at or self._asked_at is None or pace is Pace.CLOSED:
            return None
        waited_s = self._asked_at - max(self._began_at.values())
        return self._asked_at + flight_interval_s(settings, waited_s=waited_s, pace=pace)

    def is_due(self, builds: Sequence[Build], now: float, *, settings: Settings, pace: Pace) -> bool:
        """Whether one is new, or they are to be read again."""
        if {build.id for build in builds} != self._began_at.keys():
            return True
        at = self.next_at(settings=settings, pace=pace)
        return at is not None and at <= now

    async def read(self, builds: Sequence[Build], now: float) -> tuple[BuildView, ...]:
        """Each of them as it stands now."""
        self._began_at = {build.id: self._began_at.get(build.id, now) for build in builds}
        self._asked_at = now
        return tuple([await self._read(build) for build in builds])

    async def _read(self, build: Build) -> BuildView:
        scm, project = self._scm, self._project
        async with asyncio.TaskGroup() as group:
            required = group.create_task(observed(scm.fetch_required(project, build.base_ref)))
            base = group.create_task(observed(scm.find_branch(project, build.base_ref)))
            scratch = group.create_task(observed(scm.find_branch(project, queue_branch(build.base_ref))))
        # What was never pushed is not known to the forge.
        there = scratch.result() == Known(build.sha)
        checks = await observed(scm.list_checks(project, build.sha)) if there else Unknown("its branch is not there")
        base_sha = base.result()
        known: Observed[Sha]
        if isinstance(base_sha, Unknown):
            known = base_sha
        else:
            known = Known(base_sha.value) if base_sha.value is not None else Unknown("the base branch is gone")
        return BuildView(
            build,
            checks=checks,
            required=required.result(),
            base_sha=known,
            scratch=scratch.result(),
            has_landed=await self._has_landed(build, known),
            base_checks=await self._base_checks(build, checks),
        )

    async def _base_checks(self, build: Build, checks: Observed[tuple[Check, ...]]) -> Observed[tuple[Check, ...]]:
        if isinstance(checks, Unknown) or all(check.state is not CheckState.FAILURE for check in checks.value):
            return Known(())
        return await observed(self._scm.list_checks(self._project, build.base_sha))

    async def _has_landed(self, build: Build, base: Observed[Sha]) -> Observed[bool]:
        """Whether the base on the forge contains the build. Where the base has not moved it cannot."""
        if isinstance(base, Unknown):
            return base
        if base.value in (build.base_sha, build.sha):
            return Known(base.value == build.sha)
        return await observed(self._contains(base.value, build.sha))

    async def _contains(self, base: Sha, sha: Sha) -> bool:
        look = self._workspace.is_ancestor
        try:
            return await look(self._project, ancestor=sha, descendant=base)
        except Missing:
            await self._workspace.fetch(self._project, await self._scm.fetch_remote(self._project))
        try:
            return await look(self._project, ancestor=sha, descendant=base)
        except Missing:
            return False  # the build is not here, so it was never pushed from here

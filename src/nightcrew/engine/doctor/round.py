"""One round: every check, each on its own, so that one that cannot look hides no other; and what is mended on the
way."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from nightcrew.core.errors import PortError
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.neutral import one_line
from nightcrew.engine.doctor.branch import look_at_branches
from nightcrew.engine.doctor.folder import look_at_folders, look_at_others
from nightcrew.engine.doctor.label import look_at_labels
from nightcrew.engine.doctor.session import look_at_sessions
from nightcrew.engine.doctor.task import look_at_tasks
from nightcrew.engine.doctor.ward import Found, Ward

CHECK_TIMEOUT_S = 120.0
AT_ONCE = 8
"""Projects that are looked at at a time."""

Look = Callable[[], AsyncIterator[Found]]


async def examine(ward: Ward, *, fix: bool) -> tuple[Diagnosis, ...]:
    """Everything that was looked at, in order. With `fix`, what can be mended without a person and without losing
    anything is; asked for again, nothing is left to mend."""
    found = await _look("sessions", lambda: look_at_sessions(ward), fix=fix)
    projects = ward.means.settings.projects
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(slug: str) -> Sequence[Diagnosis]:
        async with gate:
            return await _examine_project(ward, slug, fix=fix)

    async with asyncio.TaskGroup() as group:
        looks = [group.create_task(one(slug)) for slug in projects]
    left = await _look("other worktrees", lambda: look_at_others(ward), fix=fix)
    return (*found, *(diagnosis for look in looks for diagnosis in look.result()), *left)


async def _examine_project(ward: Ward, slug: str, *, fix: bool) -> Sequence[Diagnosis]:
    checks: tuple[tuple[str, Look], ...] = (
        (f"labels of {slug}", lambda: look_at_labels(ward, slug)),
        (f"tasks of {slug}", lambda: look_at_tasks(ward, slug)),
        (f"worktrees of {slug}", lambda: look_at_folders(ward, slug)),
        (f"branches of {slug}", lambda: look_at_branches(ward, slug)),
    )
    return [diagnosis for what, look in checks for diagnosis in await _look(what, look, fix=fix)]


async def _look(what: str, look: Look, *, fix: bool) -> list[Diagnosis]:
    """The findings of one check; where there are none, that all is well. What it cannot see is unknown."""
    seen: list[Found] = []
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            async for found in look():
                seen.append(found)
    except TimeoutError:
        seen.append(Found(Diagnosis(what, Level.UNKNOWN, f"could not be looked at within {CHECK_TIMEOUT_S:g} s")))
    except PortError as error:
        seen.append(Found(Diagnosis(what, Level.UNKNOWN, f"could not be looked at: {one_line(str(error), 300)}")))
    if not seen:
        return [Diagnosis(what, Level.OK, "nothing is wrong")]
    return [await mend(found) if fix else found.diagnosis for found in seen]


async def mend(found: Found) -> Diagnosis:
    """What is left to say of a finding, once it was tried to mend it."""
    diagnosis = found.diagnosis
    if found.mend is None:
        return diagnosis
    try:
        return diagnosis.mended(one_line(await found.mend(), 500))
    except PortError as error:
        why = f"could not be mended: {one_line(str(error), 300)}"
        return Diagnosis(diagnosis.what, diagnosis.level, diagnosis.words, diagnosis.hint, why)

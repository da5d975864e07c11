"""Projects that are not configured any more and have runs that are still open: those runs have to be ended."""

from collections.abc import Callable, Collection, Mapping

from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Unknown
from nightcrew.core.model.run import RunView
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.world import ProjectWorld, TaskView
from nightcrew.engine.view.record import Records


def removed_projects(
    records: Records,
    live: Mapping[TaskKey, tuple[RunView, ...]],
    *,
    settings_of: Callable[[str], ProjectSettings],
    configured: Collection[str],
) -> dict[str, ProjectWorld]:
    """Each with the tasks of its open runs (`live`), and nothing else of it."""
    nothing = Unknown("its project is not configured any more")
    found: dict[str, list[TaskView]] = {}
    for key, runs in live.items():
        if key.project not in configured and key in records.tasks:
            view = TaskView(records.tasks[key], nothing, nothing, records.runs.get(key, ()), runs)
            found.setdefault(key.project, []).append(view)
    return {
        slug: ProjectWorld(settings_of(slug), nothing, tuple(views), is_removed=True) for slug, views in found.items()
    }

"""What is seen of runs that have not been collected: their sessions, asked once a tick, and their run folders."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Unknown
from nightcrew.core.model.run import Probe, Run, RunView
from nightcrew.ports.runtime import Runtime


async def observe_runs(runtime: Runtime, home: Path, runs: Sequence[Run]) -> Mapping[TaskKey, tuple[RunView, ...]]:
    """Every open run with its session and folder, by task. The sessions are listed before the folders are looked at:
    a session seen dead whose result is missing afterwards will not write one any more."""
    if not runs:
        return {}
    sessions = await runtime.list_sessions()
    views: dict[TaskKey, tuple[RunView, ...]] = {}
    for run in runs:
        known = None if isinstance(sessions, Unknown) else sessions.value.by_name
        probe = Probe.UNKNOWN if known is None else known.get(run.session, Probe.DEAD)
        progress = runtime.look(home / run.folder)
        view = RunView(run, probe, progress.has_result, progress.output_bytes)
        views[run.task] = (*views.get(run.task, ()), view)
    return views

"""What is seen of runs that have not been collected: their sessions, asked once a tick, their run folders, and how long
they have run and printed nothing while the machine was awake."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.known import Unknown
from nightcrew.core.model.run import Probe, Run, RunView
from nightcrew.core.model.settings import Settings
from nightcrew.engine.awake import Awake
from nightcrew.engine.ports import Ports
from nightcrew.engine.runlog import ERROR_FILE, OUTPUT_FILE
from nightcrew.ports.agent import Agent, RunOutput, TellsLimit
from nightcrew.ports.clock import Clock
from nightcrew.ports.runtime import Progress

TAIL_BYTES = 262_144
"""How much of the end of a stream is read to see whether a tool is at work."""
LIMIT_BYTES = 8_192
"""How much to see whether a limit is repeated."""
HEAD_BYTES = 262_144
"""How much of the beginning to see whether the model has answered."""

_STREAMS = (OUTPUT_FILE, ERROR_FILE)


@dataclass(slots=True)
class _Track:
    """One run as this service has seen it, in seconds of its own time awake. `printed` is what was seen last of its
    output; `ran_s` and `silent_s` what had passed already at `ran_from` and `silent_from`."""

    printed: tuple[int, datetime | None]
    breaks: int
    ran_s: float
    ran_from: float
    silent_s: float
    silent_from: float
    answered_at: int = -1
    answered_in: str = ""


class RunWatch:
    """Sees runs, and remembers of each since when it is silent. After a restart of the service that is told by when the
    output was last written to, as far as the clocks can be trusted about it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tracks: dict[RunId, _Track] = {}

    async def observe(
        self,
        runs: Sequence[Run],
        ports: Ports,
        *,
        settings: Settings,
        awake: Awake,
        asked: Collection[RunId] = (),
    ) -> Mapping[TaskKey, tuple[RunView, ...]]:
        """Every open run with its session and folder, by task. Whether its agent has answered is only looked for of
        those in `asked`. The sessions are listed before the folders are looked
        at: a session seen dead whose result is missing afterwards will not write one any more."""
        self._tracks = {run.id: self._tracks[run.id] for run in runs if run.id in self._tracks}
        if not runs:
            return {}
        sessions = await ports.runtime.list_sessions()
        views: dict[TaskKey, tuple[RunView, ...]] = {}
        for run in runs:
            known = None if isinstance(sessions, Unknown) else sessions.value.by_name
            probe = Probe.UNKNOWN if known is None else known.get(run.session, Probe.DEAD)
            progress = ports.runtime.look(ports.home / run.folder)
            track = self._follow(run, progress, awake)
            silent_s = track.silent_s + awake.seconds - track.silent_from
            view = RunView(
                run,
                probe,
                progress.has_result,
                progress.output_bytes,
                running_s=track.ran_s + awake.seconds - track.ran_from,
                silent_s=silent_s,
                at_work=_is_at_work(run, ports, settings=settings, silent_s=silent_s),
                limit="" if progress.has_result else find_limit(run, ports),
                answered_in=self._answered_in(run, progress, ports) if run.id in asked else "",
            )
            views[run.task] = (*views.get(run.task, ()), view)
        return views

    def _answered_in(self, run: Run, progress: Progress, ports: Ports) -> str:
        """The CLI's session in which the model has answered, as soon as the beginning of the stream shows that."""
        track = self._tracks[run.id]
        if track.answered_at != progress.output_bytes and not track.answered_in:
            track.answered_at = progress.output_bytes
            track.answered_in = find_answer(run, ports.agents.get(run.agent), ports.home / run.folder)
        return track.answered_in

    def _follow(self, run: Run, progress: Progress, awake: Awake) -> _Track:
        printed, now = (progress.output_bytes, progress.output_at), awake.seconds
        track = self._tracks.get(run.id)
        if track is None:
            track = _Track(printed, awake.breaks, self._ran(run), now, self._silence(run, progress, awake), now)
            self._tracks[run.id] = track
        elif track.printed != printed or track.breaks != awake.breaks:
            track.printed, track.breaks, track.silent_s, track.silent_from = printed, awake.breaks, 0.0, now
        return track

    def _ran(self, run: Run) -> float:
        """How long a run had run when it was first seen: at most to its deadline, so that its session has the time
        to end it by itself."""
        if run.began_s is None:
            return 0.0
        return min(max(0.0, self._clock.monotonic() - run.began_s), run.deadline_s)

    def _silence(self, run: Run, progress: Progress, awake: Awake) -> float:
        """How long a run had been silent when it was first seen, 0 where the clocks cannot tell: the machine slept, or
        its clock was set, since the run began."""
        if run.started_at is None or run.began_s is None:
            return 0.0
        if awake.has_drifted(wall=run.started_at, mono=run.began_s):
            return 0.0
        last_at = max(run.started_at, progress.output_at or run.started_at)
        return max(0.0, (self._clock.now() - last_at).total_seconds())


def find_answer(run: Run, adapter: Agent | None, folder: Path) -> str:
    """The session that a run's CLI says it is in, once its model has answered; empty before, or where that does not
    show."""
    if adapter is None:
        return ""
    head = _read(folder / OUTPUT_FILE, 0, HEAD_BYTES)
    if not head:
        return ""
    reading = adapter.read(RunOutput(run.role, head, b"", exit_code=0, timed_out=False, report=None))
    return (reading.session or run.agent_session) if reading.spoke else ""


def _is_at_work(run: Run, ports: Ports, *, settings: Settings, silent_s: float) -> bool:
    """Whether a run that is silent for too long has a tool at work. It is not asked before that."""
    agent, adapter = settings.agents.get(run.agent), ports.agents.get(run.agent)
    if agent is None or adapter is None or agent.silence_s <= 0 or silent_s < agent.silence_s:
        return False
    return adapter.is_at_work(_tail(ports.home / run.folder / OUTPUT_FILE, TAIL_BYTES))


def find_limit(run: Run, ports: Ports) -> str:
    """The line about a limit that a run does nothing but repeat, if its CLI is one that may."""
    adapter = ports.agents.get(run.agent)
    if adapter is None or not isinstance(adapter, TellsLimit):
        return ""
    tails = (_tail(ports.home / run.folder / name, LIMIT_BYTES) for name in _STREAMS)
    return next((line for tail in tails if (line := adapter.find_limit(tail))), "")


def _tail(path: Path, most: int) -> bytes:
    """The end of a file that an agent may have put anything in the place of."""
    return _read(path, -most, most)


def _read(path: Path, offset: int, most: int) -> bytes:
    """So many bytes from an offset on, which counts from the end if it is negative."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size + offset) if offset < 0 else offset)
            return stream.read(most)
    except OSError:
        return b""

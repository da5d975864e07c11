"""tmux processes that a tick starts.

A program named tmux, first on the PATH, notes each start and becomes the real one.
"""

import asyncio
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.crowd import SLUG, Crowd, at_rest, settle, tick
from bench.figure import Figure
from bench.stage import configuration, throw_away_home


def measure(*, tiny: bool = False) -> list[Figure]:
    """Starts a tick, for each number of sessions."""
    counts, rounds = ((1,), 2) if tiny else ((1, 10, 50), 20)
    return [_measure(sessions, rounds) for sessions in counts]


def _measure(sessions: int, rounds: int) -> Figure:
    with throw_away_home() as home, _counted_tmux(home.root.parent) as notes:
        asyncio.run(settle(home, Crowd(sessions, sessions)))

        async def count() -> int:
            given = configuration(home, [SLUG], forge={"kind": "local"}, max_runs=sessions)
            async with at_rest(home, given) as (service, group):
                before = _lines(notes)
                for _ in range(rounds):
                    await tick(service, group)
                return _lines(notes) - before

        started = asyncio.run(count())
    case = f"{sessions} session{'s' * (sessions != 1)}"
    return Figure(
        "tmux", case, started / rounds, "starts a tick", aim=1, notes=(f"{started} starts in {rounds} ticks",)
    )


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="ascii").splitlines())


@contextmanager
def _counted_tmux(folder: Path) -> Iterator[Path]:
    real = shutil.which("tmux")
    if real is None:
        raise RuntimeError("tmux is not on the PATH")
    place, notes = folder / "bin", folder / "starts"
    place.mkdir()
    notes.touch()
    program = place / "tmux"
    program.write_text(f'#!/bin/sh\necho start >> {shlex.quote(str(notes))}\nexec {shlex.quote(real)} "$@"\n', "ascii")
    program.chmod(0o700)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{place}{os.pathsep}{before}"
    try:
        yield notes
    finally:
        os.environ["PATH"] = before

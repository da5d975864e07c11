"""From seeing the label to the agent's process, beside the same by hand: fetch, `git worktree add`, `tmux new-session`.

It begins when the list of issues that shows the label is read, and ends when the shim has started the agent, which is
when it writes `shim.json`. In between lie who put the label there, intake, the moves of labels, the fetch, the
workspace, the prompt and the session. Routing is taken off: from the label of intake to the label of the route, with
the look between them. The forge runs in this process, so its own time is in the figure.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bench.figure import Figure, median, spread
from bench.seed import big_tree
from bench.stage import configuration, throw_away_home, until
from nightcrew.config.home import Home
from nightcrew.core.ids import parse_task_key
from nightcrew.core.model.run import Role
from nightcrew.engine.naming import run_folder
from nightcrew.engine.recover import recover
from nightcrew.service.compose import Composed, composed
from nightcrew.service.local import open_local_forge

SLUG = "local/big"


@dataclass(slots=True)
class Laps:
    """What was measured, in ms."""

    by_hand: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)

    def add(self, marks: dict[str, float]) -> None:
        """One dispatch: moments by name, in order."""
        names = list(marks)
        for before, name in pairwise(names):
            self.parts.setdefault(name, []).append((marks[name] - marks[before]) * 1000)
        self.total.append((marks[names[-1]] - marks[names[0]]) * 1000)


def measure(*, tiny: bool = False) -> list[Figure]:
    """One figure, in ms, with the parts it is made of."""
    files, rounds = (40, 1) if tiny else (5000, 9)
    laps = Laps()
    with throw_away_home() as home:
        asyncio.run(_measure(home, laps, files=files, rounds=rounds))
    routing = median(laps.parts["routing"])
    net = [total - route for total, route in zip(laps.total, laps.parts["routing"], strict=True)]
    notes = [f"{name}: {median(values):.1f} ms" for name, values in laps.parts.items()]
    notes += [f"with routing ({routing:.1f} ms): {median(laps.total):.1f} ms", spread(net, "ms")]
    return [
        Figure("dispatch", f"{files} files", median(net), "ms", floor=median(laps.by_hand), aim=1.5, notes=tuple(notes))
    ]


async def _measure(home: Home, laps: Laps, *, files: int, rounds: int) -> None:
    repository = await _make_repository(home, files)
    given = configuration(home, [SLUG], forge={"kind": "local"}, max_runs=rounds + 1)
    effects: list[tuple[float, str, str]] = []

    def note(phase: str, kind: str) -> None:
        effects.append((time.time(), phase, kind))

    with _by_hand(home.root.parent, repository) as hand:
        async with composed(home, given, boundary=note) as service, asyncio.TaskGroup() as group:
            await recover(service.ports)
            engine = group.create_task(service.loop.run())
            await until(lambda: service.loop.state.ticks > 0 and not service.loop.actor.in_flight)
            for number in range(rounds + 1):  # in the first, labels are made and files read anew: it is not counted
                by_hand = await asyncio.to_thread(hand.start, number)
                effects.clear()
                marks = await _dispatch(service, effects)
                if number:
                    laps.by_hand.append(by_hand * 1000)
                    laps.add(marks)
            service.loop.stop()
            await engine


async def _make_repository(home: Home, files: int) -> Path:
    async with open_local_forge(home.forge) as local:
        return await local.forge.create_repository(SLUG, files=big_tree(files))


async def _dispatch(service: Composed, effects: list[tuple[float, str, str]]) -> dict[str, float]:
    """File an issue and follow it to its agent; moments since the epoch."""
    answer = await service.facade.add_task(SLUG, title="It is not as it should be", body="It should be otherwise.")
    key = parse_task_key(str(answer.data["task"]))
    known = service.means.observer.issues_of(SLUG).memory
    await until(lambda: key.number in known.issues, every_s=0.0005)
    seen = time.time()
    folder = service.ports.home / run_folder(key, Role.AUTHOR, 1)
    # Looked at rarely, so as not to take part.
    await until(lambda: (folder / "shim.json").exists() and not service.loop.actor.in_flight, every_s=0.1)
    events = {event.kind: event.at.timestamp() for event in await service.ports.store.load_events(task=key)}
    started = (folder / "shim.json").stat().st_mtime_ns / 1e9
    return _marks(seen, events["run.claimed"], effects, started)


def _marks(seen: float, claimed: float, effects: list[tuple[float, str, str]], started: float) -> dict[str, float]:
    """The ends of the parts, in order; what is taken off is called routing."""

    def at(phase: str, kind: str) -> float:
        return next(moment for moment, *what in effects if what == [phase, kind])

    moves = [moment for moment, phase, kind in effects if phase == "after" and kind.startswith("label.")]
    return {
        "seen": seen,
        "intake": moves[0],
        "routing": max(moment for moment in moves if moment < claimed),
        "next look": claimed,
        "claim": max(moment for moment in moves if claimed < moment < at("before", "workspace.ensure")),
        "fetch": at("before", "workspace.ensure"),
        "workspace": at("after", "workspace.ensure"),
        "prompt": at("before", "session.start"),
        "session": started,
    }


@dataclass(frozen=True, slots=True)
class ByHand:
    """A clone with worktrees beside it, and a tmux of its own."""

    clone: Path
    socket: Path
    env: dict[str, str]

    def start(self, number: int) -> float:
        """Fetch, add a worktree, start an empty Python in a new session; seconds until it runs."""
        tree, mark = self.clone.parent / f"tree-{number}", self.clone.parent / f"mark-{number}"
        began = time.time()
        self._run("git", "fetch", "--quiet", "origin")
        self._run("git", "worktree", "add", "--quiet", "-b", f"work-{number}", str(tree), "origin/main")
        code = f"open({str(mark)!r}, 'w').close(); import time; time.sleep(100000)"
        words = (
            "new-session",
            "-d",
            "-s",
            f"hand-{number}",
            "-c",
            str(tree),
            "--",
            sys.executable,
            "-I",
            "-S",
            "-c",
            code,
        )
        self._run("tmux", "-f", os.devnull, "-S", str(self.socket), *words)
        while not mark.exists():
            time.sleep(0.0005)
        return mark.stat().st_mtime_ns / 1e9 - began

    def _run(self, *argv: str) -> None:
        subprocess.run(argv, cwd=self.clone, env=self.env, check=True, capture_output=True)


@contextmanager
def _by_hand(folder: Path, repository: Path) -> Iterator[ByHand]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", repository.as_uri(), str(clone)], env=env, check=True)
    hand = ByHand(clone, folder / "hand.sock", env)
    try:
        yield hand
    finally:
        subprocess.run(["tmux", "-S", str(hand.socket), "kill-server"], env=env, check=False, capture_output=True)

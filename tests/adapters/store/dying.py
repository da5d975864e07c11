"""A process that writes without end and kills itself in the middle: `python -m tests.adapters.store.dying DB STEPS`.

It prints how many writes had been answered, a line for each, and dies after STEPS turns of its loop.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Evidence, Status, transition
from nightcrew.store import SqliteStore
from tests.adapters.store.sample import FixedClock, a_task, an_event

ROUTED = transition(Status.NEW, Status.ROUTED, Evidence.ROUTE)
BACK = transition(Status.ROUTED, Status.NEW, Evidence.PERSON)


class Answers:
    def __init__(self) -> None:
        self.count = 0

    def one(self) -> None:
        self.count += 1
        os.write(1, f"{self.count}\n".encode())


async def write(store: SqliteStore, key: TaskKey, answers: Answers) -> None:
    event = replace(an_event("new"), task=key)
    await store.record_task(a_task(key), event=event)
    answers.one()
    while True:
        await store.change_status(key, ROUTED, event=replace(event, kind="routed"))
        answers.one()
        await store.change_status(key, BACK, event=event)
        answers.one()


async def main(path: Path, steps: int) -> None:
    async with SqliteStore.open(path, clock=FixedClock()) as store, asyncio.TaskGroup() as group:
        answers = Answers()
        for n in range(1, 6):
            group.create_task(write(store, TaskKey("octo/parrot", n), answers))
        for _ in range(steps):
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))

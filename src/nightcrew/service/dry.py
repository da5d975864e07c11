"""`nightcrew serve --dry-run`: one look with a copy of the store, and what would be done. Nothing is changed."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.config.load import Configuration
from nightcrew.core.decide import decide
from nightcrew.core.neutral import one_line
from nightcrew.service.compose import composed
from nightcrew.service.throwaway import remove_home
from nightcrew.store.copy import copy_database

PATIENCE_S = 120.0


async def tell_dry_run(home: Home, configuration: Configuration, *, write: Callable[[str], object]) -> int:
    """Print the actions and waits of one look. Exit code 1 if something could not be read."""
    with tempfile.TemporaryDirectory(prefix="nightcrew-dry-") as folder:
        copy = Home(Path(folder) / "home")
        copy.ensure()
        if home.database.is_file():
            await asyncio.to_thread(copy_database, home.database, copy.database)
        async with composed(copy, configuration, outside_of=home) as service, asyncio.TaskGroup() as group:
            async with asyncio.timeout(PATIENCE_S):
                world = await service.means.observer.observe(group)
        decision = decide(world)
        for action in decision.actions:
            about = action.task if action.task.number else action.task.project
            write(f"would {type(action).__name__} {about}: {one_line(action.why)}\n")
        for key, wait in decision.waits.items():
            write(f"{key} waits: {one_line(wait.words)}\n")
        problems = service.means.observer.problems()
        for problem in problems:
            write(f"could not be read: {one_line(problem)}\n")
        if not decision.actions:
            write("nothing would be done\n")
        remove_home(copy)
    return 1 if problems else 0

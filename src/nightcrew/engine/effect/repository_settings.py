"""Whether an agent's CLI may load the settings that a repository has for it. They can start programs, so they are taken
from the base branch alone, and only where the project's owner allows it."""

from collections.abc import Sequence
from pathlib import Path

from nightcrew.core.ids import Sha
from nightcrew.core.model.run import Role, Run
from nightcrew.core.neutral import one_line
from nightcrew.core.path_pattern import is_at_or_below
from nightcrew.engine.effect.means import Means

_MOST_NAMED = 3


async def may_load_settings(means: Means, run: Run, cwd: Path, *, base: Sha, tree: tuple[str, ...]) -> bool:
    """True if the project allows it and `cwd` has them exactly as `base` does. `tree` are the files of `base`. What is
    left out is said: once a task where the project does not allow it, and each time that a branch has others."""
    names = means.ports.agents[run.agent].settings_paths
    if not names or run.role is Role.ROUTER:
        return False
    if not means.project(run.task).agent_settings:
        if run.role is Role.AUTHOR and run.attempt == 1:
            there = [path for path in tree if any(is_at_or_below(path, name) for name in names)]
            await _say(means, run, there, "are not loaded; the setting agent_settings allows it")
        return False
    workspace = means.ports.workspace
    changed = await workspace.list_changed_paths(run.task.project, cwd, base=base, names=names)
    await _say(means, run, changed, "are not those of the base branch, so none are loaded")
    return not changed


async def _say(means: Means, run: Run, paths: Sequence[str], words: str) -> None:
    if not paths:
        return
    shown = ", ".join(one_line(path, 100) for path in paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    why = f"the repository's settings for {run.agent} ({shown}{more}) {words}"
    await means.ports.store.record_event(means.event("settings.left_out", why, task=run.task, run=run.id))

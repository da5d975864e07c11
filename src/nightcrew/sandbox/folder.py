"""The run folder: the agent's to write, but for what the shim writes there about it."""

from pathlib import Path

from nightcrew.sandbox.spec import Bind

SHIM_FILES = ("stdout.log", "stderr.log", "shim.json", "shim.lock", "result.part")


def view_folder(folder: Path) -> tuple[Bind, ...]:
    """Binds that keep an agent from changing the record of its own run."""
    return tuple(Bind(folder / name, optional=True) for name in SHIM_FILES)

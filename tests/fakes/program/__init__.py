"""Programs of other operating systems, as scripts that go first on a PATH. They hold their state in a folder."""

import sys
from pathlib import Path

HERE = Path(__file__).parent


def install_program(name: str, *, folder: Path, state: Path) -> Path:
    """Put the fake of that name into `folder`, with its state in `state`; the folder, for a PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    state.mkdir(parents=True, exist_ok=True)
    script = folder / name
    program = HERE / f"{name.replace('-', '_')}.py"
    line = f"exec '{sys.executable}' -I -S '{program}' '{state}' \"$@\""
    script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    script.chmod(0o755)
    return folder

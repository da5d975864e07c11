"""Programs that the tests of the whole run beside it: commands as a person gives them, and plain git."""

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str


async def command(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, within_s: float = 60.0) -> Said:
    """Run a program beside the loop, on which the forge is served."""
    done = await asyncio.to_thread(
        subprocess.run, argv, env=env, cwd=cwd, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=within_s,
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


def git(*words: str) -> str:
    """Plain git as a person runs it, without their configuration."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Pat Example", f"GIT_{role}_EMAIL": "pat@example.com"}
    done = subprocess.run(["git", *words], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"git {words}: {done.stderr}"
    return done.stdout.strip()

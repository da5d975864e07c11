"""What can be read off a person's checkout. It is only ever read."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.ids import is_slug
from nightcrew.process import clean_environment, run_process

GIT_TIMEOUT_S = 30.0

_REMOTE = re.compile(r"(?:^|[/:@])[^/:@]+[/:](?P<slug>[A-Za-z0-9][\w.-]*/[\w.-]+?)(?:\.git)?/?$")


@dataclass(frozen=True, slots=True)
class CheckoutFacts:
    """`root` is its top folder, `branch` the branch it is on (empty: detached), `origin` the URL of its remote of that
    name (empty: none), `dirty` how many files are changed and not committed."""

    root: Path
    branch: str
    origin: str
    dirty: int

    @property
    def origin_slug(self) -> str:
        """`owner/repo` of the origin, empty if it does not look like one."""
        match = _REMOTE.search(self.origin)
        return match["slug"] if match and is_slug(match["slug"]) else ""


async def read_checkout(path: Path) -> CheckoutFacts:
    """The facts of the checkout at `path`. Missing if there is none, Invalid if it is bare or has no commit."""
    if not path.is_dir():
        raise Missing(f"{path} is not a folder")
    if await _git(path, "rev-parse", "--git-dir") is None:
        raise Missing(f"{path} is not in a git repository; run it in a checkout, or name one")
    if await _git(path, "rev-parse", "--is-bare-repository") == "true":
        raise Invalid(f"{path} is a bare repository; name a checkout of it")
    root = await _git(path, "rev-parse", "--show-toplevel")
    if root is None:
        raise Invalid(f"{path} is not in a work tree; name a checkout")
    if await _git(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise Invalid(f"{root} has no commit yet; make a first one")
    branch = await _git(path, "symbolic-ref", "--quiet", "--short", "HEAD") or ""
    origin = await _git(path, "remote", "get-url", "origin") or ""
    status = await _git(path, "status", "--porcelain", "-z", "--untracked-files=no") or ""
    return CheckoutFacts(Path(root), branch, origin, len([line for line in status.split("\0") if line]))


async def _git(path: Path, *words: str) -> str | None:
    """What git says, None if it says no. Nothing of the repository's own hooks or monitors is run."""
    env = clean_environment(extra={"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"})
    argv = ["git", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-C", str(path), *words]
    done = await run_process(argv, env=env, timeout_s=GIT_TIMEOUT_S)
    return done.text.strip("\n") if done.ok else None

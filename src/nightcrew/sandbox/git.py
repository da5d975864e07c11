"""What of its repository an agent's git needs, and no more.

A linked worktree shares a repository with those of all other tasks. The agent sees an empty folder in the place of that
repository, with only the parts in it that a commit reads or writes. What it makes beside them (hooks, a gc's packed
refs) is its own and gone afterwards, so no hook, setting or other task's worktree is in reach.
"""

from dataclasses import dataclass
from pathlib import Path

from nightcrew.sandbox.spec import Bind

_NO_REFS = b"# pack-refs with: peeled fully-peeled sorted \n"


@dataclass(frozen=True, slots=True)
class GitView:
    """What goes into a spec."""

    binds: tuple[Bind, ...]
    private: tuple[Path, ...] = ()


def ensure_worktree_view(*, common: Path, own: Path, borrowed: Path) -> GitView:
    """For an author: `common` is the repository that carries the worktree, `own` the worktree's folder in it,
    `borrowed` the objects it borrows.

    An empty `packed-refs` is put down if there is none: as something mounted it cannot be replaced, and git then packs
    no refs (they would be packed into what is gone afterwards, and lost).
    """
    packed = common / "packed-refs"
    if not packed.exists():
        packed.write_bytes(_NO_REFS)
    return GitView(
        binds=(
            Bind(common / "HEAD"),
            Bind(common / "config"),
            Bind(packed),
            Bind(common / "refs", writable=True),
            Bind(common / "objects", writable=True),
            # Names the borrowed objects; git itself rewrites nothing here in a commit.
            Bind(common / "objects" / "info"),
            Bind(own, writable=True),
            Bind(own / "commondir"),
            Bind(own / "gitdir"),
            Bind(borrowed),
        ),
        # Reflogs would need a folder; some CLIs' own sandboxes want it to be there before.
        private=(common, common / "logs"),
    )


def checkout_view(*, checkout: Path, borrowed: Path) -> GitView:
    """For a reviewer: the checkout keeps its history and settings as they are. Its files stay writable, for tests leave
    things beside the code; it was made for this one run, nothing of it is read back, and it goes with the run."""
    return GitView(binds=(Bind(checkout / ".git"), Bind(borrowed)))

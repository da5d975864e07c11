"""One comparison and exchange of a ref on the forge, by a push with a lease (git-push(1), --force-with-lease): the
server itself compares the old object and exchanges it, also for making (expected: none) and deleting one."""

from dataclasses import dataclass

from nightcrew.core.errors import Conflict, PortError, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.ports.scm import Remote
from nightcrew.workspaces.push import check_address, find_ref
from nightcrew.workspaces.repository import Repository

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A ref that is to go from `expected` (None: it is not there) to `new` (None: it is deleted); `doing` in words."""

    ref: str
    new: Sha | None
    expected: Sha | None
    doing: str


async def exchange_ref(
    repository: Repository, remote: Remote, name: str, *, new: Sha | None, expected: Sha | None, what: str
) -> None:
    """Have the ref at `new` if it is at `expected`; Conflict if it is not. `what` it stands for, in words."""
    push = Exchange(name, new, expected, doing=f"taking {what}" if new else f"giving up {what}")
    failure = await send_exchange(repository, remote, push, timeout_s=TIMEOUT_S)
    if failure is None:
        return
    # It was refused, or its answer was lost. What stands there tells; a failure to look is not known to be one.
    there = await find_ref(repository, remote, name, doing=f"reading {what}", timeout_s=TIMEOUT_S)
    if there == new:
        return
    if there != expected or isinstance(failure, Conflict):
        raise Conflict(f"{what} is another machine's by now") from failure
    raise failure


async def send_exchange(
    repository: Repository, remote: Remote, exchange: Exchange, *, timeout_s: float
) -> PortError | None:
    """The push itself. What it failed with: refused, or its answer was lost; None if it was made."""
    ref, doing = exchange.ref, exchange.doing
    try:
        done = await repository.run(
            "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
            f"--force-with-lease={ref}:{exchange.expected or ''}",
            "--end-of-options", check_address(remote.url), f"{exchange.new or ''}:{ref}",
            doing=doing, env=dict(remote.env), timeout_s=timeout_s, ok=tuple(range(256)),
        )  # fmt: skip
    except Unavailable as error:
        return error
    return None if done.ok else repository.complain(done, doing=doing)

"""One comparison and exchange of a ref on the forge, by a push with a lease (git-push(1), --force-with-lease): the
server itself compares the old object and exchanges it, also for making (expected: none) and deleting one."""

from nightcrew.core.errors import Conflict, PortError, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.ports.scm import Remote
from nightcrew.workspaces.push import check_address
from nightcrew.workspaces.ref import parse_object_id
from nightcrew.workspaces.repository import Repository

TIMEOUT_S = 60.0


async def exchange_ref(
    repository: Repository, remote: Remote, name: str, *, new: Sha | None, expected: Sha | None, what: str
) -> None:
    """Have the ref at `new` if it is at `expected`; Conflict if it is not. `what` it stands for, in words."""
    failure = await _send(repository, remote, name, new=new, expected=expected, what=what)
    if failure is None:
        return
    # It was refused, or its answer was lost. What stands there tells; a failure to look is not known to be one.
    there = await _find(repository, remote, name, what=what)
    if there == new:
        return
    if there != expected or isinstance(failure, Conflict):
        raise Conflict(f"{what} is another machine's by now") from failure
    raise failure


async def _send(
    repository: Repository, remote: Remote, name: str, *, new: Sha | None, expected: Sha | None, what: str
) -> PortError | None:
    doing = f"taking {what}" if new else f"giving up {what}"
    try:
        done = await repository.run(
            "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
            f"--force-with-lease={name}:{expected or ''}",
            "--end-of-options", check_address(remote.url), f"{new or ''}:{name}",
            doing=doing, env=dict(remote.env), timeout_s=TIMEOUT_S, ok=tuple(range(256)),
        )  # fmt: skip
    except Unavailable as error:
        return error
    return None if done.ok else repository.complain(done, doing=doing)


async def _find(repository: Repository, remote: Remote, name: str, *, what: str) -> Sha | None:
    done = await repository.run(
        "ls-remote", "--quiet", "--refs", "--end-of-options", check_address(remote.url), name,
        doing=f"reading {what}", env=dict(remote.env), timeout_s=TIMEOUT_S,
    )  # fmt: skip
    for line in done.text.splitlines():
        sha, _, found = line.partition("\t")
        if found == name:
            return parse_object_id(sha)
    return None

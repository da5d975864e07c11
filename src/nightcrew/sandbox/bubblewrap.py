"""A spec as a command line for bubblewrap (bwrap(1)), which needs no privileges where user namespaces are allowed.

The agent gets namespaces of its own for users, processes, mounts, IPC, host name and, without a network, that too. It
ends with its parent, and everything that it started ends with it, whatever session or group that has moved to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.model.settings import Network
from nightcrew.sandbox.spec import SandboxSpec, order
from nightcrew.sandbox.system import LINUX, LINUX_ETC

SIGNALS = "TERM,HUP,INT"
TMP = Path("/tmp")  # noqa: S108 - a private one, inside
# The kernel lets root write these by ownership alone, whatever privileges were given up; to others they are closed.
_ROOTS_OWN = ("/proc/sys", "/proc/fs", "/proc/acpi", "/proc/scsi")
_NAMESPACES = ("user", "ipc", "pid", "uts", "cgroup-try")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """What this machine has. `program` is bwrap. With `env`, a GNU env, bwrap itself does not die of the signals that
    ask the agent to end: otherwise the agent would be killed with it before it could. `uid` is who the agent is inside,
    if not who runs the service: to root some CLIs refuse their switches, and sandboxes of their own."""

    program: str
    env: str = ""
    uid: int | None = None


def render_bubblewrap(spec: SandboxSpec, argv: Sequence[str], means: Bubblewrap) -> tuple[str, ...]:
    """The command line. Pure: it does not look whether the paths are there."""
    own = ("--uid", str(means.uid), "--gid", str(means.uid)) if means.uid is not None else ()
    spaces = [f"--unshare-{name}" for name in _NAMESPACES]
    if spec.network is not Network.OPEN:
        spaces.append("--unshare-net")
    flags = ("--new-session", "--die-with-parent", "--cap-drop", "ALL")
    wrapped = (
        *(means.program, *spaces, *own, *flags, *_mounts(spec, closed=() if means.uid is None else _ROOTS_OWN)),
        *("--remount-ro", "/", "--chdir", str(spec.workspace), "--"),
    )
    if not means.env:
        return (*wrapped, *argv)
    return (means.env, f"--ignore-signal={SIGNALS}", *wrapped, means.env, f"--default-signal={SIGNALS}", *argv)


def _mounts(spec: SandboxSpec, *, closed: Sequence[str]) -> list[str]:
    readable = (*LINUX, *(f"/etc/{name}" for name in LINUX_ETC), *closed)
    system = {Path(name): ("--ro-bind-try", name, name) for name in readable}
    special = {Path("/proc"): ("--proc", "/proc"), Path("/dev"): ("--dev", "/dev")}
    empty = {path: ("--tmpfs", str(path)) for path in (TMP, spec.home, *spec.private)}
    binds = {}
    for bind in spec.all_binds:
        how = f"--{'' if bind.writable else 'ro-'}bind{'-try' if bind.optional else ''}"
        binds[bind.path] = (how, str(bind.source or bind.path), str(bind.path))
    links = {link.path: ("--symlink", str(link.target), str(link.path)) for link in spec.own_links}
    mounts: dict[Path, tuple[str, ...]] = {**system, **special, **empty, **links, **binds}
    return [word for path in order(mounts) for word in mounts[path]]

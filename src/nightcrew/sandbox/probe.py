"""Whether a sandbox works here. Found out by running one: what is installed may still be forbidden."""

import os
import shutil
import sys
from dataclasses import dataclass

from nightcrew.core.errors import PortError
from nightcrew.core.model.settings import SandboxKind as Kind
from nightcrew.process import run_process
from nightcrew.sandbox.bubblewrap import SIGNALS, Bubblewrap
from nightcrew.sandbox.seatbelt import Seatbelt

TIMEOUT_S = 20.0
INSIDE_UID = 1000
"""Who root's agents are inside."""

_SECCOMP_HINT = "containers need to allow user namespaces (for Docker: --security-opt seccomp=unconfined, or a profile)"
_HINTS = (
    ("No permissions to create new namespace", "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"),
    ("setting up uid map", "the system restricts user namespaces; on Ubuntu install an AppArmor profile for bwrap"),
    ("Creating new namespace failed", _SECCOMP_HINT),
    ("Can't mount proc", "containers need to leave /proc unmasked (for Docker: --security-opt systempaths=unconfined)"),
)


@dataclass(frozen=True, slots=True)
class Usable:
    """A sandbox that works here; with `means` None, none is wanted."""

    kind: Kind
    means: Bubblewrap | Seatbelt | None = None

    @property
    def is_root(self) -> bool:
        """Whether root starts it: then what is inside can make no such sandbox again."""
        return isinstance(self.means, Bubblewrap) and self.means.uid is not None


@dataclass(frozen=True, slots=True)
class Unusable:
    """None works here: why, and what to do."""

    kind: Kind
    reason: str
    hint: str


Found = Usable | Unusable


async def find_sandbox(
    kind: Kind, *, platform: str = sys.platform, search: str | None = None, uid: int | None = None
) -> Found:
    """Try it once. `auto` looks for the one of this system. Never raises for what is missing: that is an answer.

    `search` is the PATH to look in and `uid` who runs this; without them, this process's own.
    """
    if kind is Kind.NONE:
        return Usable(kind)
    if kind is Kind.SEATBELT or (kind is Kind.AUTO and platform == "darwin"):
        return await _find_seatbelt(search)
    return await _find_bubblewrap(search, os.getuid() if uid is None else uid)


async def _find_bubblewrap(search: str | None, uid: int) -> Found:
    program = shutil.which("bwrap", path=search)
    if program is None:
        return Unusable(Kind.BWRAP, "bwrap is not installed", "install bubblewrap (apt, dnf, pacman: bubblewrap)")
    spaces = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
    mounts = ("--ro-bind", "/", "/", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/")  # noqa: S108 - inside
    inside = INSIDE_UID if uid == 0 else None
    own = ("--uid", str(inside), "--gid", str(inside)) if inside is not None else ()
    flags = ("--new-session", "--die-with-parent", "--cap-drop", "ALL")
    for net in ((), ("--unshare-net",)):
        complaint = await _complaint((program, *spaces, *net, *own, *flags, *mounts, "--", "true"))
        if complaint:
            hint = next((hint for words, hint in _HINTS if words in complaint), "see the documentation of bubblewrap")
            return Unusable(Kind.BWRAP, f"bwrap does not work here: {complaint}", hint)
    env = shutil.which("env", path=search) or ""
    if env and await _complaint((env, f"--ignore-signal={SIGNALS}", env, f"--default-signal={SIGNALS}", "true")):
        env = ""
    return Usable(Kind.BWRAP, Bubblewrap(program, env, inside))


async def _find_seatbelt(search: str | None) -> Found:
    program = shutil.which("sandbox-exec", path=search)
    if program is None:
        return Unusable(Kind.SEATBELT, "there is no sandbox-exec", "it comes with macOS; elsewhere use bwrap")
    complaint = await _complaint((program, "-p", "(version 1)(allow default)", "/usr/bin/true"))
    if complaint:
        return Unusable(Kind.SEATBELT, f"sandbox-exec does not work here: {complaint}", "it cannot run inside another")
    return Usable(Kind.SEATBELT, Seatbelt(program))


async def _complaint(argv: tuple[str, ...]) -> str:
    """What it says when it fails; empty if it works."""
    try:
        done = await run_process(argv, timeout_s=TIMEOUT_S, output_cap=2_000)
    except PortError as error:
        return str(error)
    return "" if done.ok else (done.complaint or f"exit code {done.returncode}")

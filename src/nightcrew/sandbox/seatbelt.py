"""A spec as a profile for macOS's sandbox-exec(1). Written after its documentation, and never run on a Mac.

It forbids what is not named, and where two rules meet the later counts. What mounts do on Linux it cannot do: an empty
home is one that cannot be read, there is no other /tmp, and a file cannot be shown at another path.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.core.model.settings import Network
from nightcrew.sandbox.spec import Bind, SandboxSpec, order
from nightcrew.sandbox.system import MAC

_BASE = """\
(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow file-read-metadata)
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
(allow file-ioctl (literal "/dev/tty"))
(allow mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.securityd.xpc")
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration"))
"""
# The key chain holds logins of the CLIs on this system; its files are locked, and their daemon asks the person.
_KEYCHAINS = ("/Library/Keychains", "/private/var/db/mds")
_NETWORK = '(allow network*)\n(allow file-read* file-write-data (literal "/private/var/run/mDNSResponder"))\n'


@dataclass(frozen=True, slots=True)
class Seatbelt:
    """What this machine has: `program` is sandbox-exec."""

    program: str


def render_seatbelt(spec: SandboxSpec, argv: Sequence[str], means: Seatbelt) -> tuple[str, ...]:
    """The command line, with the profile in it."""
    return (means.program, "-p", render_profile(spec), *argv)


def render_profile(spec: SandboxSpec) -> str:
    """The profile. Invalid if something is to be shown at a path that is not its own."""
    if spec.network is Network.VENDOR:
        raise Invalid("network: vendor needs bwrap, which gives a sandbox a loopback of its own")
    rules = {Path(name): Bind(Path(name)) for name in (*MAC, *_KEYCHAINS, str(spec.home / "Library" / "Keychains"))}
    rules |= {link.path: Bind(link.path) for link in spec.own_links}
    for bind in spec.all_binds:
        if bind.source not in (None, bind.path):
            raise Invalid(f"sandbox-exec cannot show {bind.source} at {bind.path}")
        rules[bind.path] = bind
    lines = [_BASE]
    for path in order((*rules, spec.home, *spec.private)):
        place = f"(subpath {_quote(str(path))})"
        if path not in rules:
            lines.append(f"(deny file-read-data file-write* {place})\n")
        elif rules[path].writable:
            lines.append(f"(allow file-read* file-write* {place})\n")
        else:
            lines.append(f"(allow file-read* {place})\n(deny file-write* {place})\n")
    lines.append(_NETWORK if spec.network is Network.OPEN else "(deny network*)\n")
    return "".join(lines)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if any(ord(letter) < 32 for letter in text):
        raise Invalid(f"{text!r} cannot stand in a profile of sandbox-exec")
    return f'"{escaped}"'

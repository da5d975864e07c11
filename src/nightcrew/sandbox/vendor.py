"""Network `vendor`: a sandbox without a network, and one way out of it that leads to the model's servers alone. What
runs there is `tunnel`; here is what it needs in a spec and on the command line."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.sandbox.program import find_python_view
from nightcrew.sandbox.spec import Bind, Link
from nightcrew.sandbox.tunnel import OWN, TLS_PORT, parse_server

TUNNEL = Path(__file__).with_name("tunnel.py")
PLACE = Path("/run/nightcrew")
"""Where the socket is inside."""
SOCKET = "proxy.sock"
LOG = "network.log"


@dataclass(frozen=True, slots=True)
class VendorView:
    """What goes into a spec, and before the agent's words `inside` and the sandbox's own `outside`."""

    binds: tuple[Bind, ...] = ()
    links: tuple[Link, ...] = ()
    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


def ensure_vendor_view(folder: Path, hosts: Iterable[str]) -> VendorView:
    """The way out for a run. `folder` is one beside the agent's, for the socket and the log of what was refused;
    `hosts` are servers by name, with a port if that is not 443. Invalid if there is none, or one that is none."""
    named = tuple(dict.fromkeys(hosts))
    servers = [parse_server(host, TLS_PORT) for host in named]
    if not named or None in servers:
        told = ", ".join(named) or "none"
        raise Invalid(f"network: vendor needs the servers of the model, and has {told}: set `hosts`")
    place = folder / "proxy"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = [f"{server[0]}:{server[1]}" for server in servers if server is not None and server[0] in OWN]
    outside = {"socket": str(place / SOCKET), "hosts": named, "log": str(folder / LOG)}
    inside = {"socket": str(PLACE / SOCKET), "own": own}
    python = find_python_view()
    return VendorView(
        binds=(Bind(PLACE, source=place), Bind(TUNNEL), *python.binds),
        links=python.links,
        inside=_words("inside", inside),
        outside=_words("outside", outside),
    )


def _words(role: str, given: object) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", str(TUNNEL), role, json.dumps(given), "--")

"""The way out of a sandbox that has no network: a program that runs twice, by file path under `python -I -S`, with the
standard library alone.

    outside   a proxy on a Unix socket, which connects to the servers that are named and to no other. It starts the
              sandbox, and ends with it: it lives in the agent's session, so it outlives the service as the agent does.
    inside    a port on the sandbox's own loopback that leads to that socket. It starts the agent, with the variables
              that name a proxy. A model on this machine gets its own port inside.

The proxy sees names and not content: CONNECT (RFC 9110, 9.3.6) for TLS, and plain HTTP only to servers with a port of
their own. What it refused is in its log. Its words: `tunnel.py outside|inside JSON -- argv`.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import signal
import socket
import subprocess  # noqa: TID251 - a program of its own, outside the service
import sys
import threading

TLS_PORT, HTTP_PORT = 443, 80
HEAD_CAP, HEAD_S, CONNECT_S = 16_384, 30.0, 20.0
CONNECTIONS = 128
LOGGED = 1000
"""Refusals that are written down: an agent must not fill the disk with them."""
NOT_STARTED = 127
OWN = ("localhost", "127.0.0.1", "::1")
"""Names of this machine: a sandbox has a loopback of its own, so a port of it is made inside."""
_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
_DROPPED = (b"proxy-", b"connection:", b"keep-alive:")

TYPE_CHECKING = False  # the typing module costs start-up time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Server = tuple[str, int]


def parse_server(text: str, default: int | None) -> Server | None:
    """`host`, `host:port` or `[::1]:port`; None if it is none, or has no port and there is no default."""
    host, port = text, ""
    if text.startswith("["):
        host, _, after = text[1:].partition("]")
        if after and not after.startswith(":"):
            return None
        port = after[1:]
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if port and not (port.isascii() and port.isdigit()):
        return None
    number = int(port) if port else default
    host = host.lower().removesuffix(".")
    if number is None or not 0 < number < 65_536 or not host or any(letter in host for letter in "/@\\ \0"):
        return None
    return host, number


def is_open_to(host: str, address: str) -> bool:
    """Whether an address may be what a name stands for: a vendor's name does not lead to this machine."""
    if host in OWN or host == address:
        return True
    found = ipaddress.ip_address(address.partition("%")[0])
    return not (found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast)


class Refused(Exception):
    """What is answered instead of a connection."""

    def __init__(self, status: str, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Proxy:
    """Answers one request a connection."""

    def __init__(self, hosts: list[str], log: str) -> None:
        named = (parse_server(host, TLS_PORT) for host in hosts)
        self._allowed = {server for server in named if server is not None}
        self._log, self._left = log, LOGGED
        self._lock = threading.Lock()

    def answer(self, client: socket.socket) -> None:
        """Read the head of a request, connect, and pass on what comes; or refuse."""
        try:
            head, rest = read_head(client)
            server, first, reply = self._target(head)
            upstream = self._connect(server)
        except Refused as error:
            self._refuse(client, error)
            return
        with upstream:
            client.settimeout(None)
            upstream.sendall(first + rest)
            client.sendall(reply)
            relay(client, upstream)

    def _target(self, head: bytes) -> tuple[Server, bytes, bytes]:
        """The server asked for, what is said to it first, and what the client is told."""
        line, _, headers = head.partition(b"\r\n")
        words = line.decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise Refused("400 Bad Request", f"not a request: {words[0][:40]!r}")
        method, target, _ = words
        if method == "CONNECT":
            server = parse_server(target, None)
            self._check(server, f"CONNECT {target}")
            if server is not None:
                return server, b"", b"HTTP/1.1 200 Connection established\r\n\r\n"
        scheme, _, after = target.partition("://")
        place, slash, path = after.partition("/")
        server = parse_server(place, HTTP_PORT) if scheme.lower() == "http" else None
        if server is None or server[1] == TLS_PORT:
            raise Refused("403 Forbidden", f"{method} {target[:200]}: only http:// and CONNECT are passed on")
        self._check(server, f"{method} {target}")
        kept = [one for one in headers.split(b"\r\n") if one and not one.lower().startswith(_DROPPED)]
        first = b"\r\n".join([f"{method} {slash}{path} {words[2]}".encode("latin-1"), *kept, b"Connection: close"])
        return server, first + b"\r\n\r\n", b""

    def _check(self, server: Server | None, asked: str) -> None:
        if server not in self._allowed:
            raise Refused("403 Forbidden", f"{asked[:300]} is not among the servers of this agent")

    def _connect(self, server: Server) -> socket.socket:
        host, port = server
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Refused("502 Bad Gateway", f"{host} is not known: {error}") from error
        why = "it has no address"
        for family, kind, protocol, _, address in found:
            if not is_open_to(host, str(address[0])):
                why = f"its address {address[0]} is of this machine"
                continue
            upstream = socket.socket(family, kind, protocol)
            upstream.settimeout(CONNECT_S)
            try:
                upstream.connect(address)
            except OSError as error:
                upstream.close()
                why = str(error)
                continue
            upstream.settimeout(None)
            return upstream
        raise Refused("502 Bad Gateway", f"{host}:{port} cannot be reached: {why}")

    def _refuse(self, client: socket.socket, error: Refused) -> None:
        with self._lock:
            if self._left > 0:
                self._left -= 1
                with contextlib.suppress(OSError), open(self._log, "a", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs start-up time
                    file.write(f"{error.status[:3]} {ascii(error.words)[1:-1]}\n")
        body = f"Nightcrew: {ascii(error.words)[1:-1]}\n".encode()
        head = f"HTTP/1.1 {error.status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        client.sendall(head.encode() + body)


def read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """The head of a request, and what came with it of the rest."""
    client.settimeout(HEAD_S)
    content = b""
    while b"\r\n\r\n" not in content:
        chunk = client.recv(4096)
        if not chunk or len(content) > HEAD_CAP:
            raise Refused("400 Bad Request", "no whole request came")
        content += chunk
    head, _, rest = content.partition(b"\r\n\r\n")
    return head, rest


def relay(one: socket.socket, two: socket.socket) -> None:
    """Pass on what comes on both sides until both have ended."""
    other = threading.Thread(target=_pump, args=(two, one), daemon=True)
    other.start()
    _pump(one, two)
    other.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65_536):
            target.sendall(chunk)
    except OSError:
        pass
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def serve(listener: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    """Answer each connection in a thread of its own, so many at a time."""
    places = threading.BoundedSemaphore(CONNECTIONS)

    def one(client: socket.socket) -> None:
        with places, client, contextlib.suppress(OSError):
            answer(client)

    def accept() -> None:
        while True:
            with contextlib.suppress(OSError):
                client, _ = listener.accept()
                threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


# --- Outside and inside ---------------------------------------------------------------------------------------------


def listen_outside(given: dict[str, Any]) -> dict[str, str]:
    """The proxy: `socket`, `hosts`, `log`."""
    folder, name = os.path.split(given["socket"])
    before = os.getcwd()  # noqa: PTH109 - as above
    os.umask(0o077)
    listener = socket.socket(socket.AF_UNIX)
    os.chdir(folder)  # the whole path may be too long for a socket
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{name}.new")  # noqa: PTH108 - as above
    listener.bind(f"{name}.new")
    listener.listen(CONNECTIONS)
    os.replace(f"{name}.new", name)  # noqa: PTH105 - as above; whoever sees the socket is answered
    os.chdir(before)
    serve(listener, Proxy(given["hosts"], given["log"]).answer)
    return {}


def listen_inside(given: dict[str, Any]) -> dict[str, str]:
    """The way to the proxy: `socket`, and `own`, servers of this machine that are reached by their own port."""

    def pass_on(client: socket.socket) -> None:
        with _reach(given["socket"]) as proxy:
            relay(client, proxy)

    for text in given["own"]:
        with contextlib.suppress(OSError):  # a port below 1024 is not for everybody
            serve(_loopback(parse_server(text, None)), lambda client, text=text: _tunnel(client, given["socket"], text))  # type: ignore[misc]  # mypy cannot infer it
    listener = _loopback(("127.0.0.1", 0))
    serve(listener, pass_on)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    return {
        **dict.fromkeys(_PROXY_VARIABLES, url),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(OWN)),
        "NODE_USE_ENV_PROXY": "1",
    }


def _loopback(server: Server | None) -> socket.socket:
    listener = socket.socket(socket.AF_INET)
    listener.bind(("127.0.0.1", server[1] if server else 0))
    listener.listen(CONNECTIONS)
    return listener


def _reach(path: str) -> socket.socket:
    proxy = socket.socket(socket.AF_UNIX)
    proxy.connect(path)
    return proxy


def _tunnel(client: socket.socket, path: str, server: str) -> None:
    with _reach(path) as proxy:
        proxy.sendall(f"CONNECT {server} HTTP/1.1\r\n\r\n".encode())
        head, rest = read_head(proxy)
        if b" 200 " in head.partition(b"\r\n")[0]:
            proxy.settimeout(None)
            client.sendall(rest)
            relay(client, proxy)


def run(argv: list[str], env: dict[str, str]) -> int:
    """Run it to its end, whoever asks this program to end first: those who do ask it as well. Its exit code, 128+n
    after death by signal n."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # a handler is not inherited, as ignoring would be
    try:
        code = subprocess.Popen(argv, env=env).wait()
    except OSError as error:
        sys.stderr.write(f"cannot start {argv[0]!r}: {error.strerror}\n")
        return NOT_STARTED
    return code if code >= 0 else 128 - code


def main(words: list[str]) -> int:
    """`outside|inside JSON -- argv`."""
    role, given, _, *argv = words
    listen = {"outside": listen_outside, "inside": listen_inside}[role]
    variables = listen(json.loads(given))
    return run(argv, {**os.environ, **variables})  # noqa: TID251 - what it was given is for its child


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # connections that are still open do not hold it

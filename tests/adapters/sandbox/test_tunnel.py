"""The way out of a sandbox under `network: vendor`: to the servers that are named, and to no other. A real proxy, real
servers on loopback, and a real sandbox around the last of it."""

import contextlib
import http.server
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from nightcrew.core.errors import Invalid
from nightcrew.sandbox import Network, build_argv, ensure_vendor_view
from nightcrew.sandbox.tunnel import is_open_to, parse_server
from nightcrew.sandbox.vendor import TUNNEL
from tests.adapters.sandbox.cell import Cell, get_sandbox
from tests.waiting import eventually


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"{self.path} {self.headers.get('Proxy-Authorization')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """A server on loopback; its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Proxy:
    folder: Path

    def ask(self, request: str) -> str:
        """What it answers, to the end."""
        with contextlib.chdir(self.folder), socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect("proxy.sock")
            client.sendall(request.encode("latin-1"))
            if not request.startswith("CONNECT"):
                client.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := client.recv(4096):
                answer += chunk
                if answer.startswith(b"HTTP/1.1 200 Connection"):
                    client.sendall(b"GET /through HTTP/1.0\r\n\r\n")
                    client.shutdown(socket.SHUT_WR)
                    answer = b"tunnel "
            return answer.decode("latin-1")

    @property
    def log(self) -> str:
        path = self.folder / "network.log"
        return path.read_text() if path.exists() else ""


@contextlib.contextmanager
def proxying(folder: Path, *hosts: str) -> Iterator[Proxy]:
    """The outer half around a program that ends with its input."""
    given = {"socket": str(folder / "proxy.sock"), "hosts": hosts, "log": str(folder / "network.log")}
    argv = [sys.executable, "-I", "-S", str(TUNNEL), "outside", json.dumps(given), "--", "cat"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        until = time.monotonic() + 20
        while not (folder / "proxy.sock").exists():
            assert time.monotonic() < until
        try:
            yield Proxy(folder)
        finally:
            process.stdin.close()
        assert process.wait(20) == 0


def test_a_server_that_is_named_is_reached_and_no_other(tmp_path):
    with serving() as port, serving() as other, proxying(tmp_path, f"localhost:{port}", "vendor.example") as proxy:
        assert proxy.ask(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n").endswith("/through None")
        assert proxy.ask(f"CONNECT LOCALHOST.:{port} HTTP/1.1\r\n\r\n").endswith("/through None")
        assert proxy.log == ""
        for target in (
            f"localhost:{other}",  # another port
            f"127.0.0.1:{port}",  # the same server by its address
            f"[::1]:{port}",
            "evil.example:443",
            "vendor.example.evil.example:443",
            "evil-vendor.example:443",
            "sub.vendor.example:443",
            "vendor.example:80",
            "vendor.example:22",
            "vendor.example",
            "169.254.169.254:80",
            "vendor.example:443@evil.example:443",
            "vendor.example:443:443",
            "vendor.example:0443x",
            "",
        ):
            answer = proxy.ask(f"CONNECT {target} HTTP/1.1\r\nHost: vendor.example:443\r\n\r\n")
            assert answer.startswith(("HTTP/1.1 403", "HTTP/1.1 400")), target
            assert target in proxy.log or not target


def test_a_server_that_does_not_answer_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with proxying(tmp_path, f"127.0.0.1:{port}") as proxy:
        assert proxy.ask(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502")
        assert "refused" in proxy.log


def test_plain_http_goes_only_where_a_port_is_named(tmp_path):
    with serving() as port, proxying(tmp_path, f"localhost:{port}", "vendor.example", "plain.example:443") as proxy:
        head = "Host: x\r\nProxy-Authorization: Basic abc\r\nConnection: keep-alive\r\n\r\n"
        assert proxy.ask(f"GET http://localhost:{port}/a?b HTTP/1.1\r\n{head}").endswith("/a?b None")
        for target in (
            "http://vendor.example/",
            "http://plain.example:443/",
            "https://vendor.example/",
            "http://evil.example/",
            f"http://me:pw@localhost:{port}/",
            f"http://evil.example/@localhost:{port}/",
            "/",
            "ftp://vendor.example/",
            "file:///etc/passwd",
        ):
            assert proxy.ask(f"GET {target} HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403"), target


@pytest.mark.parametrize("request_", ["hello\r\n\r\n", "CONNECT a:1 FTP/1\r\n\r\n", "GET  http://a HTTP/1.1\r\n\r\n",
                                      "\r\n\r\n", "GET / HTTP/1.1\r\n" + "x" * 40_000])  # fmt: skip
def test_what_is_no_request_is_refused(tmp_path, request_):
    with proxying(tmp_path, "vendor.example") as proxy, contextlib.suppress(ConnectionError):
        assert proxy.ask(request_).startswith("HTTP/1.1 400")


def test_the_log_holds_one_line_for_each_and_no_more_than_it_may(tmp_path):
    with proxying(tmp_path, "vendor.example") as proxy:
        proxy.ask("CONNECT evil\x1b[31m.example:443 HTTP/1.1\r\n\r\n")
        assert proxy.log.count("\n") == 1
        assert "\x1b" not in proxy.log
        for _ in range(1005):
            proxy.ask("CONNECT a:1 HTTP/1.1\r\n\r\n")
        assert proxy.log.count("\n") == 1000


@pytest.mark.parametrize(
    ("host", "address", "is_open"),
    [
        ("vendor.example", "203.0.113.7", True),
        ("vendor.example", "10.0.0.7", True),  # a company's own gateway
        ("vendor.example", "127.0.0.1", False),
        ("vendor.example", "::1", False),
        ("vendor.example", "169.254.169.254", False),
        ("vendor.example", "fe80::1%eth0", False),
        ("vendor.example", "0.0.0.0", False),
        ("localhost", "127.0.0.1", True),
        ("127.0.0.2", "127.0.0.2", True),
    ],
)
def test_a_name_does_not_lead_to_this_machine(host, address, is_open):
    assert is_open_to(host, address) is is_open


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("A.Example", ("a.example", 443)),
        ("a.example.:8443", ("a.example", 8443)),
        ("[::1]:80", ("::1", 80)),
        ("[::1]", ("::1", 443)),
        ("::1", ("::1", 443)),
        ("a:0", None),
        ("a:70000", None),
        ("a:\u0663", None),
        ("", None),
        (":443", None),
        ("a/b:443", None),
        ("[::1]x", None),
    ],
)
def test_the_name_of_a_server(text, server):
    assert parse_server(text, 443) == server


def test_without_servers_there_is_no_way_out(tmp_path):
    with pytest.raises(Invalid, match="set `hosts`"):
        ensure_vendor_view(tmp_path, ())
    with pytest.raises(Invalid, match="a/b"):
        ensure_vendor_view(tmp_path, ("a/b",))


# --- In a sandbox ---------------------------------------------------------------------------------------------------


def vendor_argv(cell: Cell, folder: Path, script: str, *hosts: str) -> tuple[str, ...]:
    way = ensure_vendor_view(folder, hosts)
    spec = replace(cell.spec, network=Network.VENDOR, binds=(*cell.spec.binds, *way.binds), links=way.links)
    return (*way.outside, *build_argv(spec, (*way.inside, "bash", "-c", script), cell.sandbox))


def run(cell: Cell, folder: Path, script: str, *hosts: str) -> tuple[int, str]:
    done = subprocess.run(
        vendor_argv(cell, folder, script, *hosts), env=cell.env, cwd=cell.tree, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


ASK = f"""{sys.executable} -I -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=20).read())' """


async def test_an_agent_reaches_a_model_of_this_machine_and_nothing_else(cell: Cell, tmp_path):
    await get_sandbox()
    folder = tmp_path / "run"
    with serving() as port, serving() as other:
        code, said = run(cell, folder, f"{ASK} http://localhost:{port}/model", f"localhost:{port}")
        assert (code, "/model" in said) == (0, True), said
        for script in (
            f"{ASK} http://localhost:{other}/",
            f"exec 3<>/dev/tcp/127.0.0.1/{other}",
            "exec 3<>/dev/tcp/203.0.113.7/443",
            f"no_proxy= {ASK} http://localhost:{other}/",
            "getent hosts example.com",
        ):
            code, said = run(cell, folder, script, f"localhost:{port}")
            assert code != 0, (script, said)
    assert f"localhost:{other}" in (folder / "network.log").read_text()


async def test_its_variables_name_the_proxy_and_its_exit_code_is_told(cell: Cell, tmp_path):
    code, said = run(cell, tmp_path / "run", 'echo "$HTTPS_PROXY $https_proxy $NO_PROXY"; exit 7', "vendor.example")
    assert code == 7
    assert said.startswith("http://127.0.0.1:")
    assert said.strip().endswith("localhost,127.0.0.1,::1")
    code, said = run(cell, tmp_path / "run", "kill -9 $$", "vendor.example")
    assert code == 137


async def test_it_ends_with_the_proxy(cell: Cell, tmp_path):
    argv = vendor_argv(cell, tmp_path / "run", "touch up; sleep 97531", "vendor.example")
    with subprocess.Popen(argv, env=cell.env, cwd=cell.tree, stdin=subprocess.DEVNULL) as process:
        try:
            await eventually((cell.tree / "up").exists, what="the agent's start")
        finally:
            process.kill()
    await eventually(lambda: "sleep 97531" not in running(), what="the agent's end")


def running() -> str:
    return subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout

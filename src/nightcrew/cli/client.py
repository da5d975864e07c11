"""The service's API over its Unix socket, with the standard library's HTTP. It knows no command."""

import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode

from nightcrew.cli.error import CliError, NotRunning

PREFIX = "/api/v1"
TIMEOUT_S = 60.0
"""How long one answer may take; a live stream says that it lives more often than this."""

TYPE_CHECKING = False  # type checkers take it as true; importing typing would cost a tenth of a command's time
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]
else:
    Json = dict

Query = Mapping[str, str | int | bool | None]


class UnixConnection(http.client.HTTPConnection):
    """HTTP to the socket at a path. The Host header says `nightcrew`."""

    def __init__(self, path: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__("nightcrew", timeout=timeout_s)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """One connection to the service, kept for all requests of a command."""

    def __init__(self, path: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        self._connection = UnixConnection(path, timeout_s=timeout_s)

    def connect(self) -> None:
        """Raises NotRunning if no service answers there."""
        try:
            self._connection.connect()
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
            self._connection.close()
            raise NotRunning from error
        except OSError as error:
            self._connection.close()
            raise CliError(f"cannot reach the service: {error.strerror or error}") from error

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, query: Query | None = None) -> Json:
        return self._ask("GET", path, query=query)

    def post(self, path: str, body: Json | None = None) -> Json:
        return self._ask("POST", path, body=body)

    def follow(self, path: str, query: Query | None = None) -> Iterator[tuple[str, Json]]:
        """The messages of a live stream, each with its kind, until the service ends it. A failing stream raises
        CliError."""
        response = self._send("GET", path, query=query)
        if response.status != 200:
            raise _refusal(response.status, response.read())
        kind = ""
        try:
            while line := response.readline():
                text = line.decode("utf-8", "replace").rstrip("\n")
                if text.startswith("event: "):
                    kind = text[7:]
                elif text.startswith("data: "):
                    yield kind, _parse(text[6:].encode())
        except (OSError, http.client.HTTPException) as error:
            raise CliError("the service went away") from error

    def _ask(self, method: str, path: str, *, query: Query | None = None, body: Json | None = None) -> Json:
        response = self._send(method, path, query=query, body=body)
        try:
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise CliError("the service went away in the middle of its answer") from error
        if response.status != 200:
            raise _refusal(response.status, content)
        return _parse(content)

    def _send(
        self, method: str, path: str, *, query: Query | None = None, body: Json | None = None
    ) -> http.client.HTTPResponse:
        if self._connection.sock is None:
            self.connect()
        target = PREFIX + path + _query(query)
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        try:
            self._connection.request(method, target, body=content, headers=headers)
            return self._connection.getresponse()
        except TimeoutError as error:
            raise CliError(
                f"the service did not answer within {self._connection.timeout:g} s", hint="see: nightcrew doctor"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise CliError("the service went away before it answered", hint="ask again: nightcrew status") from error


def _query(query: Query | None) -> str:
    if query is None:
        return ""
    given = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }
    return f"?{urlencode(given)}" if given else ""


def _parse(content: bytes) -> Json:
    try:
        value = json.loads(content)
    except ValueError as error:
        raise CliError("the service gave an answer that is not JSON", hint="see: nightcrew doctor") from error
    if not isinstance(value, dict):
        raise CliError("the service gave an answer of an unknown shape", hint="see: nightcrew doctor")
    return value


def _refusal(status: int, content: bytes) -> CliError:
    try:
        message = str(json.loads(content)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the service answered {status}"
    return CliError(message)

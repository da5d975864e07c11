"""What a command is given: the home, where to print, the clock, and the ways to the service."""

import importlib
import os
import sys
import time
from collections.abc import Callable, Mapping

from nightcrew.cli.client import Client, Json
from nightcrew.cli.error import CliError
from nightcrew.cli.reader import LiveReader, Reader
from nightcrew.cli.terminal import Terminal
from nightcrew.config.home import Home, expand_path, find_home

TYPE_CHECKING = False  # type checkers take it as true; importing typing would cost a tenth of a command's time
if TYPE_CHECKING:
    from typing import Any, TextIO

    from nightcrew.cli.table import Column

    Row = Callable[[Json], list[str]]

Load = Callable[[str], "Any"]
"""How the parts of the service that a command runs by itself are found, by module name."""


class Surroundings:
    """What lies around a command: streams, variables, clock and the loader. Tests give their own."""

    def __init__(
        self,
        *,
        out: "TextIO | None" = None,
        err: "TextIO | None" = None,
        environ: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
        load: Load = importlib.import_module,
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.environ = dict(os.environ) if environ is None else environ
        self.now = now
        self.load = load


class Context:
    """One command's surroundings. `as_json`: print JSON, not words."""

    def __init__(self, surroundings: Surroundings, *, home: str | None, as_json: bool) -> None:
        self.as_json = as_json
        self.environ = surroundings.environ
        self.terminal = Terminal(surroundings.out, surroundings.err, environ=surroundings.environ)
        self._surroundings = surroundings
        self._home = home
        self._client: Client | None = None

    @property
    def home(self) -> Home:
        """`--home`, else what the environment names."""
        if self._home is None:
            return find_home(self.environ)
        if not self._home.strip():
            raise CliError("--home needs a folder", code=2)
        return Home(expand_path(self._home, self.environ))

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self._surroundings.now()

    def client(self) -> Client:
        """The running service. Raises NotRunning if there is none."""
        if self._client is None:
            client = Client(self.home.socket)
            client.connect()
            self._client = client
        return self._client

    def reader(self) -> Reader:
        """The running service, or what is stored of it if none runs, which is said on standard error."""
        from nightcrew.cli.error import NotRunning

        try:
            return LiveReader(self.client())
        except NotRunning:
            if not self.home.root.is_dir():
                raise CliError(
                    f"there is no Nightcrew at {self.home.root}", hint="begin with: nightcrew init"
                ) from None
            if not self.as_json:
                self.terminal.remark("the service is not running; this is what was last recorded")
            from nightcrew.cli.offline import OfflineReader

            return OfflineReader(self.load("offline").open_offline_service, self.home.root)

    def load(self, part: str) -> "Any":
        """The module `nightcrew.service.<part>`."""
        return self._surroundings.load(f"nightcrew.service.{part}")

    def answer(self, answer: Json) -> int:
        """Print what came of a command."""
        if self.as_json:
            self.terminal.json(answer)
        else:
            from nightcrew.cli.text import clean

            self.terminal.line(clean(answer["words"]))
        return 0

    def listing(self, name: str, items: "list[Json]", *, none: str, columns: "list[Column]", row: "Row") -> int:
        """Print a list: as JSON under `name`, else as a table, or `none` where there is nothing."""
        if self.as_json:
            self.terminal.json({name: items})
        elif not items:
            self.terminal.line(none)
        else:
            self.terminal.table(columns, [row(item) for item in items])
        return 0

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

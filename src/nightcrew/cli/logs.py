"""`nightcrew logs`: what the service said, from its log files; it need not run."""

import argparse
import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.moment import parse_moment
from nightcrew.cli.parser import leaf
from nightcrew.cli.task import TASK_WORDS
from nightcrew.cli.text import clean

LOOK_EVERY_S = 0.3
_LEVELS = ("info", "warning", "error")
_SHOWN = ("event", "level", "logger", "task", "run", "timestamp", "why")


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, show_logs)
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    parser.add_argument("--task", metavar="TASK", help=f"only of this one: {TASK_WORDS}")
    parser.add_argument("--level", choices=_LEVELS, default="info", help="at least so bad (default: info)")
    parser.add_argument("--lines", metavar="N", type=int, default=50, help="how many of the last (default: 50)")


def show_logs(context: Context, options: argparse.Namespace) -> int:
    log = context.home.log
    if not log.parent.is_dir():
        raise CliError(f"there is no log at {log}", hint="the service writes it: nightcrew serve")
    with closing(Tail(log)) as tail:  # opened first, so that nothing falls between, and nothing is read twice
        wanted = (line for line in _lines(read_lines(log, tail)) if _is_wanted(line, options))
        for line in deque(wanted, maxlen=max(0, options.lines)):
            _print(context, line)
        context.terminal.out.flush()
        while options.follow:
            for line in _lines(tail.read()):
                if _is_wanted(line, options):
                    _print(context, line)
            context.terminal.out.flush()
            time.sleep(LOOK_EVERY_S)
    return 0


def read_lines(log: Path, tail: "Tail") -> Iterator[str]:
    """The lines of all files, the oldest first; those of the newest are read through `tail`."""
    opened = tail.identity
    for path in sorted(log.parent.glob(f"{log.name}.[0-9]"), reverse=True):
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                if os.fstat(file.fileno()).st_ino != opened:
                    yield from file
        except FileNotFoundError:
            continue  # it was put aside meanwhile
    yield from tail.read()


class Tail:
    """The log from its beginning, and what is added to it, also when another file takes its place."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._at = self._identity()
        self._file = None if self._at is None else log.open(encoding="utf-8", errors="replace")
        self._rest = ""

    @property
    def identity(self) -> int | None:
        """Of the file that is open, by which it is known under another name."""
        return self._at

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def read(self) -> list[str]:
        """Whole lines that were not read yet."""
        text = self._file.read() if self._file is not None else ""
        now = self._identity()
        if now is not None and now != self._at:
            if self._file is not None:
                text += self._file.read()
                self._file.close()
            self._file, self._at = self._log.open(encoding="utf-8", errors="replace"), now
            text += self._file.read()
        *whole, self._rest = (self._rest + text).split("\n")
        return whole

    def _identity(self) -> int | None:
        try:
            return self._log.stat().st_ino
        except FileNotFoundError:
            return None


def _lines(texts: Iterable[str]) -> Iterator[Json]:
    for text in texts:
        try:
            line = json.loads(text)
        except ValueError:
            continue  # cut off by a crash or a full disk
        if isinstance(line, dict):
            yield line


def _is_wanted(line: Json, options: argparse.Namespace) -> bool:
    level = str(line.get("level", "info"))
    if level in _LEVELS and _LEVELS.index(level) < _LEVELS.index(options.level):
        return False
    task = str(line.get("task") or "")
    return not options.task or task == options.task or task.endswith((f"/{options.task}", f"#{options.task}"))


def _print(context: Context, line: Json) -> None:
    terminal = context.terminal
    if context.as_json:
        terminal.json_line(line)
        return
    level = str(line.get("level", ""))
    marks = "" if level in ("", "info") else f"{clean(level)}  "
    task = f"{clean(str(line['task']))}  " if line.get("task") else ""
    event = terminal.paint(clean(str(line.get("event", ""))), "bold")
    why = f"  {clean(str(line['why']))}" if line.get("why") else ""
    others = "".join(
        f"  {clean(str(key))}={clean(str(value))}"
        for key, value in line.items()
        if key not in _SHOWN and value not in (None, "")
    )
    terminal.line(f"{_when(str(line.get('timestamp', '')))}  {marks}{task}{event}{why}{others}")


def _when(at: str) -> str:
    """Day and time by the clock of this machine."""
    try:
        return f"{parse_moment(at).astimezone():%m-%d %H:%M:%S}"
    except ValueError:
        return "?"

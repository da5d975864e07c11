"""Where a command prints: plain text, tables and JSON on standard output, remarks on standard error.

Colours only on a terminal, and not where NO_COLOR is set. What was written by others is passed through `text` before
it comes here; whole lines are cut to the terminal only by tables.
"""

import json
import os
from collections.abc import Mapping

from nightcrew.cli.table import Column, render_table
from nightcrew.cli.text import clean, clean_lines

TYPE_CHECKING = False  # type checkers take it as true; importing typing would cost a tenth of a command's time
if TYPE_CHECKING:
    from typing import TextIO

_COLOURS = {
    "new": "36",
    "routed": "36",
    "in_progress": "33",
    "needs_review": "35",
    "in_review": "35",
    "done": "32",
    "approve": "32",
    "blocked": "31",
    "request_changes": "31",
    "bold": "1",
    "dim": "2",
    "added": "32",
    "removed": "31",
}


class Terminal:
    """The two streams of one command. `columns` is None where lines have no limit."""

    def __init__(self, out: "TextIO", err: "TextIO", *, environ: Mapping[str, str]) -> None:
        self.out = out
        self.err = err
        self.is_tty = out.isatty()
        self.columns = _columns(out, environ) if self.is_tty else None
        self.colours = self.is_tty and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"

    def paint(self, text: str, colour: str) -> str:
        """Text in the colour that this word has, or unchanged."""
        code = _COLOURS.get(colour)
        return f"\x1b[{code}m{text}\x1b[0m" if code and self.colours else text

    def line(self, text: str = "") -> None:
        """One line of ours: any part of it that others wrote is clean already."""
        self.out.write(text + "\n")

    def text(self, content: str) -> None:
        """Many lines that others wrote."""
        self.out.write(clean_lines(content))

    def verbatim(self, content: str) -> None:
        """Bytes for another program: only if the output is not a terminal."""
        if self.is_tty:
            self.text(content)
        else:
            self.out.write(content)

    def json(self, value: object) -> None:
        """One JSON document, in ASCII, so that nothing in it reaches a terminal as a control."""
        self.out.write(json.dumps(value, indent=2).replace("\x7f", "\\u007f") + "\n")

    def json_line(self, value: object) -> None:
        """One JSON document on one line, shown at once."""
        self.out.write(json.dumps(value).replace("\x7f", "\\u007f") + "\n")
        self.out.flush()

    def table(self, columns: list[Column], rows: list[list[str]], *, indent: int = 0) -> None:
        """An aligned table; nothing for no rows."""
        for text in render_table(columns, rows, limit=self.columns, indent=indent, paint=self.paint):
            self.line(text)

    def remark(self, text: object) -> None:
        """One line on standard error, which pipes do not see."""
        self.out.flush()
        self.err.write(f"nightcrew: {clean(text)}\n")
        self.err.flush()


def _columns(out: "TextIO", environ: Mapping[str, str]) -> int:
    stated = environ.get("COLUMNS", "")
    if stated.isascii() and stated.isdigit() and int(stated) > 0:
        return int(stated)
    try:
        return os.get_terminal_size(out.fileno()).columns or 80
    except (OSError, ValueError):
        return 80

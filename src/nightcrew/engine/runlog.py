"""Reading a run's output a piece at a time, as text that is safe to show."""

from collections.abc import Callable
from pathlib import Path

from nightcrew.core.neutral import strip_controls
from nightcrew.ports.service import LogPiece

RenderLine = Callable[[Path, bytes], str | None]
"""Given a run folder and one line of its output: the readable text, or None to leave the line out."""

Mask = Callable[[str], str]

OUTPUT_FILE, ERROR_FILE = "stdout.log", "stderr.log"


def read_piece(
    folder: Path, *, offset: int, limit: int, ended: bool, render: RenderLine | None, mask: Mask
) -> LogPiece:
    """Whole lines from `offset` (bytes), at most `limit` bytes; `render` None gives them as they are. A last line
    without an end is held back until the run has ended. `mask` takes secrets out: the file itself is masked only once
    the run has ended. A secret of several lines is seen as far as they are in one piece."""
    path = folder / OUTPUT_FILE
    if path.is_symlink() or not path.is_file():
        return LogPiece("", offset, ended)
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        start = min(max(offset, 0), size)
        stream.seek(start)
        chunk = stream.read(limit)
    at_end = start + len(chunk) >= size
    if not (ended and at_end):
        border = chunk.rfind(b"\n") + 1
        # A line longer than the limit is given out in parts rather than never.
        chunk = chunk[:border] if border or len(chunk) < limit else chunk
    following = start + len(chunk)
    return LogPiece(mask(_text(folder, chunk, render)), following, ended and following >= size)


def _text(folder: Path, chunk: bytes, render: RenderLine | None) -> str:
    if render is None:
        return strip_controls(chunk.decode("utf-8", "replace"))
    shown = [render(folder, line) for line in chunk.splitlines()]
    return "".join(f"{text}\n" for text in shown if text is not None)

"""Tables for people: aligned by what is seen, cut to the width of the terminal."""

from collections.abc import Callable, Iterator

from nightcrew.cli.text import clean, cut, pad, width

_GAP = 2
_LEAST = 12


class Column:
    """A heading; `flexible` ones give way first when the terminal is narrow; `painted` ones are coloured by their
    own word."""

    __slots__ = ("flexible", "head", "painted")

    def __init__(self, head: str, *, flexible: bool = False, painted: bool = False) -> None:
        self.head = head
        self.flexible = flexible
        self.painted = painted


def render_table(
    columns: list[Column],
    rows: list[list[str]],
    *,
    limit: int | None,
    indent: int = 0,
    paint: Callable[[str, str], str] = lambda text, _colour: text,
) -> Iterator[str]:
    """The lines of a table, heading first; none for no rows. Cells are cleaned here. `limit` None: no line is cut."""
    if not rows:
        return
    cells = [[clean(cell) for cell in row] for row in rows]
    sizes = _sizes(columns, cells, None if limit is None else limit - indent)
    yield _line(
        [paint(cut(column.head, size), "dim") for column, size in zip(columns, sizes, strict=True)],
        [cut(column.head, size) for column, size in zip(columns, sizes, strict=True)],
        sizes,
        indent,
    )
    for row in cells:
        shown = [cut(cell, size) for cell, size in zip(row, sizes, strict=True)]
        painted = [
            paint(text, cell) if column.painted else text
            for text, cell, column in zip(shown, row, columns, strict=True)
        ]
        yield _line(painted, shown, sizes, indent)


def _line(painted: list[str], shown: list[str], sizes: list[int], indent: int) -> str:
    parts = [
        text + " " * (size - width(plain) + _GAP)
        for text, plain, size in zip(painted, shown, sizes, strict=True)
        if size > 0
    ]
    return pad("", indent) + "".join(parts).rstrip()


def _sizes(columns: list[Column], rows: list[list[str]], limit: int | None) -> list[int]:
    """Columns' widths: as wide as their widest cell, the flexible ones narrowed until all fits, the widest first.
    If that is not enough, the last columns are dropped."""
    sizes = [max(width(column.head), *(width(row[place]) for row in rows)) for place, column in enumerate(columns)]
    if limit is None:
        return sizes
    flexible = [place for place, column in enumerate(columns) if column.flexible]
    over = sum(sizes) + _GAP * (len(sizes) - 1) - limit
    while over > 0:
        wide = [place for place in flexible if sizes[place] > _LEAST]
        if not wide:
            break
        widest = max(wide, key=lambda place: sizes[place])
        sizes[widest] -= 1
        over -= 1
    return _fit(sizes, limit)


def _fit(sizes: list[int], limit: int) -> list[int]:
    left = limit
    fitted = []
    for size in sizes:
        fitted.append(max(0, min(size, left)))
        left -= size + _GAP
    return fitted

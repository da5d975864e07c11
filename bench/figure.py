"""What a benchmark comes to, and how it is shown."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one benchmark. `value` is in `unit`. With `floor`, what counts is `value / floor`, else `value`
    itself; it has to be at most `aim`. Without `aim` it only informs. `notes` tell where it goes, line by line."""

    benchmark: str
    case: str
    value: float
    unit: str
    floor: float | None = None
    aim: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def ratio(self) -> float | None:
        return None if self.floor is None else self.value / self.floor

    @property
    def met(self) -> bool | None:
        """None: there is no aim."""
        if self.aim is None:
            return None
        return (self.value if self.ratio is None else self.ratio) <= self.aim

    def as_json(self) -> dict[str, object]:
        """The figure as plain values."""
        return {
            "benchmark": self.benchmark, "case": self.case, "value": self.value, "unit": self.unit,
            "floor": self.floor, "ratio": self.ratio, "aim": self.aim, "met": self.met, "notes": list(self.notes),
        }  # fmt: skip


HEAD = ("benchmark", "case", "figure", "floor", "ratio", "aim", "met")


def render_figures(figures: Sequence[Figure]) -> str:
    """A table with the notes below it."""
    rows = [HEAD, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for figure in figures:
        if figure.notes:
            lines += ["", f"{figure.benchmark}, {figure.case}:", *(f"  {note}" for note in figure.notes)]
    return "\n".join(lines) + "\n"


def _row(figure: Figure) -> tuple[str, ...]:
    met = {True: "yes", False: "NO", None: ""}[figure.met]
    aim = "" if figure.aim is None else f"<= {_number(figure.aim)}"
    return (
        figure.benchmark,
        figure.case,
        f"{_number(figure.value)} {figure.unit}",
        "" if figure.floor is None else f"{_number(figure.floor)} {figure.unit}",
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        aim,
        met,
    )


def _number(value: float) -> str:
    if value == int(value):
        return str(int(value))
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def median(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def spread(values: Sequence[float], unit: str) -> str:
    """How far the single measurements lie apart."""
    return f"{len(values)} measurements, from {_number(min(values))} to {_number(max(values))} {unit}"

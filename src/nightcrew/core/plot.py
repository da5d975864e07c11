"""How runs ended over time, drawn: as text, and as a chart that GitHub draws."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from nightcrew.core.model.run import Run

_BAR = 24


def render_plot(runs: Iterable[Run], *, since_at: datetime, until_at: datetime) -> list[str]:
    """Good and failed runs by the hour, or by the day where the span is longer than two."""
    length = timedelta(hours=1) if until_at - since_at <= timedelta(days=2) else timedelta(days=1)
    form = "%d. %H:%M" if length < timedelta(days=1) else "%Y-%m-%d"
    good: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for run in runs:
        if run.ended_at is not None and run.outcome is not None and run.outcome.interruption is None:
            (good if run.outcome.failure is None else failed)[int((run.ended_at - since_at) / length)] += 1
    slots = sorted({*good, *failed})
    if not slots:
        return []
    most = max(good[slot] + failed[slot] for slot in slots)
    lines = []
    for slot in range(slots[0], slots[-1] + 1):
        bars = render_bar(good[slot], most, "█").rstrip() + render_bar(failed[slot], most, "░").rstrip()
        counts = f"{good[slot]} good, {failed[slot]} failed" if good[slot] or failed[slot] else ""
        lines.append(f"{since_at + slot * length:{form}} {bars} {counts}".rstrip())
    return ["```", *lines, "```", "", *_chart(since_at, form, length, good=good, failed=failed)]


def _chart(since_at: datetime, form: str, length: timedelta, *, good: Counter[int], failed: Counter[int]) -> list[str]:
    """The same for GitHub to draw (docs.github.com, "Creating diagrams"): all runs as bars, failed ones as a line."""
    slots = range(min({*good, *failed}), max({*good, *failed}) + 1)
    names = ", ".join(f'"{since_at + slot * length:{form}}"' for slot in slots)
    most = max(good[slot] + failed[slot] for slot in slots)
    return [
        "```mermaid",
        "xychart-beta",
        '    title "Ended runs (bars), and those that failed (line)"',
        f"    x-axis [{names}]",
        f'    y-axis "runs" 0 --> {most}',
        f"    bar [{', '.join(str(good[slot] + failed[slot]) for slot in slots)}]",
        f"    line [{', '.join(str(failed[slot]) for slot in slots)}]",
        "```",
    ]


def render_bar(count: int, most: int, sign: str = "█") -> str:
    """A count as part of a line of 24 signs; anything but nothing shows."""
    width = max(1, round(_BAR * count / most)) if count else 0
    return (sign * width).ljust(_BAR)

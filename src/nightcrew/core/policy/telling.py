"""Which notices is a receiver told of now, which later, and which together?"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from nightcrew.core.chat.message import Button, Message, Span, Style, lines
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.target import Quiet, Target
from nightcrew.core.neutral import one_line

BURST = 5
"""More than so many that are due at once are told in one message."""
_MOST_LISTED = 20
_RANK = {Priority.URGENT: 0, Priority.ACTION: 1, Priority.WARNING: 2, Priority.INFO: 3}
_SIGNS = {Priority.URGENT: "‼️", Priority.ACTION: "❗", Priority.WARNING: "⚠️", Priority.INFO: "ℹ️"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do about the notices of a receiver: `skip` are not for it; each of `single` is a message, all of
    `together` are one; the others wait, the first of them until `until`."""

    skip: tuple[Notice, ...] = ()
    single: tuple[Notice, ...] = ()
    together: tuple[Notice, ...] = ()
    until: datetime | None = None


def plan_telling(pending: Iterable[Notice], target: Target, *, now: datetime) -> Plan:
    """`now` in the receiver's time zone. What is urgent is told at once; the rest not in quiet hours; what is gathered,
    at the first digest after it came up. What has waited and is due at the same time goes into one message."""
    skip, due, gathered, waits = list[Notice](), list[Notice](), list[Notice](), list[datetime]()
    for notice in pending:
        if not _is_for(notice, target):
            skip.append(notice)
            continue
        at = _due_at(notice, target, now=now)
        if at > now:
            waits.append(at)
        else:
            (gathered if notice.priority in target.digest and not notice.receiver else due).append(notice)
    if gathered or len(due) > BURST:
        return Plan(tuple(skip), (), tuple(sorted([*due, *gathered], key=_order)), min(waits, default=None))
    return Plan(tuple(skip), tuple(sorted(due, key=_order)), (), min(waits, default=None))


def render_notice(notice: Notice) -> Message:
    """One notice as a message."""
    about = str(notice.task or notice.project or "Nightcrew")
    head = (Span(f"{_SIGNS[notice.priority]} "), Span(about, Style.BOLD), Span(f" {notice.kind.replace('_', ' ')}"))
    order = f"/task {notice.task}"
    buttons = (Button("Show", order),) if notice.task is not None and len(order.encode()) <= 64 else ()
    return Message(lines([head, (Span(notice.words),)]), buttons, quiet=notice.priority is Priority.INFO)


def render_together(notices: Sequence[Notice]) -> Message:
    """Several as one message: how many of each kind, and the first of them by what matters most, a line each."""
    kinds = Counter(notice.kind.replace("_", " ") for notice in notices)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    rows: list[tuple[Span, ...]] = [(Span(f"{len(notices)} notices", Style.BOLD), Span(f": {counts}"))]
    for notice in notices[:_MOST_LISTED]:
        about = Span(str(notice.task or notice.project or "Nightcrew"), Style.BOLD)
        rows.append((Span(f"{_SIGNS[notice.priority]} "), about, Span(f" {one_line(notice.words, 160)}")))
    if len(notices) > _MOST_LISTED:
        rows.append((Span(f"… and {len(notices) - _MOST_LISTED} more: nightcrew notice list"),))
    return Message(lines(rows), quiet=all(notice.priority is Priority.INFO for notice in notices))


def _is_for(notice: Notice, target: Target) -> bool:
    if notice.receiver or target.is_alone:
        return notice.receiver == target.name
    names = {project.casefold() for project in target.projects}  # as forges compare them
    is_project = not names or not notice.project or notice.project.casefold() in names
    return is_project and _RANK[notice.priority] <= _RANK[target.least]


def _due_at(notice: Notice, target: Target, *, now: datetime) -> datetime:
    if notice.priority is Priority.URGENT or notice.receiver:
        return now  # what is for one place alone answers what was said there
    at = now
    if notice.priority in target.digest:
        at = max(_next(notice.at.astimezone(now.tzinfo), target.digest_at), now)
    return at if target.quiet is None else _after(at, target.quiet)


def _after(at: datetime, quiet: Quiet) -> datetime:
    """`at`, or the end of the quiet hours that it lies in."""
    clock = at.time()
    if quiet.start < quiet.end:
        return at if not quiet.start <= clock < quiet.end else _next(at, quiet.end)
    return at if quiet.end <= clock < quiet.start else _next(at, quiet.end)


def _next(after: datetime, clock: time) -> datetime:
    """The first time after `after` at which a clock on the wall shows `clock`."""
    found = after.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0, fold=0)
    return found if found > after else found + timedelta(days=1)


def _order(notice: Notice) -> tuple[int, int]:
    return _RANK[notice.priority], notice.id

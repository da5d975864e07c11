"""Texts of sub-tasks: the issue that is made of one, what marks it, and how its end is told.

What an agent proposed stands in a code block, where it neither commands, refers, mentions nor hides anything.
"""

import re

from nightcrew.core.cut import cut
from nightcrew.core.ids import INTERNAL_FROM, RunId, render_number
from nightcrew.core.model.delegation import Delegation, SubTask
from nightcrew.core.model.issue import Standing
from nightcrew.core.neutral import forge_text, one_line

TITLE_LIMIT, BODY_LIMIT = 200, 8_000
"""Characters of what an agent proposes; reports are read with the same."""

_MARK = re.compile(r"<!-- nightcrew:sub-task (?P<depth>[1-9][0-9]?) [^\n]{1,120} -->")
_HEAD = 600
"""Marks are looked for at the beginning of a body."""
_TICKS = re.compile(r"`{3,}")
_ENDS = {
    Standing.OPEN: "still open: a person said not to wait for it",
    Standing.COMPLETED: "closed as completed",
    Standing.NOT_PLANNED: "closed without being done",
    Standing.DUPLICATE: "closed as a duplicate",
}

HANDING_OVER = (
    "Only where the task is too large for one change, you may propose to hand parts of it to others: add "
    '"delegations", a list of at most {most}, each an object with "title" and "body" (everything that its author has '
    'to know, who sees nothing else of yours), and if you like "complexity" ("simple", "medium", "complex"), "agent" '
    '(a name), "labels", and "depends_on" (places of earlier ones in the list, from 0, that have to be done first). '
    "Leave those parts undone yourself, and report done about the rest. Where they are taken, you are asked again once "
    "they have ended, with their work in your branch; where they are refused, you do them yourself. A part that you "
    "can do yourself is no sub-task."
)
"""What an author is told that may propose sub-tasks."""


def render_mark(depth: int, run: RunId, place: int) -> str:
    """By which a sub-task is found again, and how deep it is known; each is made once."""
    return f"<!-- nightcrew:sub-task {depth} {run} {place} -->"


def parse_depth(body: str) -> int:
    """How deep a task is by its text: 0 for one that nobody handed over."""
    found = _MARK.search(body[:_HEAD])
    return int(found["depth"]) if found is not None else 0


def render_title(what: Delegation) -> str:
    return one_line(forge_text(what.title), TITLE_LIMIT) or "A sub-task"


def render_body(part: SubTask, *, depth: int, parent: int, agent: str, needs: tuple[int, ...]) -> str:
    """The text of its issue or internal task. `needs` are the numbers of those that come first."""
    first = ", ".join(_name(number) for number in needs)
    lines = [
        render_mark(depth, part.run, part.place),
        f"A sub-task of {_name(parent)}, which {one_line(forge_text(agent), 80)} proposed while it worked on that:",
        "",
        _block(cut(forge_text(part.what.body), BODY_LIMIT)),
    ]
    return "\n".join([*lines, "", f"Depends on {first}."] if first else lines) + "\n"


def render_end(part: SubTask, *, merged: int | None, said: str) -> str:
    """How one ended, for the author of its parent; `merged` is the pull request by which it was."""
    name = _name(part.number) if part.number is not None else "(not made)"
    how = _ENDS.get(part.standing, "") if part.standing is not None else "not known"
    if merged is not None and part.standing is Standing.COMPLETED:
        how = f"merged as #{merged}, so it is in your branch's base"
    rest = f"\n   its author says: {one_line(said, 1500)}" if said else ""
    return f"- {name} {one_line(part.what.title, TITLE_LIMIT)}: {how}{rest}"


def _block(text: str) -> str:
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}markdown\n{text.strip()}\n{fence}"


def _name(number: int) -> str:
    return render_number(number) if number > INTERNAL_FROM else f"#{number}"

"""What the store knows of a project's board: its cards, and what was found at the last look at it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardView
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.task import Task
from nightcrew.engine.view.record import Records

BOARD = "engine.board"
"""The value that holds the facts; with `.<project>` behind it."""


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """What was found out about the board that is linked. `columns` names the one of each status, empty where it has
    none; `problem` says what a person should do, empty if nothing."""

    place: str = ""
    title: str = ""
    url: str = ""
    linked_at: str = ""
    looked_at: str = ""
    columns: Mapping[str, str] | None = None
    problem: str = ""


def parse_facts(text: str | None, place: str) -> BoardFacts:
    """The facts as kept; none if they are about another board."""
    try:
        raw = json.loads(text or "{}")
        facts = BoardFacts(**raw) if isinstance(raw, dict) else BoardFacts()
    except (ValueError, TypeError):
        facts = BoardFacts()
    return facts if facts.place == place else BoardFacts(place)


def render_facts(facts: BoardFacts) -> str:
    return json.dumps(asdict(facts))


def board_view(settings: ProjectSettings, records: Records) -> BoardView | None:
    """The board of a project, None if none is linked. A task that is done and never had a card is shown if that was
    after the board was linked."""
    place = settings.board.place
    if place is None:
        return None
    facts = parse_facts(records.values.get(f"{BOARD}.{settings.slug}"), str(place))
    cards = {
        card.task.number: card
        for card in records.cards
        if card.task.project == settings.slug and card.board == str(place)
    }
    linked_at = parse_moment(facts.linked_at)

    def lacks(task: Task) -> bool:
        card = cards.get(task.key.number)
        if card is not None:
            return card.status is not Status.DONE and not card.gone
        return linked_at is not None and task.updated_at >= linked_at

    finished = tuple(
        task.key.number
        for task in records.tasks.values()
        if task.key.project == settings.slug and task.status is Status.DONE and task.has_issue and lacks(task)
    )
    return BoardView(cards, finished, parse_moment(facts.looked_at), bool(facts.problem))


def board_problems(settings: ProjectSettings, records: Records) -> tuple[str, ...]:
    """What a person should do about the board of a project."""
    place = settings.board.place
    if place is None:
        return ()
    facts = parse_facts(records.values.get(f"{BOARD}.{settings.slug}"), str(place))
    return (f"board {place}: {facts.problem}",) if facts.problem else ()


def parse_moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None

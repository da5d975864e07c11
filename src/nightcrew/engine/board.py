"""Boards as a person asks about them: how each one is, and having it true now."""

from nightcrew.core.actions import Done, SyncBoard
from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.settings import Settings
from nightcrew.core.policy.boarding import is_ours
from nightcrew.engine.effect.board_create import create_columns
from nightcrew.engine.loop import Loop
from nightcrew.engine.view.board import BOARD, parse_facts, parse_moment
from nightcrew.ports.service import Answer, BoardStatus
from nightcrew.ports.store import Store


async def list_boards(store: Store, settings: Settings) -> tuple[BoardStatus, ...]:
    """The boards of the projects that have one, as the store knows them."""
    values, cards = await store.load_values(BOARD), await store.load_cards()
    tasks = {task.key: task.status for task in await store.load_tasks(include_done=True) if task.has_issue}
    found = []
    for slug, project in settings.projects.items():
        board = project.board
        if board.place is None:
            continue
        facts = parse_facts(values.get(f"{BOARD}.{slug}"), str(board.place))
        on_it = [card for card in cards if card.task.project == slug and card.board == str(board.place)]
        shown = [card for card in on_it if card.item and not card.gone]
        known = {card.task for card in on_it}
        lacking = [
            key for key, status in tasks.items()
            if key.project == slug and key not in known and status is not Status.DONE
        ]  # fmt: skip
        behind = [card for card in on_it if not card.gone and tasks.get(card.task) is not card.status]
        found.append(
            BoardStatus(
                project=slug,
                board=str(board.place),
                field_name=board.field_name,
                moved_by_hand=board.moved_by_hand.value,
                title=facts.title,
                url=facts.url,
                columns=facts.columns or {},
                cards=len(shown),
                behind=len(lacking) + len(behind),
                looked_at=parse_moment(facts.looked_at),
                problem=facts.problem,
            )
        )
    return tuple(found)


async def sync_now(loop: Loop, slug: str, *, create: bool) -> Answer:
    """Make what is lacking, if that was asked for, and bring every card to its place."""
    means = loop.means
    project = means.settings.projects.get(slug)
    if project is None:
        raise Missing(f"{slug} is not a configured project")
    if project.board.place is None:
        raise Invalid(f"{slug} has no board; link one with: nightcrew board link URL")
    made = await create_columns(means, slug) if create else ""
    place = str(project.board.place)
    world = loop.state.world.projects.get(slug) if loop.state.world is not None else None
    others = {view.task.key.number for view in (world.tasks if world is not None else ()) if not is_ours(view)}
    tasks = await means.ports.store.load_tasks(project=slug)
    shown = [task.key for task in tasks if task.key.number not in others and task.has_issue]
    numbers = tuple(key.number for key in shown)
    why = "a person asked for it"
    action = SyncBoard(slug, project.board.place, numbers, why, is_look=True, again=True)
    outcome = await loop.actor.submit(action)
    if not isinstance(outcome, Done):
        raise Conflict(f"{made}; then: {outcome.why}" if made else outcome.why)
    facts = parse_facts(await means.ports.store.find_value(f"{BOARD}.{slug}"), place)
    moved = f"{len(numbers)} tasks are shown on {facts.title or place}"
    words = "; ".join(filter(None, (made, moved, facts.problem)))
    return Answer(True, words, {"board": place, "url": facts.url, "tasks": len(numbers), "problem": facts.problem})

"""`nightcrew board …`: the board of GitHub's Projects that shows where a project's tasks are."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError, NotRunning
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.text import clean


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    linking = group.add("link", "show a project's tasks on a board", link_board)
    linking.add_argument("target", metavar="BOARD", help="the address of the board's page, or OWNER/NUMBER")
    syncing = group.add("sync", "bring every card to its column now", sync_board)
    showing = group.add("info", "show the boards, their columns, and what is wrong with them", show_boards)
    unlinking = group.add("unlink", "show a project on no board any more; its cards stay where they are", unlink_board)
    for verb in (linking, syncing):
        verb.add_argument("--create", action="store_true", help="make the field and the columns that are lacking")
    for verb in (linking, syncing, showing, unlinking):
        verb.add_argument("--project", metavar="OWNER/REPO", help="which project; needless if there is only one")


def link_board(context: Context, options: argparse.Namespace) -> int:
    board = context.load("board")
    project = board.find_project(context.home.root, options.project)
    place = board.link_board(context.home.root, project=project, target=options.target)
    if not context.as_json:
        context.terminal.line(f"{project} is shown on the board {place}.")
    try:
        context.client().post("/config/reload")
        answer = context.client().post("/boards/sync", {"project": project, "create": options.create})
    except NotRunning:
        words = "It takes effect when the service starts."
        answer = {"changed": True, "words": words, "data": {"board": place, "project": project}}
    except CliError as error:
        raise CliError(f"linked, but: {error.message}", hint=error.hint or "see: nightcrew board info") from error
    return context.answer(answer)


def unlink_board(context: Context, options: argparse.Namespace) -> int:
    board = context.load("board")
    project = board.find_project(context.home.root, options.project)
    board.unlink_board(context.home.root, project=project)
    try:
        context.client().post("/config/reload")
        words = f"{project} is shown on no board any more."
    except NotRunning:
        words = f"{project} is shown on no board any more once the service starts."
    return context.answer({"changed": True, "words": words, "data": {"project": project}})


def sync_board(context: Context, options: argparse.Namespace) -> int:
    project = context.load("board").find_project(context.home.root, options.project)
    return context.answer(context.client().post("/boards/sync", {"project": project, "create": options.create}))


def show_boards(context: Context, options: argparse.Namespace) -> int:
    boards = context.reader().list_boards()
    if options.project is not None:
        project = context.load("board").find_project(context.home.root, options.project)
        boards = [board for board in boards if board["project"] == project]
    if context.as_json:
        context.terminal.json({"boards": boards})
        return 0
    if not boards:
        context.terminal.line("No board is linked. Link one with: nightcrew board link URL")
    for board in boards:
        _show(context, board)
    return 0


def _show(context: Context, board: Json) -> None:
    seen = render_when(board["looked_at"], context.now) if board["looked_at"] else "not yet"
    lines = {
        "board": " ".join(filter(None, (board["board"], board["title"]))),
        "page": board["url"],
        "field": board["field"],
        "cards": f"{board['cards']}, {board['behind']} not in place" if board["behind"] else str(board["cards"]),
        "moved by hand": board["moved_by_hand"],
        "looked at": seen,
        "columns": ", ".join(f"{status}: {name or '(none)'}" for status, name in board["columns"].items()),
        "problem": board["problem"],
    }
    context.terminal.line(clean(board["project"]))
    for name, value in lines.items():
        if value:
            context.terminal.line(f"  {name + ':':<15}{clean(value)}")

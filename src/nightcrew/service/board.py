"""`nightcrew board link|unlink`: edits of the configuration, which a running service takes up by itself."""

from pathlib import Path

from nightcrew.config.edit import edit_file
from nightcrew.config.edit_board import set_board, unset_board
from nightcrew.config.home import Home
from nightcrew.config.spelling import find_spelling
from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.model.board import find_place
from nightcrew.service.load import load


def find_project(home: Path, name: str | None) -> str:
    """The project that is meant: that of this name, or the only one there is."""
    projects = load(Home(home)).apply().projects
    if name is None:
        if len(projects) != 1:
            raise Invalid(f"say which project: --project {'|'.join(projects) or 'OWNER/REPO'}")
        return next(iter(projects))
    found = find_spelling(name, projects)
    if found is None:
        raise Missing(f"{name} is not a configured project")
    return found


def link_board(home: Path, *, project: str, target: str) -> str:
    """Show the project on this board from now on; how the board is written."""
    place = find_place(target)
    if place is None:
        raise Invalid(f"{target!r} is not a board; write the address of its page, or OWNER/NUMBER")
    config = Home(home).config
    edit_file(config, lambda text: set_board(text, str(config), slug=project, place=target.strip()))
    return str(place)


def unlink_board(home: Path, *, project: str) -> None:
    """Show the project on no board any more. The cards stay where they are."""
    config = Home(home).config
    edit_file(config, lambda text: unset_board(text, str(config), slug=project))

"""What lies in the folders of a project's workspaces and checkouts. It is only looked at: markers say what is ours."""

from collections.abc import Iterator
from pathlib import Path

from nightcrew.core.errors import Conflict, Unavailable
from nightcrew.ports.workspace import WorkFolder
from nightcrew.workspaces.file import is_folder
from nightcrew.workspaces.lease import load_lease
from nightcrew.workspaces.marker import find_marker
from nightcrew.workspaces.repository import Repository


def list_folders(repository: Repository, *, installation: str) -> tuple[WorkFolder, ...]:
    """See the port."""
    try:
        known = dict(_workspaces(repository, installation))
        found = [known.get(path, WorkFolder(path)) for path in _folders(repository.worktrees)]
        return (*found, *(WorkFolder(path, checkout=path.name) for path in _folders(repository.checkouts)))
    except OSError as error:
        raise Unavailable(f"{error.filename or repository.worktrees} cannot be read: {error.strerror}") from error


def _workspaces(repository: Repository, installation: str) -> Iterator[tuple[Path, WorkFolder]]:
    """Those that this installation's markers name, whether they are there or not."""
    for path in sorted((repository.folder / "tasks").glob("*.json")):
        if not path.stem.isdecimal():
            continue
        number = int(path.stem)
        try:
            marker = find_marker(path)
        except Conflict:
            continue  # it is not understood: the folder counts as somebody else's
        if marker is not None and (marker.installation, marker.project) == (installation, repository.project):
            tree = repository.tree(number)
            yield tree, WorkFolder(tree, number, load_lease(repository.lease(number)).holder)


def _folders(top: Path) -> list[Path]:
    return sorted(path for path in top.iterdir() if is_folder(path)) if is_folder(top) else []

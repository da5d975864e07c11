"""The second half of a removal: taking away what was saved. What it goes by stands in the marker, so that whoever comes
after a crash does the same."""

import asyncio

from nightcrew.core.branch import PREFIX
from nightcrew.workspaces.file import discard, is_there
from nightcrew.workspaces.link import branch_ref, put_aside
from nightcrew.workspaces.marker import Marker
from nightcrew.workspaces.ref import delete_ref
from nightcrew.workspaces.repository import Repository
from nightcrew.workspaces.settle import collected_ref


async def take_away(repository: Repository, marker: Marker) -> None:
    """Remove folder, link and repository of a task whose marker says that it is being removed. The marker goes last,
    the lease's count stays. Folder and link are put aside if refs do not hold all of them. May be done again."""
    number = marker.number
    tree, admin = repository.tree(number), repository.admin(number)
    for path, name in ((tree, "tree"), (admin, "link")):
        if not marker.whole and is_there(path):
            put_aside(repository, path, name=f"{number}-{name}")
        await asyncio.to_thread(discard, path, repository.trash)
    if not repository.is_shared(number):
        await asyncio.to_thread(discard, repository.agents(number), repository.trash)
    elif marker.branch.startswith(PREFIX):
        delete_ref(repository.shared, branch_ref(marker.branch))
    # What the ref held is on the remote, merged or salvaged by now.
    await repository.run("update-ref", "--no-deref", "-d", collected_ref(number))
    await _forget_incoming(repository, number)
    repository.marker(number).unlink(missing_ok=True)


async def _forget_incoming(repository: Repository, number: int) -> None:
    listed = await repository.run("for-each-ref", "--format=delete %(refname)", f"refs/nightcrew/incoming/{number}/")
    if listed.stdout.strip():
        await repository.run("update-ref", "--no-deref", "--stdin", stdin=listed.stdout)

"""What is on record of pull requests that were in the merge queue, beside what the forge says of them."""

from dataclasses import replace

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.build import Build, BuildState
from nightcrew.core.model.pull import Pull
from nightcrew.ports.store import Store


async def builds_of(store: Store, task: TaskKey) -> tuple[Build, ...]:
    """The builds on record that a task was in and that have ended, oldest first."""
    return tuple(build for build in await store.load_builds() if build.ended_at is not None and task in build.tasks)


async def as_landed(store: Store, project: str, pull: Pull) -> Pull:
    """A pull request whose very head the merge queue landed is merged, although the forge shows it as closed."""
    if pull.is_merged or pull.is_open:
        return pull
    for build in await store.load_builds():
        if build.project != project or build.state is not BuildState.LANDED:
            continue
        for member in build.members:
            if (member.pull, member.head_sha) == (pull.number, pull.head_sha):
                return replace(pull, is_merged=True, merge_commit_sha=member.sha)
    return pull

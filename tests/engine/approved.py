"""A task whose pull request is approved and waits for CI: where the tests of publishing and merging begin."""

from nightcrew.core.actions import MergePull
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.model.settings import ProjectSettings
from tests.engine.part import PROJECT
from tests.engine.stage import Stage


def with_merge(**fields) -> tuple[ProjectSettings, ...]:
    return (ProjectSettings(PROJECT, merge=MergeSettings(**fields)),)


async def in_review(stage: Stage, **fields) -> tuple[TaskKey, MergePull]:
    """A task with a posted approval, whose CI has not answered; and the action that would merge it."""
    stage.auto_ci = False
    key = stage.file(**fields)
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    pull = stage.pull(key)
    return key, MergePull(key, pull.number, pull.head_sha, pull.base_ref, "approved")

"""The forge's own merge queue, through the effects."""

from nightcrew.core.actions import EnqueuePull, Refused
from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.holdup import HoldupKind
from nightcrew.core.model.pull import CheckState, Required
from tests.engine.approved import in_review
from tests.engine.part import PERSON, PROJECT
from tests.engine.stage import Stage


async def in_queue(tmp_path) -> tuple[Stage, TaskKey]:
    """A pull request that stands in the forge's queue."""
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(merge_queue=True)
    key, _ = await in_review(stage)
    stage.ci()
    await stage.later()
    assert list(stage.forge.projects[PROJECT].queue) == [stage.number(key)]
    return stage, key


def tries(stage: Stage, key: TaskKey) -> int:
    return sum(one.count for one in stage.task(key).holdups if one.kind is HoldupKind.ENQUEUED)


async def test_it_is_put_in_and_followed_to_its_end(tmp_path):
    stage, key = await in_queue(tmp_path)
    assert stage.wait(key).code == "forge_queue"
    assert (stage.count("merge_pull"), stage.count("enqueue_pull")) == (0, 1)
    stage.forge.merge_first(PROJECT)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).merge_sha == stage.forge.projects[PROJECT].branches["main"], "proven on the base"


async def test_a_label_takes_it_out_and_lets_it_in_again(tmp_path):
    stage, key = await in_queue(tmp_path)
    stage.forge.label(PROJECT, stage.number(key), "hold", actor=PERSON)
    await stage.later()
    assert stage.forge.projects[PROJECT].queue == {}
    assert (stage.wait(key).code, tries(stage, key)) == ("gate_shut", 0)
    stage.forge.unlabel(PROJECT, stage.number(key), "hold")
    await stage.later()
    assert (stage.wait(key).code, tries(stage, key)) == ("forge_queue", 1)


async def test_what_the_queue_takes_out_twice_gets_the_base(tmp_path):
    stage, key = await in_queue(tmp_path)
    stage.workspace.publish(PROJECT, {"other.txt": "new"})
    for _ in range(2):
        stage.forge.projects[PROJECT].queue.clear()
        await stage.later()
    assert stage.count("enqueue_pull") == 2
    assert stage.task(key).updates == 1
    head = stage.pull(key).head_sha
    stage.forge.add_check(PROJECT, head, "build", CheckState.FAILURE)
    await stage.until(lambda: stage.task(key).status is Status.ROUTED)


async def test_a_push_takes_it_out_and_is_reviewed(tmp_path):
    stage, key = await in_queue(tmp_path)
    stage.forge.push(PROJECT, stage.task(key).branch)
    await stage.later(play=False)
    assert stage.forge.projects[PROJECT].queue == {}
    assert stage.task(key).status in (Status.NEEDS_REVIEW, Status.IN_REVIEW)
    assert stage.count("enqueue_pull") == 1


async def test_m2_it_is_pinned_to_the_head_that_was_decided_on(tmp_path):
    stage, key = await in_queue(tmp_path)
    number, head = stage.number(key), stage.pull(key).head_sha
    stage.forge.projects[PROJECT].queue.clear()
    stage.forge.push(PROJECT, stage.task(key).branch)
    assert isinstance(await stage.act(EnqueuePull(key, number, head, "green")), Refused)
    assert stage.forge.projects[PROJECT].queue == {}


async def test_m7_a_lost_answer_is_looked_for(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.projects[PROJECT].required["main"] = Required(merge_queue=True)
    key, _ = await in_review(stage)
    stage.ci()
    stage.forge.fail("enqueue_pull", OutcomeUnknown("no answer"), after=True)
    await stage.later()
    assert stage.wait(key).code == "forge_queue"
    assert stage.count("enqueue_pull") == 1

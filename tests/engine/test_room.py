"""A disk whose room goes up and down around the bound."""

from nightcrew.core.lifecycle import Status
from tests.engine.stage import Stage


async def test_starts_do_not_flap_around_the_bound(tmp_path):
    room = [499]
    stage = Stage(tmp_path, guards={"free_bytes": lambda: room[0] * 1_000_000})
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks)
    for room[0] in (499, 510, 499, 590):
        await stage.later()
        assert stage.wait(key).code == "disk_full"
        assert stage.runtime.started == []
    room[0] = 600
    await stage.until(lambda: bool(stage.runtime.started))
    room[0] = 510
    await stage.settle()
    assert stage.task(key).status is Status.DONE, "what was not full is full only below the bound"

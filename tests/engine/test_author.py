"""Who counts as an author of a head: nobody reviews what they had a part in, whatever became of their commits."""

from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from tests.engine.approved import in_review
from tests.engine.part import PROJECT
from tests.engine.stage import Stage


async def test_an_agent_whose_commits_were_rewritten_is_an_author_still(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cid"))
    key, _ = await in_review(stage)
    author = stage.runs(key, Role.AUTHOR)[0].agent
    squashed = stage.forge.push(PROJECT, "squashed-by-hand", paths=("work-1.txt",), start="main")
    stage.forge.projects[PROJECT].branches[stage.task(key).branch] = squashed
    stage.observer.expire()
    world = await stage.look()
    view = stage.pull_view(world, key)
    assert view.pull.head_sha == squashed
    assert view.author_agents == Known(frozenset({author}))
    await stage.later()
    reviewer = stage.runs(key, Role.REVIEWER)[-1]
    assert reviewer.head_sha == squashed
    assert reviewer.agent != author


async def test_who_wrote_what_is_merged_may_review_what_comes_after(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob"))
    key = stage.file()
    await stage.settle()
    first = stage.runs(key, Role.AUTHOR)[-1].agent
    assert stage.task(key).status is Status.DONE
    stage.forge.set_open(PROJECT, key.number, is_open=True)
    stage.set_label(key, f"agent:{({'ann', 'bob'} - {first}).pop()}")
    stage.set_label(key, "status:new")
    await stage.later()
    assert stage.task(key).status is Status.DONE
    second = stage.runs(key, Role.AUTHOR)[-1].agent
    assert second != first
    assert stage.runs(key, Role.REVIEWER)[-1].agent == first


async def test_work_that_was_never_merged_counts_after_its_task_was_opened_again(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cid"))
    key, _ = await in_review(stage)
    author = stage.runs(key, Role.AUTHOR)[0].agent
    stage.forge.set_open(PROJECT, key.number, is_open=False)
    await stage.later(play=False)
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).done_after == ""
    stage.forge.set_open(PROJECT, key.number, is_open=True)
    stage.set_label(key, "status:new")
    stage.auto_ci = True
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    reviewers = [run.agent for run in stage.runs(key, Role.REVIEWER)[1:]]
    assert reviewers
    assert author not in reviewers

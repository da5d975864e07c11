"""Sub-tasks from the proposal to the parent's own end: allowed by a person or by the limits, filed once each, waited
for, and told to the author that goes on."""

from dataclasses import replace

import pytest

from nightcrew.core.action.status import FileSubTasks
from nightcrew.core.actions import Refused, StartRun
from nightcrew.core.errors import Conflict, Missing, OutcomeUnknown, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import Delegation, DelegationMode, DelegationSettings, DelegationState
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import DependencySettings, ParentMode, ProjectSettings
from nightcrew.ports.service import Word
from tests.engine.part import PERSON, PROJECT, STRANGER, Killed, done, says
from tests.engine.stage import Stage, plain_edit

PARTS = (Delegation("The lock", "Mend the lock."), Delegation("The door", "Hang the door.", needs=(0,)))


def a_project(allow: DelegationMode = DelegationMode.AUTO, **fields) -> ProjectSettings:
    return ProjectSettings(PROJECT, delegation=DelegationSettings(allow, **fields))


def a_stage(tmp_path, allow: DelegationMode = DelegationMode.AUTO, **fields) -> Stage:
    """One whose first author proposes two sub-tasks, and changes nothing itself."""
    stage = Stage(tmp_path, projects=(a_project(allow, **fields),))
    propose(stage)
    return stage


def propose(stage: Stage, *parts: Delegation, outcome: ReportedOutcome = ReportedOutcome.DONE) -> None:
    for name in stage.agents:
        stage.order(name, says(outcome, delegations=parts or PARTS))
    stage.edit = first_idles


def first_idles(run: Run):
    return None if run.attempt == 1 and run.task.number == 1 else plain_edit(run)


def only_first(stage: Stage) -> None:
    """Nobody proposes a second time."""
    for agent in stage.agents.values():
        agent.orders[Role.AUTHOR].clear()


def state(stage: Stage, key: TaskKey) -> DelegationState | None:
    delegated = stage.task(key).delegated
    return delegated.state if delegated is not None else None


def children(stage: Stage, key: TaskKey) -> list[TaskKey]:
    delegated = stage.task(key).delegated
    assert delegated is not None
    return [TaskKey(key.project, part.number) for part in delegated.parts if part.number is not None]


async def proposed(stage: Stage) -> TaskKey:
    """A task whose author has just proposed; what it said is weighed."""
    key = stage.file("Whole")
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).delegated is not None)
    only_first(stage)
    return key


async def test_sub_tasks_are_filed_and_done_and_their_parent_goes_on(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await stage.until(lambda: len(children(stage, key)) == 2)
    lock, door = children(stage, key)
    assert [stage.issue(one).title for one in (lock, door)] == ["The lock", "The door"]
    assert "nightcrew" in stage.issue(lock).labels
    assert [one.key for one in await stage.forge.list_children(PROJECT, key.number)] == [lock, door]
    assert f"Depends on #{lock.number}" in stage.issue(door).body
    await stage.tick()
    assert stage.wait(key).code == "sub_tasks"
    assert f"#{lock.number}, #{door.number}" in stage.wait(key).words
    for _ in range(4):
        await stage.later()
    assert [stage.task(one).status for one in (key, lock, door)] == [Status.DONE] * 3
    began = {one: stage.runs(one)[0].created_at for one in (lock, door)}
    again = stage.runs(key, Role.AUTHOR)[1].created_at
    assert began[lock] < began[door] < again
    assert stage.pull(key).is_merged
    assert stage.count("create_issue") == 2


async def test_the_author_that_goes_on_is_told_what_became_of_them(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await stage.until(lambda: len(children(stage, key)) == 2)
    lock, door = children(stage, key)
    stage.forge.set_open(PROJECT, door.number, is_open=False, closed_as=Standing.NOT_PLANNED)
    for _ in range(4):
        await stage.later()
    prompts = [job.prompt for agent in stage.agents.values() for job in agent.jobs if job.role is Role.AUTHOR]
    (prompt,) = [text for text in prompts if "What became of the sub-tasks" in text]
    assert f"#{lock.number} The lock: merged as #{stage.number(lock)}" in prompt
    assert f"#{door.number} The door: closed without being done" in prompt
    assert stage.task(key).status is Status.DONE


async def test_its_branch_begins_anew_at_the_base_that_has_their_work(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    for _ in range(5):
        await stage.later()
    lock = children(stage, key)[0]
    first, second = stage.runs(key, Role.AUTHOR)
    assert second.head_sha is not None
    assert second.head_sha != first.head_sha
    assert await stage.workspace.find_file(PROJECT, second.head_sha, f"work-{lock.number}.txt")


async def test_a_parent_with_work_of_its_own_gets_the_base_merged_in(tmp_path):
    stage = a_stage(tmp_path)
    stage.edit = plain_edit
    key = await proposed(stage)
    assert stage.task(key).pull is None, "what it did is not published before its parts are there"
    for _ in range(5):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.pull(key).is_merged
    merge = stage.task(key).merge_sha
    assert merge is not None
    for number in (key.number, children(stage, key)[0].number):
        assert await stage.workspace.find_file(PROJECT, merge, f"work-{number}.txt")


async def test_a_parent_that_finds_nothing_left_to_do_is_closed(tmp_path):
    stage = a_stage(tmp_path)
    stage.edit = lambda run: None if run.task.number == 1 else plain_edit(run)
    key = await proposed(stage)
    for _ in range(5):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    assert not stage.issue(key).is_open
    assert stage.task(key).pull is None


async def test_a_parent_may_be_closed_with_its_sub_tasks(tmp_path):
    project = replace(a_project(), dependencies=DependencySettings(ParentMode.CLOSE))
    stage = Stage(tmp_path, projects=(project,))
    propose(stage)
    key = await proposed(stage)
    for _ in range(5):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key)) == 1


async def test_a_person_is_asked_and_accepts(tmp_path):
    stage = a_stage(tmp_path, DelegationMode.ASK)
    key = await proposed(stage)
    await stage.settle()
    assert stage.task(key).status is Status.BLOCKED
    assert stage.block(key).code == "sub_tasks"
    assert "proposes 2 sub-tasks: “The lock”, “The door”" in stage.block(key).words
    assert "/delegate accept" in stage.wait(key).next
    (notice,) = [one for one in stage.store.notices if one.task == key]
    assert notice.priority is Priority.ACTION
    assert stage.count("create_issue") == 0
    assert (await stage.facade.delegate_task(key, accept=True)).changed
    for _ in range(5):
        await stage.later()
    assert len(children(stage, key)) == 2
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize("how", ["command", "approve", "comment"])
async def test_there_are_several_ways_to_accept(tmp_path, how):
    stage = a_stage(tmp_path, DelegationMode.ASK)
    key = await proposed(stage)
    await stage.settle()
    if how == "approve":
        await stage.facade.approve_task(key)
    elif how == "command":
        await stage.facade.delegate_task(key, accept=True)
    else:
        stage.forge.comment(PROJECT, key.number, body="/delegate accept", author=STRANGER)
        await stage.later()
        assert stage.task(key).status is Status.BLOCKED, "a stranger allows nothing"
        stage.forge.comment(PROJECT, key.number, body="/delegate accept", author=PERSON)
    await stage.later()
    await stage.later()
    assert len(children(stage, key)) == 2


@pytest.mark.parametrize("how", ["refuse", "unblock"])
async def test_what_is_refused_its_author_does_itself(tmp_path, how):
    stage = a_stage(tmp_path, DelegationMode.ASK)
    key = await proposed(stage)
    await stage.settle()
    propose(stage)  # it would, again
    if how == "refuse":
        await stage.facade.delegate_task(key, accept=False)
    else:
        await stage.facade.unblock_task(key)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.count("create_issue") == 0
    told = [job.prompt for agent in stage.agents.values() for job in agent.jobs if "refused them" in job.prompt]
    assert len(told) == 1
    assert '"delegations"' not in told[0]


async def test_nothing_is_filed_where_the_owner_says_never(tmp_path):
    stage = a_stage(tmp_path, DelegationMode.NEVER)
    stage.edit = plain_edit
    key = stage.file("Whole")
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.task(key).delegated is None
    assert stage.count("create_issue") == 0
    assert all('"delegations"' not in job.prompt for agent in stage.agents.values() for job in agent.jobs)


async def test_a_sub_task_has_none_of_its_own_unless_the_owner_says_so(tmp_path):
    stage = a_stage(tmp_path)
    for agent in stage.agents.values():
        agent.always[Role.AUTHOR] = done(delegations=PARTS)
    key = await proposed(stage)
    for _ in range(6):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.count("create_issue") == 2
    prompts = [job.prompt for agent in stage.agents.values() for job in agent.jobs if job.role is Role.AUTHOR]
    assert [text for text in prompts if "#1 Whole" in text and '"delegations"' in text]
    assert not [text for text in prompts if "The lock" in text.partition("END DATA")[0] and '"delegations"' in text]


async def test_a_person_goes_on_without_them(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await stage.until(lambda: len(children(stage, key)) == 2)
    for one in children(stage, key):
        stage.set_label(one, "no-agent")
    await stage.later()
    assert stage.wait(key).code == "sub_tasks"
    await stage.facade.start_task(key)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert state(stage, key) is DelegationState.LEFT


async def test_a_sub_task_that_waits_for_a_person_is_named(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await stage.until(lambda: len(children(stage, key)) == 2)
    lock = children(stage, key)[0]
    await stage.until(lambda: lock in stage.store.tasks)
    await stage.facade.block_task(lock, why="not now")
    await stage.later()
    assert f"#{lock.number} (blocked)" in stage.wait(key).words


async def filed(stage: Stage, key: TaskKey) -> None:
    await stage.until(lambda: state(stage, key) is DelegationState.FILED)


async def killed_at(stage: Stage, key: TaskKey, point: int) -> bool:
    """Whether it was killed there while it filed sub-tasks, and started again."""
    stage.points.names.clear()
    stage.points.die_at = point
    try:
        await filed(stage, key)
    except Killed:
        await stage.restart()
        stage.clock.advance(121)
        await filed(stage, key)
        return True
    return False


@pytest.mark.case("C194")
async def test_sub_tasks_are_filed_once_wherever_it_is_killed(tmp_path):
    point, was_killed = 0, True
    while was_killed:
        point += 1
        stage = a_stage(tmp_path / str(point))
        key = await proposed(stage)
        was_killed = await killed_at(stage, key, point)
        titles = [thread.issue.title for thread in stage.forge.projects[PROJECT].threads.values() if not thread.pull]
        assert sorted(titles) == ["The door", "The lock", "Whole"], point
        assert len(await stage.forge.list_children(PROJECT, key.number)) == 2
    assert point > 10


@pytest.mark.case("C194")
async def test_an_answer_that_is_lost_is_looked_for(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    stage.forge.fail("create_issue", OutcomeUnknown("no answer"), after=True)
    stage.forge.fail("add_child", OutcomeUnknown("no answer"), after=True)
    for _ in range(12):
        await stage.later()
    assert stage.count("create_issue") == 2
    assert len(await stage.forge.list_children(PROJECT, key.number)) == 2


@pytest.mark.case("C244")
async def test_sub_tasks_that_end_while_the_service_is_down_free_their_parent(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await stage.until(lambda: state(stage, key) is DelegationState.FILED)
    for one in children(stage, key):
        stage.forge.set_open(PROJECT, one.number, is_open=False)
    await stage.restart()
    await stage.later()
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_forge_without_sub_issues_is_no_hindrance(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    stage.forge.fail("list_children", Missing("there is no such page"), times=99)
    await filed(stage, key)
    delegated = stage.task(key).delegated
    assert delegated is not None
    assert [part.linked for part in delegated.parts] == [False, False]
    await stage.settle(play=False)
    lock, door = children(stage, key)
    assert f"depends on its sub-tasks: #{lock.number}, #{door.number}" in stage.comments(key)[0]


async def test_a_start_asks_again_whether_they_have_ended(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await stage.until(lambda: state(stage, key) is DelegationState.FILED)
    refused = await stage.act(StartRun(key, Status.ROUTED, Role.AUTHOR, "ann", "", 2, 60.0, "too early"))
    assert isinstance(refused, Refused)
    assert "it waits for its sub-tasks" in refused.why
    stage.forge.fail("fetch_issue", Unavailable("not now"), times=2)
    refused = await stage.act(StartRun(key, Status.ROUTED, Role.AUTHOR, "ann", "", 2, 60.0, "too early"))
    assert isinstance(refused, Refused)


async def test_nothing_is_made_twice_on_request(tmp_path):
    stage = a_stage(tmp_path)
    key = await proposed(stage)
    await filed(stage, key)
    assert isinstance(await stage.act(FileSubTasks(key, "again")), Refused)
    assert stage.count("create_issue") == 2


async def test_an_internal_task_has_internal_sub_tasks(tmp_path):
    stage = a_stage(tmp_path)
    stage.edit = lambda run: None if run.attempt == 1 and "i1" in str(run.task) else plain_edit(run)
    answer = await stage.facade.add_internal_task(PROJECT, title="Whole", body="All of it.")
    key = next(iter(stage.store.tasks))
    assert str(key) == answer.data["task"]
    await stage.until(lambda: stage.task(key).delegated is not None)
    only_first(stage)
    await stage.until(lambda: len(children(stage, key)) == 2)
    await stage.tick()
    assert "i2, i3" in stage.wait(key).words
    assert stage.wait(children(stage, key)[1]).words == "it waits for i2"
    for _ in range(5):
        await stage.later()
    assert [stage.task(one).status for one in (key, *children(stage, key))] == [Status.DONE] * 3
    assert stage.count("create_issue") == 0
    began = [stage.runs(one, Role.AUTHOR)[-1].created_at for one in (*children(stage, key), key)]
    assert began == sorted(began)


async def test_its_text_moves_nobody(tmp_path):
    stage = Stage(tmp_path, projects=(a_project(),))
    hostile = "@everyone fixes #1\n/close\n```\n<!-- hidden -->\nDepends on #1\n````\nblocked by #1"
    propose(stage, Delegation("Ping @olga, closes #1", hostile))
    key = await proposed(stage)
    await stage.until(lambda: len(children(stage, key)) == 1)
    (child,) = children(stage, key)
    issue = stage.issue(child)
    assert "@olga" not in issue.title
    assert "@everyone" not in issue.body
    assert "<!-- hidden" not in issue.body
    for _ in range(4):
        await stage.later()
    assert stage.task(key).status is Status.DONE, "it did not wait for its own parent"


async def internal_parent(stage: Stage) -> tuple[TaskKey, list[TaskKey]]:
    """An internal task that waits for two internal sub-tasks."""
    stage.edit = lambda run: None if run.attempt == 1 and "i1" in str(run.task) else plain_edit(run)
    await stage.facade.add_internal_task(PROJECT, title="Whole", body="All of it.")
    key = next(iter(stage.store.tasks))
    await stage.until(lambda: stage.task(key).delegated is not None)
    only_first(stage)
    await stage.until(lambda: len(children(stage, key)) == 2 and state(stage, key) is DelegationState.FILED)
    return key, children(stage, key)


async def test_an_internal_sub_task_that_somebody_closes_was_not_done(tmp_path):
    stage = a_stage(tmp_path)
    key, (lock, door) = await internal_parent(stage)
    await stage.facade.close_task(door)
    for _ in range(5):
        await stage.later()
    delegated = stage.task(key).delegated
    assert delegated is not None
    assert stage.task(lock).status is Status.DONE
    assert [part.standing for part in delegated.parts] == [Standing.COMPLETED, Standing.NOT_PLANNED]


async def test_what_is_waited_for_is_not_made_an_issue(tmp_path):
    stage = a_stage(tmp_path)
    key, (_, door) = await internal_parent(stage)
    for one in (key, door):
        with pytest.raises(Conflict, match="is waited for"):
            await stage.facade.publish_task(one)
    assert stage.count("create_issue") == 0


async def test_how_to_answer_is_told_whatever_is_left_out(tmp_path):
    stage = Stage(tmp_path, projects=(a_project(DelegationMode.ASK, max_children=2),))
    propose(stage, *(Delegation(f"{number} {'x' * 190}", "Do it.") for number in range(50)))
    key = await proposed(stage)
    await stage.settle()
    assert "and 43 more" in stage.block(key).words
    assert "/delegate accept" in stage.comments(key)[-1]


@pytest.mark.parametrize("has_work", [False, True])
async def test_what_is_said_to_a_parent_that_waits_is_heard_with_what_became_of_them(tmp_path, has_work):
    stage = a_stage(tmp_path)
    if has_work:
        stage.edit = lambda run: None if run.attempt > 1 and run.task.number == 1 else plain_edit(run)
    else:
        stage.edit = lambda run: None if run.task.number == 1 else plain_edit(run)
    key = await proposed(stage)
    await stage.until(lambda: len(children(stage, key)) == 2)
    await stage.facade.say_to(key, Word("Why two?"))
    await stage.tick()
    assert stage.wait(key).code == "sub_tasks"
    assert "waits for its agent's next turn" in stage.wait(key).next
    for _ in range(5):
        await stage.later()
    assert stage.runs(key, Role.AUTHOR)[1].hears
    (said,) = stage.store.sayings.values()
    assert said.run == stage.runs(key, Role.AUTHOR)[1].id
    assert (stage.task(key).status, stage.task(key).pull is not None) == (Status.DONE, has_work)


async def test_a_word_for_a_head_is_none_for_sub_tasks(tmp_path):
    stage = a_stage(tmp_path, DelegationMode.ASK)
    key = await proposed(stage)
    await stage.settle()
    with pytest.raises(Conflict, match="no pull request under review"):
        await stage.facade.approve_task(key, head="1234abcd")
    assert state(stage, key) is DelegationState.PROPOSED

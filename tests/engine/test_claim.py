"""Several machines on one forge: the real engine of each over fakes that they share."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from nightcrew.core.actions import MergePull, MoveStatus, PublishWork, Refused
from nightcrew.core.errors import Conflict, Denied, Missing, PortError, Unavailable
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.claim import ClaimNote, Machine
from nightcrew.core.model.job import JobSettings
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ClaimMode, ProjectSettings
from nightcrew.ports.service import Word
from tests.engine.part import PERSON, PROJECT, StageWorkspaces, says
from tests.engine.stage import Stage
from tests.fakes.claim import FakeClaims

LEASE_S = ProjectSettings(PROJECT).claim_expiry_s
INTERVAL_S = 45.0


def alone(tmp_path: Path, claims: FakeClaims | None = None, **more: Any) -> tuple[Stage, FakeClaims]:
    claims = claims or FakeClaims()
    machine = Machine("machine-one", "one.example")
    return Stage(tmp_path, guards={"claims": claims, "machine": machine}, **more), claims


def beside(first: Stage, home: Path, name: str = "two", **more: Any) -> Stage:
    """Another machine: its own store, sessions and workspaces, the same forge, claims and time."""
    guards = {"claims": first.guards["claims"], "machine": Machine(f"machine-{name}", f"{name}.example")}
    other = Stage(home, guards=guards, **more)
    other.forge, other.clock = first.forge, first.clock
    other.runtime._now = first.clock.now
    other.workspace = StageWorkspaces(first.clock, home=home, forge=first.forge)
    other.start()
    return other


def holder(claims: FakeClaims, number: int) -> str:
    claim = claims.claims.get((PROJECT, number))
    return claim.note.holder if claim is not None and claim.note is not None else ""


async def test_a_task_is_claimed_first_and_given_up_at_its_end(tmp_path):
    stage, claims = alone(tmp_path)
    key = stage.file()
    await stage.tick()
    await stage.tick()
    assert holder(claims, key.number) == "machine-one"
    assert stage.task(key).status is Status.NEW
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert claims.claims == {}
    assert [call for call in claims.calls if call[1]] == [("put_claim", key.number), ("drop_claim", key.number)]


async def test_what_people_are_told_takes_no_claim(tmp_path):
    stage, claims = alone(tmp_path)
    done = stage.file()
    await stage.settle()
    assert stage.task(done).status is Status.DONE
    for agent in stage.agents:
        stage.order(agent, says(ReportedOutcome.NEEDS_INPUT, question="which?"))
    asked = stage.file("Another")
    await stage.later()
    await stage.later(2 * 86_400)
    assert stage.task(asked).status is Status.BLOCKED
    kinds = [notice.kind for notice in stage.store.notices]
    assert kinds.count("agent_needs_input") == 2
    assert "all_complete" in kinds
    assert claims.claims == {}
    assert {number for name, number in claims.calls if name == "put_claim"} == {asked.number, done.number}


async def test_one_machine_alone_reads_the_claims_once(tmp_path):
    stage, claims = alone(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    for _ in range(5):
        await stage.later(play=False)
    assert stage.task(key).status is Status.IN_PROGRESS
    assert claims.calls == [("list_claims", 0), ("put_claim", key.number)]


@pytest.mark.parametrize("off", [{"claim": ClaimMode.OFF}, {}])
async def test_without_claims_none_is_made(tmp_path, off):
    claims = FakeClaims()
    stage, _ = alone(tmp_path, claims, projects=(ProjectSettings(PROJECT, **off),))
    if not off:
        stage.guards = {}
        stage.start()
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert claims.calls == []


async def test_it_is_renewed_while_it_is_worked_on(tmp_path):
    stage, claims = alone(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    first = claims.claims[PROJECT, key.number]
    await stage.later(LEASE_S / 3, play=False)
    second = claims.claims[PROJECT, key.number]
    assert first.note is not None
    assert second.note is not None
    assert second.note.until_at > first.note.until_at
    assert second.note.branch == stage.task(key).branch
    assert stage.runs(key)[0].is_open


SWEEP = JobSettings("sweep", "@hourly", prompt="Sweep.")


def with_job(job: JobSettings) -> dict[str, Any]:
    return {"projects": (ProjectSettings(PROJECT, jobs=(job,)),)}


async def through(*stages: Stage, seconds: float, play: bool = True) -> None:
    stages[0].clock.advance(seconds)
    for _ in range(40):
        for stage in stages:
            await stage.tick()
            if play:
                stage.play()


def states(stage: Stage) -> list[str]:
    return [run.state.value for run in stage.store.job_runs.values()]


async def test_two_machines_do_what_is_due_of_a_job_once(tmp_path):
    one, _ = alone(tmp_path / "one", **with_job(SWEEP))
    two = beside(one, tmp_path / "two", **with_job(SWEEP))
    await through(one, two, seconds=0)
    await through(one, two, seconds=3600)
    assert states(one) == ["done"]
    assert states(two) == ["skipped"]
    (skipped,) = two.store.job_runs.values()
    assert "another machine (one.example) does it" in skipped.words
    # It is the turn of the first, until it stays away for some minutes.
    await through(two, seconds=3600)
    assert states(two) == ["skipped"]
    await through(two, seconds=1200)
    assert states(two) == ["skipped", "done"]
    await through(one, two, seconds=0)
    assert states(one) == ["done", "skipped"]


async def test_while_its_task_lives_on_one_machine_no_other_starts_it(tmp_path):
    one, _ = alone(tmp_path / "one", **with_job(SWEEP))
    two = beside(one, tmp_path / "two", **with_job(SWEEP))
    await through(one, two, seconds=0, play=False)
    for _ in range(3):
        await through(two, one, seconds=3600, play=False)
        await through(two, one, seconds=900, play=False)
        two.clock.advance(-900)
    assert states(two)[0] in ("done", "skipped")
    assert sorted((*states(one), *states(two))).count("done") == 1


async def test_a_place_that_takes_no_claims_stops_no_job(tmp_path):
    one, claims = alone(tmp_path, **with_job(SWEEP))
    claims.fail("put_due", Denied("no such refs"), times=3)
    await through(one, seconds=0)
    await through(one, seconds=3600)
    assert states(one) == ["done"]


async def test_a_forge_that_is_away_delays_a_job_and_loses_none(tmp_path):
    one, claims = alone(tmp_path, **with_job(SWEEP))
    await through(one, seconds=0)
    claims.fail("find_due", Unavailable("down"), times=1)
    claims.fail("put_due", Unavailable("its answer was lost"), times=1, after=True)
    await through(one, seconds=3600)
    for _ in range(5):
        await through(one, seconds=60)
    assert states(one) == ["done"]
    assert len(one.store.internals) == 1


async def test_two_machines_do_each_task_once(tmp_path):
    one, claims = alone(tmp_path / "one")
    two = beside(one, tmp_path / "two")
    keys = [one.file(f"Task {number}") for number in range(4)]
    for _ in range(60):
        for stage in (one, two):
            await stage.tick()
            stage.play()
            stage.ci()
            stage.clock.advance(5)
    runs = {key: [*one.runs(key, Role.AUTHOR), *two.runs(key, Role.AUTHOR)] for key in keys}
    assert {len(found) for found in runs.values()} == {1}
    assert {one.statuses(key) for key in keys} == {("status:done",)}
    assert len(one.pulls()) == len(keys)
    assert {len(one.comments(key)) for key in keys} == {1}
    assert claims.claims == {}
    for stage in (one, two):
        assert {task.status for task in stage.store.tasks.values()} == {Status.DONE}


async def both_know(tmp_path: Path) -> tuple[Stage, Stage, FakeClaims, Any]:
    """A task that both adopted, and the first claimed and began."""
    one, claims = alone(tmp_path / "one")
    two = beside(one, tmp_path / "two")
    key = one.file()
    await one.tick()
    await two.tick()
    await one.settle(play=False)
    await two.settle(play=False)
    assert one.task(key).status is Status.IN_PROGRESS
    return one, two, claims, key


async def test_the_loser_leaves_the_task_alone(tmp_path):
    one, two, _, key = await both_know(tmp_path)
    before = len(two.forge.calls)
    code, sentence = await two.summary(key)
    assert code == "claimed_elsewhere"
    assert "one.example" in sentence
    await two.later(play=False)
    writes = {call for call, _ in two.forge.calls[before:]} & {"add_label", "remove_label", "create_comment"}
    assert writes == set()
    assert two.task(key).status is Status.NEW
    answer = await two.act(MoveStatus(key, Status.NEW, Status.BLOCKED, Evidence.PERSON, "by hand"))
    assert isinstance(answer, Refused)
    assert "one.example" in answer.why
    assert one.comments(key) == [one.task(key).told]


async def test_a_dead_machines_task_is_taken_over_after_its_lease_and_not_before(tmp_path):
    one, two, claims, key = await both_know(tmp_path)
    for _ in range(int(LEASE_S // INTERVAL_S) - 5):
        await two.later(INTERVAL_S - 1, play=False)
    assert holder(claims, key.number) == "machine-one"
    await two.later(8 * INTERVAL_S)
    await two.until(lambda: two.statuses(key) == ("status:done",))
    assert two.events("claim.taken_over", key)
    assert len(two.pulls()) == 1
    # The first one comes back, sees it, ends what ran, and pushes nothing.
    await one.later()
    assert one.events("claim.lost", key) or one.task(key).status is Status.DONE
    await one.later()
    assert one.task(key).status is Status.DONE
    assert one.runtime.sessions == {}
    assert len(one.pulls()) == 1
    assert claims.claims == {}


async def test_a_machine_that_slept_finds_its_task_taken_and_ends_its_run(tmp_path):
    one, two, claims, key = await both_know(tmp_path)
    for _ in range(3):
        await two.later(LEASE_S / 2, play=False)
    assert holder(claims, key.number) == "machine-two"
    one.play()
    for _ in range(4):
        await one.later(play=False)
    (run,) = one.runs(key, Role.AUTHOR)
    assert not run.is_open
    assert one.events("claim.lost", key)
    assert (await one.summary(key))[0] == "claimed_elsewhere"
    with pytest.raises(Conflict, match="with another machine"):
        await one.facade.say_to(key, Word("use a lock"))
    assert len(one.pulls()) == 0
    assert one.task(key).branch not in one.forge.projects[PROJECT].branches


async def test_a_push_and_a_merge_look_at_the_claim_again(tmp_path):
    one, claims = alone(tmp_path)
    key = one.file()
    await one.until(lambda: one.task(key).status is Status.IN_PROGRESS if key in one.store.tasks else False)
    one.play()
    other = ClaimNote("machine-two", "two.example", one.clock.now() + timedelta(hours=1), LEASE_S)
    claims.put(PROJECT, key.number, other)
    one.clock.advance(61)
    (run,) = one.runs(key, Role.AUTHOR)
    for action in (
        PublishWork(key, run.id, run.head_sha or one.pulls()[0].head_sha, "now"),
        MergePull(key, 1, run.head_sha or one.pulls()[0].head_sha, "main", "now"),
    ):
        answer = await one.act(action)
        assert isinstance(answer, Refused)
        assert "two.example" in answer.why
    assert one.pulls() == []


async def test_clocks_that_differ_steal_nothing(tmp_path):
    """The other's clock is a day behind: its claim looks long expired, and is not."""
    one, claims = alone(tmp_path)
    key = one.file()
    note = ClaimNote("machine-two", "two.example", one.clock.now() - timedelta(days=1), LEASE_S)
    claims.put(PROJECT, key.number, note)
    await one.settle()
    for _ in range(10):
        claims.put(PROJECT, key.number, note)  # it renews
        await one.later(LEASE_S / 2)
    assert holder(claims, key.number) == "machine-two"
    assert one.runs(key) == []


async def test_a_restart_knows_its_own_claims(tmp_path):
    stage, claims = alone(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    await stage.restart()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert claims.claims == {}
    assert len(stage.runs(key, Role.AUTHOR)) == 1


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("method", ["put_claim", "drop_claim", "list_claims"])
async def test_a_lost_answer_about_a_claim_does_no_harm(tmp_path, method, after):
    stage, claims = alone(tmp_path)
    claims.fail(method, Unavailable("no answer"), times=3, after=after)
    key = stage.file()
    for _ in range(12):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    assert claims.claims == {}
    assert len(stage.runs(key, Role.AUTHOR)) == 1


async def test_a_task_is_not_given_up_before_its_end_is_told(tmp_path):
    """Nothing could be said while it was worked on: who gives it up then would never say it."""
    stage, claims = alone(tmp_path)
    stage.forge.fail("create_comment", Unavailable("no answer"), times=8)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.comments(key) == []
    assert holder(claims, key.number) == "machine-one"
    for _ in range(12):
        await stage.later(600.0)
    (comment,) = stage.comments(key)
    assert "`done`" in comment
    assert claims.claims == {}


async def test_while_claims_cannot_be_read_nothing_begins_and_it_says_so(tmp_path):
    stage, claims = alone(tmp_path)
    claims.fail("list_claims", Unavailable("no route to host"), times=5)
    key = stage.file()
    await stage.settle()
    assert (await stage.summary(key))[0] == "claim_unknown"
    assert stage.runs(key) == []
    for _ in range(6):
        await stage.later()
    assert stage.task(key).status is Status.DONE


@pytest.mark.parametrize("error", [Denied("GH013: not allowed to push"), Missing("never fetched")])
async def test_a_forge_without_claims_is_worked_on_by_one_machine_with_a_warning(tmp_path, error: PortError):
    stage, claims = alone(tmp_path)
    claims.fail("put_claim", error, times=1)
    key = stage.file()
    for _ in range(3):
        await stage.later()
    assert stage.task(key).status is Status.DONE
    warned = any("takes no claims" in problem for problem in stage.observer.problems())
    assert warned is isinstance(error, Denied)


async def test_a_blocked_task_is_anybodys_and_an_answer_brings_back_its_machine(tmp_path):
    one, two, claims, key = await both_know(tmp_path)
    one.order("ann", says(ReportedOutcome.NEEDS_INPUT, question="left or right?"))
    await one.settle()
    assert one.task(key).status is Status.BLOCKED
    assert claims.claims == {}
    for _ in range(2):
        await two.later()
    assert (await two.summary(key))[0] == "blocked_elsewhere"
    assert one.comments(key) == [one.task(key).told]
    one.clock.advance(60)
    one.forge.comment(PROJECT, key.number, body="Left.", author=PERSON)
    await one.later()
    assert one.task(key).status is Status.DONE
    await two.later()
    assert two.task(key).status is Status.DONE
    assert two.runs(key) == []


async def test_a_lost_store_is_built_again_where_the_claim_is_ours(tmp_path):
    stage, claims = alone(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.NEEDS_REVIEW)
    number = stage.number(key)
    lost = replace(stage.task(key))
    stage.store.tasks.clear()
    stage.store.runs.clear()
    stage.store.verdicts.clear()
    await stage.restart()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.number(key) == number
    assert stage.task(key).branch == lost.branch
    assert stage.runs(key, Role.AUTHOR) == []
    assert len(stage.pulls()) == 1
    assert claims.claims == {}

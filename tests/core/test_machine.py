"""Deciding, over and over, in a simulated world where everything may happen between any two effects."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nightcrew.core.decide import Decision, decide
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import CheckState, ReviewState
from nightcrew.core.model.settings import CheckCommand, RouterMode, RouterSettings
from tests.core.build import PROJECT, a_project, a_settings, an_agent
from tests.simulation.core.effect import advance, begin, refuse
from tests.simulation.core.hand import ISSUE_ACTS, PULL_ACTS, touch_issue, touch_pull
from tests.simulation.core.rule import check_decision, check_task
from tests.simulation.core.truth import Simulated

WORDS = ("done", "done", "declined", "needs_input", "blocked")
REST_ROUNDS, END_ROUNDS = 40, 120


class World(RuleBasedStateMachine):
    """Nightcrew against everything else."""

    def __init__(self) -> None:
        super().__init__()
        self.sim = Simulated(a_settings())

    @initialize(checks=st.booleans(), router=st.booleans(), agents=st.integers(2, 3))
    def begin(self, checks: bool, router: bool, agents: int) -> None:
        project = a_project(checks=(CheckCommand("tests", ("make",)),) if checks else ())
        names = tuple(an_agent(name) for name in ("ann", "bob", "cyd")[:agents])
        asked = RouterSettings(RouterMode.MODEL, "ann") if router else RouterSettings()
        self.sim = Simulated(a_settings(project, agents=names, router=asked))
        self.sim.file_issue()

    # ---- Nightcrew

    def look(self) -> Decision:
        """Decide, and hold what must be true of every decision."""
        world = self.sim.world()
        decision = decide(world)
        assert decide(world) == decision
        project = world.projects[PROJECT]
        turned = replace(world, projects={PROJECT: replace(project, tasks=project.tasks[::-1])})
        assert decide(turned) == decision
        check_decision(self.sim, world, decision)
        return decision

    def start(self, decision: Decision) -> None:
        for action in decision.actions:
            if action.key not in self.sim.flying:
                self.sim.flying[action.key] = (action, begin(self.sim, action))

    @rule()
    def tick(self) -> None:
        self.start(self.look())

    @rule()
    def tick_and_act(self) -> None:
        self.start(self.look())
        self.land()

    @precondition(lambda self: self.sim.flying)
    @rule(data=st.data())
    def one_effect(self, data: st.DataObject) -> None:
        self.advance(data.draw(st.sampled_from(sorted(self.sim.flying))))

    def advance(self, key: str) -> None:
        self.sim.tick()
        advance(self.sim, key)

    @precondition(lambda self: self.sim.flying)
    @rule(data=st.data())
    def refused(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.sim.flying)))
        number = self.sim.flying[key][0].task.number
        refuse(self.sim, key, "no")
        self.sim.sights.pop(number, None)

    @rule()
    def land(self) -> None:
        while self.sim.flying:
            self.advance(min(self.sim.flying))

    @rule()
    def crash(self) -> None:
        self.sim.crash()

    @rule()
    def see_everything(self) -> None:
        self.sim.unreadable.clear()
        self.sim.sights.clear()

    @precondition(lambda self: self.sim.tasks)
    @rule(data=st.data())
    def cannot_read(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.sim.tasks)))
        self.sim.unreadable.add(number)
        self.sim.sights.pop(number, None)

    # ---- time

    @rule(seconds=st.sampled_from([1, 60, 600, 4000, 90_000]))
    def time_passes(self, seconds: int) -> None:
        self.sim.tick(seconds)

    # ---- agents

    @precondition(lambda self: self.sim.live_runs())
    @rule(data=st.data(), word=st.sampled_from(WORDS), commits=st.booleans())
    def run_ends(self, data: st.DataObject, word: str, commits: bool) -> None:
        run = data.draw(st.sampled_from(self.sim.live_runs()))
        self.sim.end_run(run, word=word, commits=commits)

    @precondition(lambda self: self.sim.live_runs())
    @rule(data=st.data())
    def run_ends_well(self, data: st.DataObject) -> None:
        self.sim.end_run(data.draw(st.sampled_from(self.sim.live_runs())))

    @precondition(lambda self: self.sim.live_runs())
    @rule(data=st.data(), failure=st.sampled_from(FailureKind), commits=st.booleans())
    def run_fails(self, data: st.DataObject, failure: FailureKind, commits: bool) -> None:
        self.sim.end_run(data.draw(st.sampled_from(self.sim.live_runs())), failure=failure, commits=commits)

    @precondition(lambda self: self.sim.live_runs())
    @rule(data=st.data())
    def session_is_killed(self, data: st.DataObject) -> None:
        self.sim.kill_session(data.draw(st.sampled_from(self.sim.live_runs())))

    @rule(name=st.sampled_from(["ann", "bob"]))
    def program_comes_or_goes(self, name: str) -> None:
        self.sim.missing_programs ^= {name}

    # ---- people and CI

    @precondition(lambda self: len(self.sim.issues) < 3)
    @rule(priority=st.sampled_from(["", "high"]))
    def issue_filed(self, priority: str) -> None:
        self.sim.tick()
        self.sim.file_issue(priority)

    @rule()
    def pause_or_resume(self) -> None:
        self.sim.is_paused = not self.sim.is_paused

    @precondition(lambda self: self.sim.issues)
    @rule(data=st.data(), status=st.sampled_from(Status), cleanly=st.booleans())
    def label_by_hand(self, data: st.DataObject, status: Status, cleanly: bool) -> None:
        self.sim.set_status_by_hand(data.draw(st.sampled_from(sorted(self.sim.issues))), status, cleanly=cleanly)

    @precondition(lambda self: self.sim.issues)
    @rule(
        data=st.data(),
        what=st.sampled_from(ISSUE_ACTS),
    )
    def issue_by_hand(self, data: st.DataObject, what: str) -> None:
        self.sim.tick()
        touch_issue(self.sim, data.draw(st.sampled_from(sorted(self.sim.issues))), what)

    @precondition(lambda self: self.sim.open_pulls())
    @rule(
        data=st.data(),
        what=st.sampled_from(PULL_ACTS),
    )
    def pull_by_hand(self, data: st.DataObject, what: str) -> None:
        touch_pull(self.sim, data.draw(st.sampled_from(self.sim.open_pulls())), what)

    @precondition(lambda self: self.sim.open_pulls())
    @rule(
        data=st.data(),
        state=st.sampled_from([CheckState.SUCCESS, CheckState.SUCCESS, CheckState.FAILURE, CheckState.PENDING]),
    )
    def ci_says(self, data: st.DataObject, state: CheckState) -> None:
        pull = self.sim.pulls[data.draw(st.sampled_from(self.sim.open_pulls()))]
        self.sim.checks.setdefault(pull.head_sha, {})["ci"] = state

    # ---- what is always true

    @invariant()
    def each_task_keeps_the_rules(self) -> None:
        acted = {action.task.number for action, _ in self.sim.flying.values()}
        for number in self.sim.tasks:
            check_task(self.sim, number, is_acted_on=number in acted)

    @invariant()
    def what_is_merged_is_merged_once(self) -> None:
        assert len(self.sim.merges) == len(set(self.sim.merges))

    # ---- where it ends

    def teardown(self) -> None:
        """Left alone the world comes to rest; left alone with agents that work, every task comes to an end."""
        self.land()
        self.see_everything()
        self.rest()
        self.end()

    def rest(self) -> None:
        for _ in range(REST_ROUNDS):
            self.sim.sights.clear()
            decision = self.look()
            if not decision.actions and not decision_retries(decision):
                return
            self.start(decision)
            self.land()
            if not decision.actions:
                self.sim.tick(700)
        raise AssertionError(f"no rest: {self.look()}")

    def end(self) -> None:
        sim = self.sim
        sim.is_paused, sim.missing_programs = False, set()
        for number in sim.issues:
            sim.set_labels(number, remove=("hold", "no-agent"))
        for _ in range(END_ROUNDS):
            sim.sights.clear()
            self.start(self.look())
            self.land()
            for run in sim.live_runs():
                sim.end_run(run)
            for number in sim.open_pulls():
                sim.change_pull(number, mergeable=True, mergeable_state="clean", is_draft=False)
                sim.checks.setdefault(sim.pulls[number].head_sha, {})["ci"] = CheckState.SUCCESS
                sim.review(number, ReviewState.APPROVED)
            sim.tick(3600)
            if self.has_ended():
                break
        else:
            raise AssertionError(f"no end: {[(t.key.number, t.status) for t in sim.tasks.values()]} {self.look()}")
        self.rest()
        for number, task in sim.tasks.items():
            if number in sim.issues and task.status is not Status.DONE:
                assert sim.statuses_on(number) == (task.status,)

    def has_ended(self) -> bool:
        """Each task is done, or waits for a person: blocked, or with nobody left who could review it."""
        waits = self.look().waits
        lasting = {key.number for key, wait in waits.items() if wait.code in ("blocked", "no_reviewer")}
        return not self.sim.live_runs() and all(
            task.status is Status.DONE or number in lasting for number, task in self.sim.tasks.items()
        )


def decision_retries(decision: Decision) -> bool:
    return any(wait.code == "retrying" for wait in decision.waits.values())


TestWorld = World.TestCase
TestWorld.settings = settings(max_examples=2 * settings().max_examples)

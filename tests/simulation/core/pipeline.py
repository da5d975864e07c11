"""The forge's own CI: it takes its time, is red, flaky, cancelled, or late; and says late whether a head merges."""

from nightcrew.core.model.build import Build
from nightcrew.core.model.pull import CheckState
from tests.simulation.core.queue_truth import is_red
from tests.simulation.core.scene import Scene


class Pipeline:
    """Runs on each new head of a pull request."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def run(self) -> None:
        """Take on the heads that are new."""
        moved = self.scene.sim.moved
        while moved:
            self._begin(moved.pop())

    def test(self) -> None:
        """Take on the builds of the merge queue that are new."""
        offered = self.scene.sim.queue.offered
        while offered:
            self._test(offered.pop())

    def _test(self, build: Build) -> None:
        scene = self.scene
        late = not scene.is_calm and scene.chance(0.05)
        span_s = scene.spread(4000, 9000) if late else scene.spread(40, 1200)
        red = is_red(scene.sim, build) or (not scene.is_calm and scene.chance(0.03))
        begin_s = min(span_s / 2, scene.spread(1, 20))
        scene.schedule.after(begin_s, lambda: self._answer(build, CheckState.PENDING), is_local=False)
        state = CheckState.FAILURE if red else CheckState.SUCCESS
        scene.schedule.after(span_s, lambda: self._answer(build, state), is_local=False)

    def _answer(self, build: Build, state: CheckState) -> None:
        self.scene.sim.checks.setdefault(build.sha, {})["ci"] = state
        self.scene.note(f"CI says {state.value} on build {build.id}")
        for member in build.members:
            self.scene.mark(member.number)

    def judge(self) -> None:
        """The forge finds out anew which pull requests merge into a base that has moved."""
        sim = self.scene.sim
        while sim.shaken:
            slug = sim.shaken.pop()
            for number in sim.open_pulls():
                if sim.home[sim.owner[number]] == slug and sim.pulls[number].mergeable:
                    self._judge(number)

    def _judge(self, number: int) -> None:
        scene, sim = self.scene, self.scene.sim
        head = sim.pulls[number].head_sha
        sim.change_pull(number, mergeable=None, mergeable_state="unknown")
        scene.mark(sim.owner[number])
        scene.schedule.after(scene.spread(5, 900), lambda: self._settle(number, head), is_local=False)

    def _begin(self, number: int) -> None:
        scene, sim = self.scene, self.scene.sim
        pull = sim.pulls[number]
        head = pull.head_sha
        sim.change_pull(number, mergeable=None, mergeable_state="unknown")
        scene.schedule.after(scene.spread(2, 60), lambda: self._settle(number, head), is_local=False)
        calm = scene.is_calm
        if not calm and scene.chance(0.12):
            sim.red.add(head)
        if not calm and scene.chance(0.06):
            sim.queue.skewed.add(head)
        late = not calm and scene.chance(0.05)
        scene.schedule.after(scene.spread(1, 20), lambda: self._say(number, head, CheckState.PENDING), is_local=False)
        span_s = scene.spread(7200, 20_000) if late else scene.spread(40, 1200)
        dice = 1.0 if calm else scene.rng.random()
        if head in sim.red:
            first = CheckState.FAILURE
        elif dice < 0.03:
            first = CheckState.SKIPPED
        else:
            first = CheckState.FAILURE if dice < 0.08 else CheckState.SUCCESS
        scene.schedule.after(span_s, lambda: self._say(number, head, first), is_local=False)
        if first is not CheckState.SUCCESS and head not in sim.red:
            # Flaky or cancelled: a person starts it again.
            again_s = span_s + scene.spread(60, 7200)
            scene.schedule.after(again_s, lambda: self._say(number, head, CheckState.SUCCESS), is_local=False)

    def _settle(self, number: int, head: str) -> None:
        pull = self.scene.sim.pulls[number]
        if pull.head_sha == head and pull.mergeable is None:
            dice = 1.0 if self.scene.is_calm else self.scene.rng.random()
            state = "dirty" if dice < 0.04 else "unstable" if dice < 0.15 else "clean"
            self.scene.sim.change_pull(number, mergeable=state != "dirty", mergeable_state=state)
            self.scene.mark(self.scene.sim.owner[number])

    def _say(self, number: int, head: str, state: CheckState) -> None:
        sim = self.scene.sim
        pull = sim.pulls[number]
        sim.checks.setdefault(pull.head_sha if pull.head_sha == head else type(pull.head_sha)(head), {})["ci"] = state
        if pull.head_sha == head and pull.is_open:
            self.scene.note(f"CI says {state.value} on #{number} {head[:8]}")
            self.scene.mark(sim.owner[number])

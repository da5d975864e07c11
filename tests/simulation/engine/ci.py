"""The CI of the forge: checks of every head of an open pull request, and of every build of the merge queue. Green, red,
flaky, slow, cancelled, or silent."""

from functools import partial

from nightcrew.core.branch import QUEUE_PREFIX
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import CheckState
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene

LOOK_EVERY_S = 60.0
MOODS = ("green", "green", "green", "green", "red", "flaky", "slow", "cancelled", "silent")


class Ci:
    """Looks for new heads once a minute."""

    def __init__(self, scene: Scene, world: World) -> None:
        self._scene, self._world = scene, world
        self._chance = scene.chance("ci")
        self._seen: set[Sha] = set()
        self._again: set[tuple[Sha, str]] = set()
        self._mood: dict[Sha, str] = {}
        self.is_good = False
        self.green: dict[Sha, list[tuple[float, bool]]] = {}
        """From when on a SHA was green, and from when on not any more."""
        self._look()

    def was_green(self, sha: Sha, *, within_s: float) -> bool:
        """Whether every check of a SHA had succeeded at some time of the last seconds."""
        history = self.green.get(sha)
        if not history:
            return False
        now = self._scene.loop.time()
        ends = [at for at, _ in history[1:]] + [now]
        return any(is_green and until >= now - within_s for (_, is_green), until in zip(history, ends, strict=True))

    def rerun_all(self) -> None:
        """Somebody presses the button: every head is checked anew, and is good."""
        self.is_good = True
        for slug, head in self._heads():
            if not self.was_green(head, within_s=0):
                self._scene.after(60, partial(self._say, slug, head, CheckState.SUCCESS))

    def _heads(self) -> list[tuple[str, Sha]]:
        found = []
        for slug, project in self._world.forge.projects.items():
            for thread in project.threads.values():
                if thread.pull is not None and thread.pull.is_open:
                    found.append((slug, project.branches.get(thread.pull.head_ref, thread.pull.head_sha)))
            found += [(slug, sha) for branch, sha in project.branches.items() if branch.startswith(QUEUE_PREFIX)]
        return found

    def _look(self) -> None:
        for slug, head in self._heads():
            if head not in self._seen:
                self._seen.add(head)
                self._begin(slug, head)
        self._run_again()
        self._scene.after(LOOK_EVERY_S, self._look)

    def _run_again(self) -> None:
        """What the forge was asked to run once more; what is really red is so again."""
        for slug, project in self._world.forge.projects.items():
            for head, _ in sorted(project.rerun - self._again):
                self._again.add((head, "build"))
                state = CheckState.FAILURE if self._mood.get(head) == "red" else CheckState.SUCCESS
                self._scene.after(self._chance.uniform(30, 300), partial(self._say, slug, head, state))

    def _begin(self, slug: str, head: Sha) -> None:
        mood = "green" if self.is_good else self._chance.choice(MOODS)
        self._mood[head] = mood
        lasts_s = self._chance.uniform(30, 600) * (10 if mood == "slow" else 1)
        if mood == "silent":
            return
        self._say(slug, head, CheckState.PENDING)
        last = {"red": CheckState.FAILURE, "cancelled": CheckState.FAILURE, "flaky": CheckState.FAILURE}
        self._scene.after(lasts_s, lambda: self._say(slug, head, last.get(mood, CheckState.SUCCESS)))
        if mood == "flaky":
            self._scene.after(lasts_s + 200, lambda: self._say(slug, head, CheckState.SUCCESS))

    def _say(self, slug: str, head: Sha, state: CheckState) -> None:
        self._world.forge.add_check(slug, head, "build", state, can_rerun=True)
        self.green.setdefault(head, []).append((self._scene.loop.time(), state is CheckState.SUCCESS))
        self._scene.note(f"ci {head[:8]} {state.value}")

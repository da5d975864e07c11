"""The people: they file issues, meddle, answer after a while, and clean up what they are asked to."""

from nightcrew.core.command import Command, Verb
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.task import Task
from tests.simulation.core.hand import ISSUE_ACTS, PULL_ACTS, touch_issue, touch_pull
from tests.simulation.core.row import save
from tests.simulation.core.scene import Scene
from tests.simulation.core.service import Service

MEDDLE_EVERY_S = (1200.0, 20_000.0)
HELP_EVERY_S = 5400.0
PATIENCE_S = 3 * 3600.0
"""How long a task waits for a person until one helps."""


class People:
    """Those with write access."""

    def __init__(self, scene: Scene, service: Service, *, issues_a_day: float, zeal: float = 1.0) -> None:
        self.scene = scene
        self.service = service
        self._issues_a_day = issues_a_day
        self._zeal = zeal
        self._asked_at: dict[int, float] = {}

    def come(self) -> None:
        """Begin to file, to meddle and to help."""
        self._file_later(first=True)
        self._meddle_later()
        self.scene.schedule.after(HELP_EVERY_S, self._help, is_local=False)

    # ---- issues

    def _file_later(self, *, first: bool = False) -> None:
        gap_s = 86_400 / self._issues_a_day
        delay_s = self.scene.rng.uniform(0, 600) if first else self.scene.rng.expovariate(1 / gap_s)
        self.scene.schedule.after(delay_s, self._file, is_local=False)

    def _file(self) -> None:
        scene = self.scene
        if scene.is_calm:
            return
        slug = scene.rng.choice(list(scene.sim.settings.projects))
        for _ in range(scene.rng.choice((1, 1, 1, 3))):
            number = scene.sim.file_issue(scene.rng.choice(("", "", "high", "low")), project=slug)
            scene.note(f"#{number} is filed in {slug}")
            scene.mark(number)
        self._file_later()

    # ---- hands

    def _meddle_later(self) -> None:
        self.scene.schedule.after(self.scene.spread(*MEDDLE_EVERY_S) / self._zeal, self._meddle, is_local=False)

    def _meddle(self) -> None:
        scene, sim = self.scene, self.scene.sim
        if scene.is_calm:
            return
        self._meddle_later()
        pulls = [pull for pull in sim.open_pulls() if sim.owner[pull] in sim.active]
        issues = [number for number in sim.active if number in sim.issues]
        if pulls and scene.chance(0.4):
            pull, what = scene.rng.choice(pulls), scene.rng.choice(PULL_ACTS)
            touch_pull(sim, pull, what)
            self._did(sim.owner[pull], f"{what} on #{pull}")
        elif issues and scene.chance(0.3):
            number = scene.rng.choice(issues)
            self._comment(number)
        elif issues and scene.chance(0.4):
            number, status = scene.rng.choice(issues), scene.rng.choice(list(Status))
            sim.set_status_by_hand(number, status, cleanly=scene.chance(0.5))
            self._did(number, f"set status {status.value}")
        elif issues and scene.chance(0.8):
            number, what = scene.rng.choice(issues), scene.rng.choice(ISSUE_ACTS)
            touch_issue(sim, number, what)
            self._did(number, what)
        else:
            self._pause()

    def _comment(self, number: int) -> None:
        scene = self.scene
        verb = scene.rng.choice([verb for verb in Verb if verb is not Verb.SAY])  # see `talk`
        names = {
            Verb.AGENT: (*scene.sim.settings.agents, "nobody"),
            Verb.MODEL: ("ann-big", "other"),
            Verb.DELEGATE: ("accept", "refuse"),
        }
        command = Command(verb, scene.rng.choice(names[verb]) if verb in names else "")
        by_writer = scene.chance(0.7)
        if by_writer and verb is Verb.CLOSE:
            scene.sim.ended_by_hand.add(number)
        scene.sim.comment(number, command, by_writer=by_writer)
        self._did(number, f"comments {command}" + ("" if by_writer else " (a stranger)"))

    def _pause(self) -> None:
        sim = self.scene.sim
        if self.scene.chance(0.5):
            sim.is_paused = not sim.is_paused
        else:
            sim.paused_projects ^= {self.scene.rng.choice(list(sim.settings.projects))}
        self.scene.note(f"paused: {sim.is_paused} {sorted(sim.paused_projects)}")
        self.service.wake()

    def _did(self, number: int, words: str) -> None:
        self.scene.note(f"a person: #{number} {words}")
        self.scene.mark(number)

    # ---- help

    def _help(self) -> None:
        """Put right what has waited for a person for some hours."""
        scene, sim = self.scene, self.scene.sim
        scene.schedule.after(HELP_EVERY_S, self._help, is_local=False)
        clock_s = scene.schedule.clock_s
        if sim.is_paused or sim.paused_projects:
            sim.is_paused = False
            sim.paused_projects.clear()
            scene.note("a person resumes all")
            self.service.wake()
        for pull in sim.open_pulls():
            if sim.pulls[pull].mergeable is None:
                touch_pull(sim, pull, "clean")
                self._did(sim.owner[pull], f"the forge knows at last whether #{pull} merges")
        waits = {key.number: wait.code for key, wait in self.service.decision.waits.items()}
        for number in list(sim.active):
            code = waits.get(number, "")
            if code not in ("blocked", "no_agent", "gate_shut", "no_reviewer", "agent_not_usable"):
                self._asked_at.pop(number, None)
            elif clock_s - self._asked_at.setdefault(number, clock_s) >= (0 if scene.is_calm else PATIENCE_S):
                del self._asked_at[number]
                self._help_with(number, code)

    def _help_with(self, number: int, code: str) -> None:
        scene, sim = self.scene, self.scene.sim
        task = sim.tasks[number]
        if number not in sim.issues:
            return
        if code == "gate_shut":
            self._open_gate(number, task)
        elif code in ("no_agent", "agent_not_usable"):
            touch_issue(sim, number, "agents")
            chosen = tuple(label for label in sim.issues[number].labels if label.startswith(("agent:", "model:")))
            sim.set_labels(number, remove=chosen)
        elif code == "no_reviewer" or (code == "blocked" and scene.chance(0.15)):
            touch_issue(sim, number, "close")
        elif task.block is not None and task.block.code == "sub_tasks":
            word = "accept" if scene.chance(0.6) else "refuse"
            sim.comment(number, Command(Verb.DELEGATE, word), by_writer=True)
        elif task.block is not None and task.block.answerable and scene.chance(0.8):
            touch_issue(sim, number, "answer")
        else:
            status = Status.NEW if scene.chance(0.6) else Status.ROUTED
            sim.set_status_by_hand(number, status, cleanly=scene.chance(0.7))
        self._did(number, f"helps out of {code}")

    def _open_gate(self, number: int, task: Task) -> None:
        sim = self.scene.sim
        touch_issue(sim, number, "no hold")
        if task.pull is None or not sim.pulls[task.pull].is_open:
            return
        for what in ("clean", "back", "ok"):
            touch_pull(sim, task.pull, what)
        if task.approved_sha != sim.pulls[task.pull].head_sha:
            save(sim, number, approved_sha=sim.pulls[task.pull].head_sha)
            self.service.wake()

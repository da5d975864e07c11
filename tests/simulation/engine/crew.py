"""The agents of the simulation: what each run does, by its agent's temper and the seed.

The truth about a run is kept here and not taken from the store: which SHA a reviewer really saw, what it said, and
until when a vendor said to stay away.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.delegation import Delegation
from nightcrew.core.model.report import Finding, ReportedOutcome
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Probe, Role
from nightcrew.ports.agent import Reading, RunOutput
from nightcrew.ports.runtime import SessionSpec
from tests.engine.part import FakeAgent, approves, done, fails, routes, says, wants_changes
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene

AUTHOR_ENDS = (
    "done", "done", "done", "hands over", "hands over",
    "nothing", "declined", "asks", "crash", "vanish", "hang", "limited",
)  # fmt: skip
REPORTLESS_ENDS = ("crash", "vanish", "hang", "limited")
"""After every other end there is a report, by an agent that has read its prompt."""
REVIEW_ENDS = ("approve", "approve", "approve", "changes", "changes", "crash", "vanish", "hang", "limited")
ROUTER_ENDS = ("route", "route", "crash", "hang")
PARTS = (Delegation("One part", "Do it."), Delegation("Another part", "Do it too.", needs=(0,)))
GOOD = {Role.AUTHOR: ("done",), Role.REVIEWER: ("approve",), Role.ROUTER: ("route",)}


@dataclass(slots=True)
class Shift:
    """One run as it really is."""

    spec: SessionSpec
    task: TaskKey
    role: Role
    agent: str
    sha: Sha | None
    end: str
    began_at: datetime
    retry_at: datetime | None = None
    ended: bool = False


@dataclass(slots=True)
class Approval:
    agent: str
    sha: Sha


class TalkingAgent(FakeAgent):
    """Reads the last line that the run printed."""

    def read(self, output: RunOutput) -> Reading:
        if output.timed_out:
            return fails(FailureKind.TIMEOUT, "its time was up")
        lines = output.stdout.splitlines()
        said = json.loads(lines[-1]) if lines else {}
        retry_at = datetime.fromisoformat(said["retry_at"]) if said.get("retry_at") else None
        match said.get("end"):
            case "done" | "nothing":
                return done()
            case "hands over":
                return done(delegations=PARTS)
            case "declined":
                return says(ReportedOutcome.DECLINED, why="it is not worth it")
            case "asks":
                return says(ReportedOutcome.NEEDS_INPUT, question="left or right?")
            case "approve":
                return approves()
            case "changes":
                return wants_changes("the sign is wrong", Finding("work.txt", 1, "here"))
            case "route":
                return routes(Complexity.SIMPLE, why="it is small")
            case "limited":
                return fails(FailureKind.RATE_LIMIT, "limit reached", retry_at=retry_at)
            case _:
                return fails(FailureKind.CRASH, f"exit code {output.exit_code}")


class Crew:
    """Plays every session that starts."""

    def __init__(self, scene: Scene, world: World) -> None:
        self._scene, self._world = scene, world
        self._chance = scene.chance("crew")
        swarm = scene.chance("swarm")
        self.temper = {name: swarm.uniform(0.0, 0.8) for name in world.agents}
        self.pace_s = swarm.choice((60.0, 300.0, 900.0))
        self.is_good = False
        self.on_end: Callable[[str, TaskKey], None] = lambda _kind, _key: None
        self.on_report: Callable[[Shift], None] = lambda _shift: None
        self.shifts: list[Shift] = []
        self.approvals: list[Approval] = []
        self.stay_away: dict[str, datetime] = {}
        """By agent: what a vendor said in the last run that was collected."""
        self._edits = 0

    def begin(self, spec: SessionSpec) -> None:
        """A session was really started."""
        world = self._world
        run = next((run for run in world.store.runs.values() if run.session == spec.name), None)
        if run is None:
            self._scene.fail("row before session", f"session {spec.name} was started without a row")
            return
        checkouts = world.workspace.repository(run.task.project).checkouts
        sha = checkouts.get(run.id, (None,))[0] if run.role is Role.REVIEWER else None
        end = self._choose(run.role, run.agent)
        shift = Shift(spec, run.task, run.role, run.agent, sha, end, self._scene.clock.now())
        self.shifts.append(shift)
        self._scene.count(f"{run.role.value} {end}")
        lasts_s = self._chance.expovariate(1 / self.pace_s) + 5
        if end == "hang" or lasts_s >= spec.deadline_s:
            self._scene.after(spec.deadline_s, lambda: self._end(shift, timed_out=True))
            return
        for _ in range(self._chance.randint(1, 3) if run.role is Role.AUTHOR and end != "nothing" else 0):
            self._scene.after(self._chance.uniform(0, lasts_s), lambda: self._work(shift))
        self._scene.after(lasts_s, lambda: self._finish(shift))

    def _choose(self, role: Role, agent: str) -> str:
        ends = {Role.AUTHOR: AUTHOR_ENDS, Role.REVIEWER: REVIEW_ENDS, Role.ROUTER: ROUTER_ENDS}[role]
        if self.is_good or self._chance.random() > self.temper[agent]:
            return GOOD[role][0]
        return self._chance.choice(ends)

    def _lives(self, shift: Shift) -> bool:
        session = self._world.runtime.sessions.get(shift.spec.name)
        return session is not None and session.spec is shift.spec and session.probe is Probe.ALIVE

    def _work(self, shift: Shift) -> None:
        """An author edits a file, and perhaps commits."""
        project, number = shift.task.project, shift.task.number
        if not self._lives(shift) or number not in self._world.workspace.repository(project).trees:
            return
        self._edits += 1
        path = f"work-{number}-{self._chance.randint(1, 3)}.txt"
        self._world.workspace.edit(project, number, {path: f"edit {self._edits} by {shift.agent}"})
        if self._chance.random() < 0.4:
            self._world.workspace.commit(project, number, agent=shift.agent)

    def _finish(self, shift: Shift) -> None:
        if not self._lives(shift):
            return
        if shift.role is Role.AUTHOR and shift.end == "done":
            self._work(shift)
        if shift.end == "vanish":
            self._world.runtime.die(shift.spec.name)
            self._scene.note(f"session {shift.spec.name} vanished")
            return
        if shift.end == "limited" and self._chance.random() < 0.7:
            shift.retry_at = self._scene.clock.now() + timedelta(minutes=self._chance.uniform(1, 120))
        if shift.end == "approve" and shift.sha is not None:
            self.approvals.append(Approval(shift.agent, shift.sha))
        self._end(shift)

    def _end(self, shift: Shift, *, timed_out: bool = False) -> None:
        if not self._lives(shift):
            return
        shift.ended = True
        self.on_end("session.end", shift.task)
        retry_at = shift.retry_at.isoformat() if shift.retry_at else ""
        line = json.dumps({"run": shift.spec.name, "end": shift.end, "retry_at": retry_at})
        code = 1 if shift.end in ("crash", "limited") else 0
        if not timed_out:
            self.on_report(shift)
        self._world.runtime.end(shift.spec.name, output=line.encode() + b"\n", exit_code=code, timed_out=timed_out)
        self._scene.note(f"session {shift.spec.name} ended: {shift.end}")

    def stay_away_after(self, agent: str, until_at: datetime, _at: float) -> None:
        """A run was collected whose vendor said when to come back."""
        known = self.stay_away.get(agent)
        self.stay_away[agent] = until_at if known is None else max(known, until_at)

    def forget_past(self, now: datetime) -> None:
        """What a vendor said ends once the machine's clock shows that time, though it be set back later."""
        self.stay_away = {agent: until_at for agent, until_at in self.stay_away.items() if until_at > now}

    def approved_by(self, sha: Sha) -> set[str]:
        return {approval.agent for approval in self.approvals if approval.sha == sha}

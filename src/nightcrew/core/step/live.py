"""Runs that have not been collected: collect those that ended, finish starting those cut short, end those that are
no longer wanted, and wait for the rest."""

from datetime import timedelta

from nightcrew.core.actions import Action, CollectRun, NoteRun, ResumeStart, StopRun
from nightcrew.core.ids import Sha
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.reaction import ReactionAction, ReactionKey, ReactionKind
from nightcrew.core.model.run import Probe, Role, Run, RunState, RunView, StopCause
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.noticing import places_of, told_words
from nightcrew.core.policy.reacting import find_reaction
from nightcrew.core.policy.saying import interrupting
from nightcrew.core.reason import Wait

OVERDUE_S = 60.0
"""How long after its deadline a session is left to end itself before the engine ends it. The session keeps its
deadline by a clock of its own; this one counts only while the machine is awake."""

# The status in which a run of a role belongs, and the one from which it is started.
_PLACE = {
    Role.AUTHOR: (Status.IN_PROGRESS, Status.ROUTED),
    Role.REVIEWER: (Status.IN_REVIEW, Status.NEEDS_REVIEW),
    Role.ROUTER: (Status.NEW, Status.NEW),
}


def follow_live(world: World, view: TaskView, *, wanted: bool) -> Action | Wait | None:
    """The step that the task's live runs ask for; None if there is none. `wanted` False: the task is being ended or
    moved by hand, so whatever runs has to end first. A run that has to be waited for holds up no other."""
    steps = [_follow_run(world, view, live, wanted and _belongs(view, live.run)) for live in view.live]
    waits = [step for step in steps if isinstance(step, Wait)]
    return next((step for step in steps if not isinstance(step, Wait)), waits[0] if waits else None)


def _follow_run(world: World, view: TaskView, live: RunView, wanted: bool) -> Action | Wait:
    run, key = live.run, view.task.key
    if live.has_result:
        return CollectRun(key, run.id, lost=False, why=f"{run.agent} has ended")
    if live.session is Probe.UNKNOWN:
        return Wait("session_unknown", f"whether {run.agent} still runs is not known", "It is looked for again.")
    if live.session is Probe.ALIVE:
        return _follow_alive(world, view, live, wanted)
    if run.state is RunState.STARTING and wanted:
        return ResumeStart(key, run.id, "its start was cut short")
    why = "its start was cut short" if run.state is RunState.STARTING else "its session is gone and left no result"
    return CollectRun(key, run.id, lost=True, why=why)


def _follow_alive(world: World, view: TaskView, live: RunView, wanted: bool) -> Action | Wait:
    key, run = view.task.key, live.run
    if run.state is RunState.STARTING and wanted:
        return ResumeStart(key, run.id, "its session is there, its start was not recorded")
    if not wanted:
        return StopRun(key, run.id, "its work is no longer wanted")
    said = interrupting(view, live)
    if said is not None:
        return StopRun(key, run.id, f"{said.author} has something to say that is not to wait", StopCause.SAID)
    if live.running_s > run.deadline_s + OVERDUE_S:
        return StopRun(key, run.id, "it is past its deadline", StopCause.OVERDUE)
    if live.limit:
        return StopRun(key, run.id, f"it does nothing but repeat: {live.limit}", StopCause.LIMITED)
    if is_silent(world, live):
        return StopRun(key, run.id, f"it printed nothing for {_span(live.silent_s)}", StopCause.SILENT)
    stuck = _stuck(world, view, live)
    if stuck is not None:
        return stuck
    deadline_at = (run.started_at or run.created_at) + timedelta(seconds=run.deadline_s)
    doing = {Role.AUTHOR: "works on it", Role.REVIEWER: "reviews it", Role.ROUTER: "judges how hard it is"}[run.role]
    return Wait("running", f"{run.agent} {doing}", "The result is collected as soon as it ends.", deadline_at)


def is_silent(world: World, live: RunView) -> bool:
    """Whether a run has printed nothing for longer than its agent may, and no tool of it is known to be at work."""
    agent = world.settings.agents.get(live.run.agent)
    limit_s = agent.silence_s if agent is not None else 0.0
    return limit_s > 0 and live.silent_s >= limit_s and not live.at_work


def _stuck(world: World, view: TaskView, live: RunView) -> NoteRun | None:
    """Tell a person, once a run, that it has said nothing for as long as the rule says."""
    project = world.projects.get(view.task.key.project)
    if project is None or live.at_work:
        return None
    rule = project.settings.reactions.agent_stuck
    key = ReactionKey(0, Sha(""), ReactionKind.AGENT_STUCK, live.run.id)
    if rule.action is not ReactionAction.NOTIFY or not 0 < rule.escalate_after_s <= live.silent_s:
        return None
    if find_reaction(view, key) is not None:
        return None
    words = f"The {live.run.role.value} run of {live.run.agent} has printed nothing for {_span(live.silent_s)}."
    said = told_words(rule, words, places_of(view.task.key))
    return NoteRun(view.task.key, key, said, "a person is told that it may be stuck")


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def _belongs(view: TaskView, run: Run) -> bool:
    running_in, started_from = _PLACE[run.role]
    status = view.task.status
    if status is not running_in and not (run.state is RunState.STARTING and status is started_from):
        return False
    pull = view.pull.value.pull if isinstance(view.pull, Known) and view.pull.value is not None else None
    if pull is not None and not pull.is_open:
        return False  # merged or closed by hand: nothing is left to do on it
    if run.role is not Role.REVIEWER or pull is None:
        return True
    # A push during the review voids it, and so does another base.
    return pull.head_sha == run.head_sha and view.task.base_ref in ("", pull.base_ref)

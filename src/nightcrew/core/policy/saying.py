"""What becomes of a message to a task's agent: may it be said, was it seen, and whose turn is it for?"""

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.run import Role, Run, RunView, StopCause
from nightcrew.core.model.saying import LONGEST, Saying, SayingState
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import TaskView
from nightcrew.core.neutral import strip_controls, strip_invisible

MOST_TRIES = 5
"""How many runs may end without a sign that the agent has read a message, before it is given up."""
_NOW = ("--now", "—now", "–now")
"""Telephones make a dash of two hyphens."""
MOST_WAITING = 20
"""Messages of one task that may wait."""


def clean_saying(text: str) -> str:
    """The text without control and invisible characters."""
    return strip_invisible(strip_controls(text))[0].strip()


def split_now(text: str) -> tuple[str, bool]:
    """The text, and whether it is not to wait for the end of the turn at work: `--now` stands before it."""
    parts = text.split(maxsplit=1)
    if not parts or parts[0] not in _NOW:
        return text.strip(), False
    return (parts[1].strip() if len(parts) > 1 else ""), True


def why_not_said(task: Task, internal: InternalTask | None, text: str, *, waiting: int = 0) -> str:
    """Why a message cannot be sent to the agent of a task; empty if it can. `text` is clean."""
    if task.status is Status.DONE:
        return "it is done, and nobody works on it any more; retry it, or file an issue"
    if internal is not None and internal.is_review:
        return "it is a review alone, and has no author to talk to"
    if not text:
        return "what is missing is the text"
    if len(text) > LONGEST:
        return f"the message has {len(text)} characters, and may have {LONGEST}"
    return f"{waiting} messages wait for its agent already" if waiting >= MOST_WAITING else ""


def waiting(view: TaskView) -> tuple[Saying, ...]:
    """The messages that the next run takes, oldest first."""
    return tuple(saying for saying in view.sayings if saying.waits)


def settle_saying(view: TaskView, saying: Saying) -> SettleSaying | None:
    """What is known by now of a message that a run was given; None while it is not known."""
    if saying.run is None:
        return None
    live = next((one for one in view.live if one.run.id == saying.run), None)
    if live is not None:
        return _seen(saying, live.run, live.answered_in) if live.answered_in else None
    run = next((run for run in view.runs if run.id == saying.run), None)
    if run is None or run.outcome is None:
        return None
    return _settle_ended(saying, run)


def _settle_ended(saying: Saying, run: Run) -> SettleSaying:
    outcome = run.outcome
    # What a run took stands in its prompt, whether its start was recorded or not.
    if outcome is not None and (outcome.answered or outcome.report is not None):
        return _seen(saying, run, outcome.agent_session)
    why = f"{run.agent} gave no sign of having read it in turn {run.attempt}"
    if run.stop is not None and run.stop.cause is StopCause.SAID:
        return SettleSaying(saying.task, saying.id, run.id, SayingState.QUEUED, why, is_tried=False)
    if saying.tries + 1 >= MOST_TRIES:
        words = f"{why}, and {MOST_TRIES} runs have ended like that"
        return SettleSaying(saying.task, saying.id, run.id, SayingState.UNDELIVERED, words)
    return SettleSaying(saying.task, saying.id, run.id, SayingState.QUEUED, why)


def _seen(saying: Saying, run: Run, session: str) -> SettleSaying:
    where = "its own session" if run.resumes and session == run.resumes else "a new session"
    why = f"delivered to {run.agent} in turn {run.attempt}, in {where}"
    return SettleSaying(saying.task, saying.id, run.id, SayingState.SEEN, why, session)


def interrupting(view: TaskView, live: RunView) -> Saying | None:
    """The message for which the turn at work is ended, if there is one."""
    if live.run.role is not Role.AUTHOR:
        return None
    return next((saying for saying in waiting(view) if saying.interrupts), None)


def last_author(view: TaskView) -> Run | None:
    """The last author run since a person's reset: the one whose session a message is for."""
    runs = view.counted(Role.AUTHOR)
    return runs[-1] if runs else None


def describe_saying(saying: Saying) -> str:
    """Where it is, in a sentence without its text."""
    match saying.state:
        case SayingState.QUEUED if saying.run is None:
            return f"it waits for the agent's next turn{f' ({saying.why})' if saying.why else ''}"
        case SayingState.QUEUED:
            return "a turn with it is being started"
        case SayingState.DELIVERED:
            return "its turn has begun, and the agent has not answered yet"
        case SayingState.SEEN:
            return f"{saying.why} at {saying.seen_at:%Y-%m-%d %H:%M:%S} UTC" if saying.seen_at else saying.why
        case SayingState.UNDELIVERED:
            return f"not delivered: {saying.why}"

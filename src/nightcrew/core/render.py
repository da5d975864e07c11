"""Words for a person: why a task is where it is. Every skin renders the same values through here."""

from datetime import datetime, timedelta
from functools import lru_cache

from nightcrew.core.command import SettledCommand, Settlement
from nightcrew.core.ids import render_sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import Role
from nightcrew.core.model.world import TaskView
from nightcrew.core.neutral import page_line
from nightcrew.core.policy.budgeting import describe_spent, spent_by
from nightcrew.core.policy.retrying import describe_end
from nightcrew.core.policy.saying import describe_saying
from nightcrew.core.reason import Wait

MARK = "<!-- nightcrew:status -->"
"""Hidden in the one comment that Nightcrew keeps on an issue; it is known by its recorded id all the same."""

_LASTING = frozenset(
    {
        "no_agent",
        "agent_not_usable",
        "no_agent_usable",
        "no_reviewer",
        "gate_shut",
        "blocked",
        "cooling",
        "not_vouched",
        "reopened",
    }
)

_BOUNDED = frozenset({"queue_landed", "queue_testing", "running", "update_turn"})
"""Waits whose time is the latest at which they end, not the earliest."""


def render_sentence(status: Status, wait: Wait | None, *, now: datetime, merge_sha: str | None = None) -> str:
    """One sentence: why the task is where it is, what happens next, and when. `merge_sha`: the commit by which it was
    merged, None if it was not."""
    if wait is None and status is Status.DONE:
        return "It is finished, without a merge." if merge_sha is None else f"It is merged ({merge_sha[:9]})."
    if wait is None:
        return f"It is {status.value}; the next look decides."
    words = wait.words.rstrip(".")
    text = f"It is {status.value}: {words}" + ("" if words.endswith(("?", "!")) else ".")
    if wait.next:
        text += " " + (wait.next if wait.next.endswith(".") else wait.next + ".")
    if wait.until_at is not None:
        when = f"{wait.until_at:%Y-%m-%d %H:%M} UTC"
        when = f"By {when} at the latest" if wait.code in _BOUNDED else f"Not before {when}"
        text += f" {when} ({render_span(wait.until_at - now)})."
    return text


def render_span(span: timedelta) -> str:
    """A span of time in two units at most: `in 2 h 5 min`, `3 min ago`, `now`."""
    seconds = int(span.total_seconds())
    size = abs(seconds)
    if size < 5:
        return "now"
    days, rest = divmod(size, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    if days:
        text = f"{days} d {hours} h" if hours else f"{days} d"
    elif hours:
        text = f"{hours} h {minutes} min" if minutes else f"{hours} h"
    elif minutes:
        text = f"{minutes} min"
    else:
        text = f"{secs} s"
    return f"in {text}" if seconds > 0 else f"{text} ago"


def render_status_comment(view: TaskView, wait: Wait | None) -> str:
    """The comment on the issue. It changes when something lasting changes, not with every look."""
    task = view.task
    lines = [MARK, f"**Nightcrew**: `{task.status.value}`"]
    if task.route is not None:
        model = f" ({_shown(task.route.model, 80)})" if task.route.model else ""
        why = _shown(task.route.why, 200)
        lines.append(f"- agent: {task.route.agent}{model}, {task.route.complexity.value} — {why}")
    if task.pull is not None:
        lines.append(f"- pull request: #{task.pull}")
    made = [part.number for part in task.delegated.parts if part.number is not None] if task.delegated else []
    if made:
        lines.append(f"- depends on its sub-tasks: {', '.join(f'#{number}' for number in made)}")
    last = view.last(Role.AUTHOR)
    if last is not None:
        lines.append(f"- attempt {last.attempt}: {_doing(view, last.agent)}")
    for verdict in view.verdicts[-1:]:
        of = f", carried over from {render_sha(verdict.carried_from)}" if verdict.carried_from is not None else ""
        lines.append(f"- review of {render_sha(verdict.head_sha)} by {verdict.agent}: {verdict.decision.value}{of}")
    if task.status in (Status.DONE, Status.BLOCKED) and view.runs:
        lines.append(f"- used: {describe_spent(spent_by(view.runs, since=task.reset_at))}")
    if view.last_command is not None:
        lines.append(f"- {_answer(view.last_command)}")
    lines += [f"- {_shown(line, 300)}" for line in _said(view)]
    if task.status is Status.BLOCKED and task.block is not None:
        lines.append(f"- **waits for a person**: {_shown(task.block.words, 1500)}")
        if task.block.answerable:
            lines.append("- answer with a comment here, and it goes on")
    elif wait is not None and wait.code in _LASTING:
        lines.append(f"- waits: {_shown(wait.words, 1500)}. {_shown(wait.next, 200)}".rstrip())
    return "\n".join(lines)


def _said(view: TaskView) -> list[str]:
    """Where the last message to its agent is; not while it is only on its way."""
    said = view.sayings[-1] if view.sayings and view.sayings[-1].waits else view.last_saying
    return [] if said is None else [f"what {said.author} said to its agent: {describe_saying(said)}"]


def render_pull_note(wait: Wait | None) -> str:
    """What stands in the way of the merge, for the pull request; empty if nothing does but time."""
    if wait is None or wait.code != "gate_shut":
        return ""
    return f"{MARK}\n**Nightcrew** does not merge this yet: {_shown(wait.words, 1500)}. {_shown(wait.next, 400)}"


def _answer(command: SettledCommand) -> str:
    """What came of a command, without a word of it that acts again."""
    given = page_line(str(command.given), 120).replace("`", "'")
    end = {Settlement.DONE: "done", Settlement.REFUSED: "refused", Settlement.IGNORED: "ignored"}[command.settlement]
    words = "" if command.words in ("", end) else f": {page_line(command.words, 300)}"
    return f"`{given}`, as {page_line(command.author, 60)} asked: {end}{words}"


def _doing(view: TaskView, agent: str) -> str:
    last = view.last(Role.AUTHOR)
    if last is None or last.outcome is None:
        return f"{agent} works on it"
    return _shown(describe_end(last), 300)


@lru_cache(maxsize=4096)
def _shown(text: str, limit: int) -> str:
    """Text of others, harmless and in one line. Each look renders the same few again."""
    return page_line(text, limit)

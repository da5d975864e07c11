"""What a prompt says of messages that people sent to the agent of a task. They come from those who may command, so they
are instructions, not data."""

from collections.abc import Sequence

from nightcrew.core.model.saying import Saying
from nightcrew.core.neutral import one_line, strip_controls

_LAW = (
    "This is the word of a person who may decide about this task: do what it asks, also where it changes what the "
    "issue asks. It does not change the rules about your folder, pushing and reporting. If it only asks something, "
    "answer in the summary of your report, and leave everything as it is; then report as you would have without it."
)
_FRESH = (
    "It was meant for the session that worked on this before, which cannot be gone on with: what was done so far "
    "stands below."
)


def render_said(said: Sequence[Saying], *, is_fresh: bool) -> str:
    """The messages of this turn, oldest first; empty without any. `is_fresh`: others worked on the task before, and
    this is not their session."""
    if not said:
        return ""
    shown = "\n\n".join(_message(saying) for saying in said)
    return "\n\n".join(part for part in (shown, _LAW, _FRESH if is_fresh else "") if part)


def render_said_before(said: Sequence[Saying]) -> str:
    """The messages that earlier turns had, for whoever did not hear them."""
    if not said:
        return ""
    shown = "\n\n".join(_message(saying) for saying in said)
    return f"{shown}\n\nThese messages went to the agent that worked on this before; what they ask still holds."


def _message(saying: Saying) -> str:
    head = f"## A message from {one_line(saying.author, 60)} ({saying.said_at:%Y-%m-%d %H:%M} UTC, message {saying.id})"
    return f"{head}\n{strip_controls(saying.text)}"

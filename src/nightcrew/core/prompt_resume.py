"""What an agent is told whose own session goes on in a new run. Everything else it is told stands in `prompt`."""

from enum import Enum
from typing import assert_never


class Resumed(Enum):
    """Why a session goes on: it was lost with the machine, what it did came back with changes to make, a person has
    something to say, or the sub-tasks that it proposed have ended, or were refused."""

    AFTER_LOSS = "after_loss"
    FOR_CHANGES = "for_changes"
    FOR_MESSAGE = "for_message"
    AFTER_SUB_TASKS = "after_sub_tasks"


def render_resumed(why: Resumed | None) -> str:
    """The words that come before everything else; none for a fresh session."""
    match why:
        case None:
            return ""
        case Resumed.AFTER_LOSS:
            return (
                "Your session was cut off, most likely since the machine was restarted, and goes on here. Your work so "
                "far is in this worktree; what you had not committed has been committed for you, and nothing that you "
                "had started still runs. Look at `git status` and `git log` to see where you are, then go on to the "
                "end. What follows is your task once more; the report goes to the place that is named here."
            )
        case Resumed.FOR_CHANGES:
            return (
                "Your session goes on: the work that you called done came back. What is asked for stands below; your "
                "branch is as you left it, unless a person has pushed to it. The report goes to the place that is "
                "named here."
            )
        case Resumed.FOR_MESSAGE:
            return (
                "Your session goes on: your turn has ended, or was ended, and a person has something to say to you. It "
                "comes first; behind it stands your task once more. What you had not committed has been committed for "
                "you. The report goes to the place that is named here, and is about all your work on the task."
            )
        case Resumed.AFTER_SUB_TASKS:
            return (
                "Your session goes on: what became of the sub-tasks that you proposed stands below. Files in this "
                "worktree may have changed since. The report goes to the place that is named here."
            )
        case _:
            assert_never(why)

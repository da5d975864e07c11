"""Reading what a person orders in a chat: `/retry 42`, `/new acme/widget Fix the door`, `/block 42 not now`.

Text in, values out. What an order does is in `channels/desk.py`, and it is what the command line does.
"""

import re
from dataclasses import dataclass
from enum import Enum

from nightcrew.core.neutral import one_line


class Verb(Enum):
    """What can be ordered in a chat, with the words of its help."""

    STATUS = "status"
    TASKS = "tasks"
    TASK = "task"
    NEW = "new"
    RETRY = "retry"
    BLOCK = "block"
    UNBLOCK = "unblock"
    DELEGATE = "delegate"
    STOP = "stop"
    APPROVE = "approve"
    MERGE = "merge"
    COMMENT = "comment"
    SAY = "say"
    PAUSE = "pause"
    RESUME = "resume"
    JOBS = "jobs"
    COOLDOWNS = "cooldowns"
    STREAM = "stream"
    ASK = "ask"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    CONFIRM = "confirm"
    CANCEL = "cancel"
    HELP = "help"


HELP: dict[Verb, tuple[str, str]] = {
    Verb.STATUS: ("", "how the service, its projects and agents are"),
    Verb.TASKS: ("[PROJECT]", "the tasks that are not done"),
    Verb.TASK: ("TASK", "one task: why it is where it is, its runs"),
    Verb.NEW: ("[PROJECT] TITLE", "file an issue; what follows in further lines is its text"),
    Verb.RETRY: ("TASK", "start a task anew"),
    Verb.BLOCK: ("TASK [WHY]", "set a task aside"),
    Verb.UNBLOCK: ("TASK", "go on with it"),
    Verb.DELEGATE: ("TASK accept|refuse", "answer an author that proposes sub-tasks"),
    Verb.STOP: ("TASK", "end the run at work and set the task aside"),
    Verb.APPROVE: ("TASK", "your word for the merge of its pull request as it is now"),
    Verb.MERGE: ("TASK", "your word for the merge, and look at once"),
    Verb.COMMENT: ("TASK TEXT", "write a comment on the issue: the answer to a question"),
    Verb.SAY: ("TASK [--now] TEXT", "send a message to the agent: its next turn, or with --now at once"),
    Verb.PAUSE: ("[PROJECT]", "start no new work"),
    Verb.RESUME: ("[PROJECT]", "start new work again"),
    Verb.JOBS: ("[PROJECT]", "the scheduled jobs, and when they are due next"),
    Verb.COOLDOWNS: ("", "which agents and models rest, until when and why"),
    Verb.STREAM: ("TASK", "follow the run at work"),
    Verb.ASK: ("QUESTION", "have an agent answer a question about all this; it can change nothing"),
    Verb.SUBSCRIBE: ("[PROJECT]", "send notices here"),
    Verb.UNSUBSCRIBE: ("[PROJECT]", "send no more notices here"),
    Verb.HELP: ("", "this list"),
}
"""What each takes, and what it does. CONFIRM and CANCEL are given by buttons and not named."""

BINDING = frozenset({Verb.APPROVE})
"""Orders about what a person saw when they gave them: they are confirmed as well if they arrive late."""

DANGEROUS = frozenset({Verb.STOP, Verb.MERGE, Verb.RETRY, Verb.BLOCK})
"""Orders that end work, or cannot be taken back: they are confirmed."""

_ORDER = re.compile(r"/([A-Za-z_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Order:
    """One order. `words` is what follows the verb, as it was written."""

    verb: Verb
    words: str = ""

    @property
    def target(self) -> str:
        """The first word: most often a task."""
        return self.words.split(maxsplit=1)[0] if self.words.split() else ""

    @property
    def rest(self) -> str:
        """What follows the first word."""
        parts = self.words.split(maxsplit=1)
        return parts[1] if len(parts) == 2 else ""


@dataclass(frozen=True, slots=True)
class NoOrder:
    """Not an order, and why, for the person."""

    why: str


def parse_order(text: str, *, called: str = "") -> Order | NoOrder | None:
    """The order that a message gives; None if it gives none: it does not begin with `/`, or names another bot than
    `called` (`/status@other_bot` in a group). An unknown word after `/` is told with what is nearest."""
    match = _ORDER.fullmatch(text.strip())
    if match is None:
        return None
    if match[2] and called and match[2].casefold() != called.casefold():
        return None
    word = match[1].lower()
    if word == "start":  # what Telegram's first button sends
        return Order(Verb.HELP)
    verb = next((verb for verb in Verb if verb.value == word), None)
    if verb is None:
        return NoOrder(f"There is no /{one_line(word, 32)}. /help lists what there is.")
    return Order(verb, (match[3] or "").strip())


def render_help() -> tuple[str, ...]:
    """One line an order."""
    return tuple(f"/{verb.value} {takes}".rstrip() + f": {what}" for verb, (takes, what) in HELP.items())

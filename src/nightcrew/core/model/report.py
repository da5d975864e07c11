"""What a run says about its own work: the strict shapes of the report file, by role."""

from dataclasses import dataclass, field
from enum import Enum

from nightcrew.core.model.delegation import Delegation
from nightcrew.core.model.route import Complexity


class ReportedOutcome(Enum):
    """An author's own word for how it ended."""

    DONE = "done"
    DECLINED = "declined"
    NEEDS_INPUT = "needs_input"
    BLOCKED = "blocked"


class Decision(Enum):
    """A reviewer's answer."""

    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"


@dataclass(frozen=True, slots=True)
class ThreadAnswer:
    """What an author says to one review thread, named by the id of its first remark; `is_fixed` if it did what was
    asked."""

    thread: int
    text: str
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class AuthorReport:
    """`summary` says what was done (one paragraph); `why` explains the approach or the reasons to decline;
    `tested` how it was tested; `question` is set with needs_input; `learned` helps a later attempt;
    `answers` go into review threads; `delegations` are sub-tasks that it proposes."""

    outcome: ReportedOutcome
    summary: str
    why: str = ""
    tested: str = ""
    question: str = ""
    learned: str = ""
    answers: tuple[ThreadAnswer, ...] = ()
    delegations: tuple[Delegation, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of a review. `line` is in the new version of `path`, or None for the whole file."""

    path: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """A reviewer's verdict as reported, before it is tied to a SHA."""

    decision: Decision
    summary: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterReport:
    """A classification: complexity, and optionally the agent it would choose. `skills` are the names that it gave,
    whether there are such skills or not."""

    complexity: Complexity
    agent: str = ""
    why: str = ""
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantReport:
    """An answer to a person's question, as Markdown. `orders` are what it proposes to have done, as a person would
    write them in a chat; nothing of them is done unless a person says so."""

    answer: str
    orders: tuple[str, ...] = ()


Report = AuthorReport | ReviewReport | RouterReport | AssistantReport


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used, as far as the CLI tells. Tokens are totals of the run; None means not told."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    models: tuple[str, ...] = field(default=())

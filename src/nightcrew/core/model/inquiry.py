"""A question that a person asks of Nightcrew, with its answer. An agent answers it in runs of its own, which belong to
no task and are kept with it."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nightcrew.core.failures import Failure
from nightcrew.core.ids import InquiryId, TaskKey
from nightcrew.core.model.report import Usage


class InquiryState(Enum):
    """ASKED: it waits for an agent, also for the next one after a failure. RUNNING: its last try is under way."""

    ASKED = "asked"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AskSettings:
    """`max_runs`: how many questions are answered at once, besides the runs of tasks; `timeout_s`: how long one agent
    may take for it; `agents`: who may answer, the first that can be used being taken (empty: all, in their order)."""

    max_runs: int = 1
    timeout_s: float = 300.0
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Try:
    """One run of an agent for a question. `number` counts from 1; `session` is the CLI's own; `began_s` the monotonic
    clock when it was started. `failure` is why it gave no answer; `lost` says so where the agent is not to blame."""

    number: int
    agent: str
    model: str
    session: str
    at: datetime
    deadline_s: float
    started_at: datetime | None = None
    began_s: float | None = None
    ended_at: datetime | None = None
    failure: Failure | None = None
    lost: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asked, and where the answer goes: `channel` is empty for the command line and the API, whose clients look for
    it themselves; else the platform, with its ids of the place (`chat/thread`) and the person."""

    channel: str = ""
    place: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """`talk` names the conversation that it belongs to; `project` and `task` what it is about, `agent` who is to answer
    (all may be empty). `answer` and `orders` are the agent's own words, and are data; `failure` is in words for the
    person, with `kind` a kind of failure, or `no_agent`, `lost`, `cancelled`. `told_at`: when a channel had said the
    answer."""

    id: InquiryId
    talk: str
    question: str
    asked_at: datetime
    state: InquiryState = InquiryState.ASKED
    project: str = ""
    task: TaskKey | None = None
    agent: str = ""
    origin: Origin = Origin()
    tries: tuple[Try, ...] = ()
    answer: str = ""
    orders: tuple[str, ...] = ()
    kind: str = ""
    failure: str = ""
    is_cancelled: bool = False
    ended_at: datetime | None = None
    told_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.state in (InquiryState.ASKED, InquiryState.RUNNING)

    @property
    def open_try(self) -> Try | None:
        """The try under way."""
        return self.tries[-1] if self.state is InquiryState.RUNNING else None

"""The action about what a person said to an agent."""

from dataclasses import dataclass

from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.saying import SayingState


@dataclass(frozen=True, slots=True)
class SettleSaying:
    """Write down what became of a message that `run` was given (None: it waited): seen in `session`, back in the queue
    for the next run, or never to be delivered. `is_tried`: back in the queue, that run counts as one that gave no sign;
    one that another message cut short does not."""

    task: TaskKey
    saying: str
    run: RunId | None
    state: SayingState
    why: str
    session: str = ""
    is_tried: bool = True

    @property
    def key(self) -> str:
        return f"saying:{self.saying}:{self.run}:{self.state.value}"

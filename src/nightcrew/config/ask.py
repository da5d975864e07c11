"""The keys of `ask`: how people's questions are answered. Defaults are those of the core's settings."""

from typing import Annotated

from pydantic import BeforeValidator

from nightcrew.config.section import Section
from nightcrew.config.value import AgentName, Count, Duration, key, listed
from nightcrew.core.model.inquiry import AskSettings

_ASK = AskSettings()
AgentNames = Annotated[tuple[AgentName, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]


class AskKeys(Section):
    """Questions that people ask (`nightcrew ask`, `/ask`). See chat.md."""

    max_runs: Count = key(
        "How many questions are answered at once, besides the runs of tasks.", _ASK.max_runs, ge=1, le=8
    )
    timeout: Duration = key("How long one agent may take for an answer.", _ASK.timeout_s, ge=10, le=3600)
    agents: AgentNames = key("Who answers, the first that can be used; empty: all, in their order.", ())


def build_ask(keys: AskKeys) -> AskSettings:
    return AskSettings(max_runs=keys.max_runs, timeout_s=keys.timeout, agents=keys.agents)

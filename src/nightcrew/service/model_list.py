"""Asking an agent's CLI which models there are."""

from collections.abc import Mapping

from nightcrew.agents.stream import strip_terminal
from nightcrew.core.errors import Unavailable
from nightcrew.ports.agent import ListsModels
from nightcrew.process import clean_environment, run_process

TIMEOUT_S = 45.0
OUTPUT_CAP = 1_000_000


async def list_models(agent: object, env: Mapping[str, str]) -> tuple[str, ...]:
    """The lines that an agent's CLI prints; none for one that cannot say. `env` are its own variables, as in a run."""
    if not isinstance(agent, ListsModels):
        return ()
    command = agent.models_command()
    variables = clean_environment(extra={**env, **command.env})
    done = await run_process(command.argv, env=variables, timeout_s=TIMEOUT_S, output_cap=OUTPUT_CAP)
    if not done.ok:
        raise Unavailable(f"exit code {done.returncode}: {done.complaint[:200]}")
    return tuple(strip_terminal(line) for line in done.text.splitlines())

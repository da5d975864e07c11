"""Agents by entry point: our own register the same way as anybody's. Found by name from the settings, loaded only when
one is used."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.model.settings import AgentSettings, Settings
from nightcrew.ports.agent import Agent

GROUP = "nightcrew.agents"


def adapter_names() -> frozenset[str]:
    """The adapters that are installed."""
    return frozenset(_found())


def load_agents(settings: Settings) -> dict[str, Agent]:
    """An adapter for each enabled agent. ConfigError names every agent whose adapter is missing or does not load."""
    found = _found()
    agents: dict[str, Agent] = {}
    problems: list[Problem] = []
    for name, agent in settings.agents.items():
        if not agent.enabled:
            continue
        try:
            agents[name] = _load(found, agent)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return agents


def _load(found: dict[str, EntryPoint], settings: AgentSettings) -> Agent:
    where = f"agents.{settings.name}.adapter"
    entry = found.get(settings.adapter)
    if entry is None:
        raise ConfigError(
            [Problem(where, f"no adapter {settings.adapter!r}", f"there are: {', '.join(sorted(found))}")]
        )
    try:
        made = entry.load()(settings)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError([Problem(where, f"{entry.value} does not load: {error}")]) from error
    lacking = [
        part for part in ("name", "program", "command", "needs", "read", "limits", "homes") if not hasattr(made, part)
    ]
    if lacking:
        raise ConfigError([Problem(where, f"{entry.value} is no agent: it lacks {', '.join(lacking)}")])
    agent: Agent = made
    return agent


@cache
def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}

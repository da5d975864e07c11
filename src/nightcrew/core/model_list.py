"""Lists of models that are not written down but asked for: `opencode:free` stands for the free models of the day."""

import re
from collections.abc import Iterable, Mapping

from nightcrew.core.model.settings import Settings

FREE = "opencode:free"
"""The entry that stands for each model that `opencode models` prints with `free` in its name."""

MODELS_AT_MOST = 100
_NAME = re.compile(r"[A-Za-z0-9][^\s\x00-\x1f\x7f]{0,199}")


def find_free(names: Iterable[str]) -> tuple[str, ...]:
    """The free ones of the names that a CLI printed, in its order, each once. What is no name is passed over."""
    plain = [name.strip().rstrip("/") for name in names]
    return tuple(dict.fromkeys(name for name in plain if "free" in name.lower() and _NAME.fullmatch(name)))[
        :MODELS_AT_MOST
    ]


def expand(models: Iterable[str], free: tuple[str, ...]) -> tuple[str, ...]:
    """The models with `opencode:free` replaced by what it stands for, each once."""
    return tuple(dict.fromkeys(name for model in models for name in (free if model == FREE else (model,))))


def list_askers(settings: Settings) -> tuple[str, ...]:
    """The agents that have `opencode:free` among their models, or are the router with it."""
    lists: Mapping[str, tuple[str, ...]] = {
        name: (*agent.review_models, *(model for models in agent.models.values() for model in models))
        for name, agent in settings.agents.items()
        if agent.enabled
    }
    asked = {settings.router.agent} if settings.router.model == FREE else set()
    return tuple(name for name, models in lists.items() if FREE in models or name in asked)

"""The layer of `NIGHTCREW_*` variables: `NIGHTCREW_INTERVAL=10s`, `NIGHTCREW_LIMITS__MAX_RUNS=8`. It reaches the keys
that belong to a machine rather than to a project: `interval`, `limits`, `router` and `forges`."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError

from nightcrew.config.document import Path
from nightcrew.config.file import ConfigFile, ForgeKeys, LimitKeys, RouterKeys
from nightcrew.config.problem import nearest, render_problems
from nightcrew.config.section import find_section
from nightcrew.config.value import Duration, ForgeName, key
from nightcrew.core.errors import ConfigError, Problem

PREFIX = "NIGHTCREW_"
OTHERS = frozenset({"NIGHTCREW_HOME", "NIGHTCREW_GITHUB_TOKEN"})
"""Variables of ours that are no keys: where the home is, and the forge's token."""

_BY_KEYS = "is a section, which is set by its keys, such as NIGHTCREW_LIMITS__MAX_RUNS=8"


class _Given(EnvSettingsSource):
    """pydantic-settings' own source, over the variables that were handed in."""

    environ: ClassVar[Mapping[str, str]] = {}

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self.environ.items() if value != ""}


class _Variables(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    interval: Duration | None = key("", None, ge=0.1, le=3600)
    limits: LimitKeys | None = key("", None)
    router: RouterKeys | None = key("", None)
    forges: dict[ForgeName, ForgeKeys] | None = key("", None)


def parse_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """The keys that the variables set, in the shape of config.yml. Raises ConfigError naming each bad variable."""

    class Source(_Given):
        pass

    Source.environ = dict(environ)

    class Variables(_Variables):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: type[BaseSettings], *_: PydanticBaseSettingsSource, **__: PydanticBaseSettingsSource
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (Source(settings_cls),)

    try:
        return Variables().model_dump(exclude_unset=True)
    except ValidationError as error:
        found = render_problems(error, ConfigFile, where=render_variable)
        raise ConfigError([_of_section(problem) for problem in found]) from None
    except SettingsError:
        named = [name for name, value in environ.items() if _is_broken_section(name, value)]
        raise ConfigError([Problem(f"environment:{name}", _BY_KEYS) for name in named or [PREFIX + "*"]]) from None


def _of_section(problem: Problem) -> Problem:
    return Problem(problem.where, _BY_KEYS) if problem.what.startswith("must be a mapping") else problem


def _is_broken_section(name: str, value: str) -> bool:
    path = tuple(name.lower().removeprefix(PREFIX.lower()).split("__"))
    if not name.upper().startswith(PREFIX) or find_section(ConfigFile, path) is None:
        return False
    try:
        return not isinstance(json.loads(value), dict)
    except ValueError:
        return True


def render_variable(path: Path) -> str:
    """The variable that sets a key."""
    return "environment:" + PREFIX + "__".join(str(part) for part in path).upper()


def find_unknown_variables(environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """Variables that look like ours and set nothing."""
    fields = [PREFIX + name.upper() for name in _Variables.model_fields]
    return tuple(
        Problem(f"environment:{name}", "sets nothing", nearest(name, [*fields, *OTHERS]))
        for name in sorted(environ)
        if name.upper().startswith(PREFIX)
        and name.upper() not in OTHERS
        and not any(name.upper() == known or name.upper().startswith(known + "__") for known in fields)
    )

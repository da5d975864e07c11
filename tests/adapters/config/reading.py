"""Reading a configuration text in one line, as the tests here do."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from nightcrew.config.load import parse_configuration, parse_project_file
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.settings import Settings


def read(
    text: str,
    *,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    repository: Mapping[str, str] | None = None,
    adapters: Collection[str] | None = None,
) -> Settings:
    """The settings of a config.yml with this text; `repository` has the text of `.nightcrew.yml` by slug."""
    configuration = parse_configuration(
        text, "config.yml", environ=environ or {}, overrides=overrides, adapters=adapters
    )
    overlays = {slug: parse_project_file(words, ".nightcrew.yml") for slug, words in (repository or {}).items()}
    return configuration.apply(overlays)


def problems(text: str, **given: Any) -> list[str]:
    """What is wrong with it, a line each."""
    with pytest.raises(ConfigError) as caught:
        read(text, **given)
    return str(caught.value).splitlines()

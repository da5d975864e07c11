"""Reading the configuration: files and variables in, one frozen Settings out, or every problem at once."""

import os
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nightcrew.config.agreement import find_disagreements
from nightcrew.config.build import build_project, build_settings
from nightcrew.config.document import Path as KeyPath
from nightcrew.config.file import ConfigFile
from nightcrew.config.home import expand_path
from nightcrew.config.layer import (
    Layer,
    ProjectOverlay,
    merge_project,
    parse_file_layer,
    parse_override_layer,
    parse_project_file,
)
from nightcrew.config.mark import FileMark, mark_file
from nightcrew.config.section import merge_values
from nightcrew.config.variable import parse_variables, render_variable
from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.model.settings import Settings

__all__ = [
    "Configuration",
    "ProjectOverlay",
    "load_configuration",
    "load_settings",
    "parse_configuration",
    "parse_project_file",
]

_NOTHING = ProjectOverlay()


@dataclass(frozen=True, slots=True)
class Configuration:
    """A valid configuration with its layers kept, so that what repositories say can be put between them later."""

    file: ConfigFile
    values: Mapping[str, Any]
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    read_from: tuple[FileMark, ...] = ()
    """The files that it came from, as they were when they were read."""

    def apply(self, overlays: Mapping[str, ProjectOverlay] | None = None, *, generation: int = 1) -> Settings:
        """The settings, with each project's `.nightcrew.yml` (by slug) in its place among the layers. Never fails:
        what could be wrong was found when the parts were parsed. Projects that are not configured are ignored."""
        given = overlays or {}

        def expand(path: str) -> str:
            return str(expand_path(path, self.environ))

        projects = []
        for written in self.values.get("projects", ()):
            keys = merge_project(self.values.get("defaults", {}), written, overlay=given.get(written["slug"], _NOTHING))
            projects.append(build_project(keys, expand=expand))
        return build_settings(self.file, projects, generation=generation, expand=expand)


def load_settings(
    path: Path,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    overlays: Mapping[str, ProjectOverlay] | None = None,
    adapters: Collection[str] | None = None,
    generation: int = 1,
) -> Settings:
    """The settings of one config.yml in one step; see `load_configuration`."""
    configuration = load_configuration(path, environ=environ, overrides=overrides, adapters=adapters)
    return configuration.apply(overlays, generation=generation)


def load_configuration(
    path: Path,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    adapters: Collection[str] | None = None,
) -> Configuration:
    """Read config.yml at `path`. Raises ConfigError with every problem found: of the file, the variables, the
    overrides, and between them. `adapters` are the names of the agent adapters there are; None: not checked."""
    mark = mark_file(path)
    text = read_text(path)
    configuration = parse_configuration(text, str(path), environ=environ, overrides=overrides, adapters=adapters)
    return replace(configuration, read_from=(mark,))


def parse_configuration(
    text: str,
    name: str,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    adapters: Collection[str] | None = None,
) -> Configuration:
    """The same from a text; `name` is how problems call it."""
    layers, problems = _collect(text, name, environ=environ, overrides=overrides or {})
    if problems:
        raise ConfigError(problems)
    values = merge_values(*(layer.values for layer in layers))
    file = ConfigFile.model_validate(values)

    def where(path: KeyPath) -> str:
        layer = next((layer for layer in reversed(layers) if layer.sets(path)), layers[0])
        return render_variable(path) if layer.name == "environment" else layer.where(path)

    problems = find_disagreements(file, values, where=where, adapters=adapters)
    if problems:
        raise ConfigError(problems)
    return Configuration(file, values, dict(environ))


def read_text(path: Path) -> str:
    """The text of a configuration file. Raises ConfigError if it cannot be read, is not UTF-8, or if others than its
    owner could have written it, since it names programs to run."""
    name = str(path)
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            data = file.read(4_000_000)
    except FileNotFoundError:
        raise ConfigError([Problem(name, "is not there", "`nightcrew init` writes one")]) from None
    except OSError as error:
        raise ConfigError([Problem(name, f"cannot be read: {error.strerror or error}")]) from None
    if facts.st_uid not in (0, os.getuid()):
        raise ConfigError([Problem(name, "belongs to another user", "copy it to a file of your own")])
    if facts.st_mode & stat.S_IWOTH:
        raise ConfigError([Problem(name, "anybody may write to it", "look what is in it, then `chmod 600` it")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise ConfigError([Problem(f"{name}:{line}:{column}", "is not UTF-8 text")]) from None


def _collect(
    text: str, name: str, *, environ: Mapping[str, str], overrides: Mapping[str, Any]
) -> tuple[list[Layer], list[Problem]]:
    layers: list[Layer] = []
    problems: list[Problem] = []
    parsers: tuple[Callable[[], Layer], ...] = (
        lambda: parse_file_layer(text, name),
        lambda: Layer("environment", parse_variables(environ)),
        lambda: parse_override_layer(overrides),
    )
    for parse in parsers:
        try:
            layers.append(parse())
        except ConfigError as error:
            problems.extend(error.problems)
    return layers, problems

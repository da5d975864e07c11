"""What wins over what, for one project and for the whole. From weak to strong: built-in defaults, `defaults:` of
config.yml, `.nightcrew.yml` of the repository, the project's entry in config.yml, `NIGHTCREW_*`, explicit overrides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from nightcrew.config.document import Document, Path, parse_document, render_path
from nightcrew.config.file import ConfigFile
from nightcrew.config.problem import render_problems
from nightcrew.config.project import ProjectEntry, ProjectKeys
from nightcrew.config.repository import ADDED, ProjectFile
from nightcrew.config.section import Section, merge_values
from nightcrew.core.errors import ConfigError

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Layer:
    """The keys that one source sets, validated, in the shape of config.yml; `document` has their places, if it was
    a text."""

    name: str
    values: Values
    document: Document | None = None

    def where(self, path: Path) -> str:
        return self.document.where(path) if self.document else f"{self.name}:{render_path(path)}"

    def sets(self, path: Path) -> bool:
        here: Any = self.values
        for part in path:
            keys = here if isinstance(here, Mapping) else range(len(here)) if isinstance(here, (list, tuple)) else ()
            if part not in keys:
                return False
            here = here[part]
        return True


@dataclass(frozen=True, slots=True)
class ProjectOverlay:
    """What a repository's `.nightcrew.yml` says, validated. Made by `parse_project_file`."""

    values: Values = field(default_factory=dict)


def parse_file_layer(text: str, name: str) -> Layer:
    """config.yml as a layer. Raises ConfigError with every problem in it."""
    document = parse_document(text, name)
    return Layer(name, _validate(ConfigFile, document.value, document=document), document)


def parse_override_layer(values: Values) -> Layer:
    """Explicit overrides, in the shape of config.yml. Raises ConfigError."""
    document = Document("override", dict(values))
    try:
        return Layer("override", ConfigFile.model_validate(document.value).model_dump(exclude_unset=True))
    except ValidationError as error:
        problems = render_problems(error, ConfigFile, where=Layer("override", {}).where)
        raise ConfigError(problems) from None


def parse_project_file(text: str, where: str) -> ProjectOverlay:
    """Read a repository's `.nightcrew.yml`; `where` names it in problems. Raises ConfigError with every problem."""
    document = parse_document(text, where)
    return ProjectOverlay(_validate(ProjectFile, document.value, document=document, owners=(ProjectEntry, ConfigFile)))


def merge_project(defaults: Values, entry: Values, *, overlay: ProjectOverlay) -> ProjectEntry:
    """The keys of one project from its three layers.

    The owner's entry wins, then the repository, then the owner's defaults. Lists that guard merging are the owner's
    with the repository's added; checks of the repository are added to the default ones by name.
    """
    owner = merge_values(defaults, entry)
    merged = merge_values(defaults, overlay.values, entry)
    built_in = ProjectKeys()
    for section, key in ADDED:
        theirs = overlay.values.get(section, {}).get(key)
        if theirs is not None:
            ours = owner.get(section, {}).get(key, getattr(getattr(built_in, section), key))
            merged[section][key] = tuple(dict.fromkeys((*ours, *theirs)))
    if "checks" in overlay.values and "checks" not in entry:
        both = (*defaults.get("checks", ()), *overlay.values["checks"])
        merged["checks"] = tuple({check["name"].lower(): check for check in both}.values())
    return ProjectEntry.model_validate(merged)


def _validate(
    root: type[Section], value: object, *, document: Document, owners: tuple[type[Section], ...] = ()
) -> dict[str, Any]:
    try:
        return root.model_validate(value).model_dump(exclude_unset=True)
    except ValidationError as error:
        problems = render_problems(error, root, where=document.where, owners=owners)
        raise ConfigError(sorted(problems, key=lambda problem: _line(problem.where))) from None


def _line(where: str) -> int:
    return next((int(part) for part in where.split(":")[1:] if part.isdigit()), 0)

"""The JSON schema of the configuration, and the list of its keys, both made from the sections themselves."""

import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema
from pydantic_core import PydanticUndefined

from nightcrew.config.file import ConfigFile
from nightcrew.config.render import render_duration
from nightcrew.config.repository import ProjectFile
from nightcrew.config.section import Section, plain_annotation
from nightcrew.config.value import parse_duration


@dataclass(frozen=True, slots=True)
class Key:
    """One key for the reference: its path (`projects[].merge.mode`), what it takes, its default as written in YAML,
    whether a change is taken up `live` or needs a `restart`, and what it does."""

    path: str
    takes: str
    default: str
    reload: str
    words: str


def render_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of config.yml; `$defs/ProjectFile` is that of `.nightcrew.yml`."""
    _, schema = models_json_schema(
        [(ConfigFile, "validation"), (ProjectFile, "validation")], title="Nightcrew configuration"
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/ConfigFile", **schema}


def render_schema_text() -> str:
    """The schema as it lies in docs/config.schema.json."""
    return json.dumps(render_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def list_keys(section: type[Section], prefix: str = "") -> Iterator[Key]:
    """Every key of a section and of those in it, required ones first, else as they are declared."""
    for name, field in sorted(section.model_fields.items(), key=lambda item: not item[1].is_required()):
        path = f"{prefix}.{name}" if prefix else name
        inner, suffix = _inner(field.annotation)
        yield _key(path, field, inner=inner)
        if isinstance(inner, type) and issubclass(inner, Section):
            yield from list_keys(inner, path + suffix)


def _key(path: str, field: FieldInfo, *, inner: Any) -> Key:
    extra = field.json_schema_extra
    reload = str(extra.get("x-reload", "")) if isinstance(extra, dict) else ""
    return Key(path, _takes(field, inner=inner), _default(field), reload, field.description or "")


def _inner(annotation: Any) -> tuple[Any, str]:
    """The section or value inside a list (`[]`), a mapping by name (`.NAME`), or an optional."""
    annotation, origin = _bare(annotation)
    if origin is tuple:
        return _inner(get_args(annotation)[0])[0], "[]"
    if origin is dict:
        return _inner(get_args(annotation)[1])[0], ".NAME"
    return annotation, ""


def _bare(annotation: Any) -> tuple[Any, Any]:
    plain = plain_annotation(annotation)
    return plain, get_origin(plain)


def _takes(field: FieldInfo, *, inner: Any) -> str:
    annotation, origin = _bare(field.annotation)
    if isinstance(inner, type) and issubclass(inner, Section):
        return {tuple: "list of sections", dict: "sections by name"}.get(origin, "section")
    if origin is dict:
        return "mapping"
    if origin is tuple:
        return "list"
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    if _is_duration(field):
        return "time"
    return {bool: "true or false", int: "whole number"}.get(annotation, "text")


def _is_duration(field: FieldInfo) -> bool:
    optional = [part for member in get_args(field.annotation) for part in getattr(member, "__metadata__", ())]
    return any(getattr(part, "func", None) is parse_duration for part in (*field.metadata, *optional))


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, Section) or value in (None, "", (), {}):
        return ""
    if _is_duration(field):
        return f"`{render_duration(value)}`"
    if isinstance(value, enum.Enum):
        value = value.value
    return f"`{json.dumps(value) if not isinstance(value, str) else value}`"

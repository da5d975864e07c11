"""What every section of a configuration has in common: unknown keys are errors, and an empty section is a section."""

import types
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Section(BaseModel):
    """A mapping with known keys. Subclasses hold their descriptions and defaults, which the reference is made from."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    short_types: ClassVar[tuple[str, ...]] = ()
    """JSON types, besides a mapping, that a subclass accepts as a short form."""

    @model_validator(mode="before")
    @classmethod
    def _empty_is_a_section(cls, data: object) -> object:
        return {} if data is None else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core_schema))
        empty = () if schema.get("required") else ("null",)
        kinds = ["object", *empty, *cls.short_types]
        schema["type"] = kinds if len(kinds) > 1 else "object"
        return schema


def find_section(root: type[Section], path: tuple[str | int, ...]) -> type[Section] | None:
    """The section that `path` leads to, or None if it leads to a value."""
    here: Any = root
    for part in path:
        if _is_section(here):
            found = here.model_fields.get(str(part))
            here = None if found is None else plain_annotation(found.annotation)
        elif get_origin(here) is tuple:
            here = plain_annotation(get_args(here)[0])
        elif get_origin(here) is dict:
            here = plain_annotation(get_args(here)[1])
        else:
            return None
    return here if _is_section(here) else None


def merge_values(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings over each other: the later wins, mappings within them are merged too, all else is replaced whole."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            below = merged.get(name)
            if isinstance(value, Mapping) and isinstance(below, Mapping):
                value = merge_values(below, value)
            merged[name] = value
    return merged


def _is_section(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def plain_annotation(annotation: Any) -> Any:
    """An annotation without what surrounds it: `Annotated`, and `| None`."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, types.UnionType):
            annotation = next(part for part in get_args(annotation) if part is not type(None))
        else:
            return annotation

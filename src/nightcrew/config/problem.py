"""From pydantic's errors to our own: where, what is wrong, and what to write instead. Values that may be secret are
never repeated."""

import difflib
from collections.abc import Callable, Iterable, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from nightcrew.config.document import Path
from nightcrew.config.section import Section, find_section
from nightcrew.core.errors import Problem

Where = Callable[[Path], str]

_WANTED = {
    "string_type": "must be text; put it in quotes",
    "tuple_type": "must be a list, one `- item` a line",
    "list_type": "must be a list, one `- item` a line",
    "dict_type": "must be a mapping, one `key: value` a line",
    "model_type": "must be a mapping, one `key: value` a line",
    "model_attributes_type": "must be a mapping, one `key: value` a line",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "finite_number": "must be a finite number",
}


def render_problems(
    error: ValidationError, root: type[Section], *, where: Where, owners: tuple[type[Section], ...] = ()
) -> list[Problem]:
    """One problem an error. `owners` are sections whose further keys only config.yml may set, which is
    said where one of them is used."""
    return [_problem(detail, root, where=where, owners=owners) for detail in error.errors(include_url=False)]


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint: the nearest known word, else all of them."""
    names = sorted(known)
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{lowered[close[0]]}`?"
    return f"known here: {', '.join(names)}" if names else ""


def _problem(detail: ErrorDetails, root: type[Section], *, where: Where, owners: tuple[type[Section], ...]) -> Problem:
    path: Path = tuple(part for part in detail["loc"] if part != "[key]")
    context: Mapping[str, object] = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            return _unknown_key(path, root, where=where, owners=owners)
        case "missing":
            return Problem(where(path), "is missing")
        case "enum" | "literal_error":
            word = "unknown key" if "[key]" in detail["loc"] else "is not one of the accepted values"
            return Problem(where(path), word, f"accepted: {_plain(context.get('expected'))}")
        case "greater_than_equal":
            return Problem(where(path), f"is too small; at least {_number(context.get('ge'))}")
        case "less_than_equal":
            return Problem(where(path), f"is too large; at most {_number(context.get('le'))}")
        case "string_too_long":
            return Problem(where(path), f"is longer than {context.get('max_length')} characters")
        case "nightcrew":
            return Problem(where(path), str(context.get("words")))
        case other:
            return Problem(where(path), _WANTED.get(other, detail["msg"]))


def _unknown_key(path: Path, root: type[Section], *, where: Where, owners: tuple[type[Section], ...]) -> Problem:
    key, above = str(path[-1]), path[:-1]
    if any(key in found.model_fields for owner in owners if (found := find_section(owner, above)) is not None):
        return Problem(where(path), "a repository may not set this", "set it in config.yml")
    section = find_section(root, above)
    return Problem(where(path), "unknown key", nearest(key, section.model_fields if section else ()))


def _plain(expected: object) -> str:
    return str(expected).replace("'", "")


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

"""Values as TOML, for command lines that take `key=value` in it."""

import json
import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def render_toml(value: object) -> str | None:
    """A text, flag, number, list or table as one line of TOML; None for what has no form in it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value) if value == value and abs(value) != float("inf") else None  # noqa: PLR0124 - NaN
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the one control character that JSON leaves bare.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        members = [render_toml(member) for member in value]
        return None if None in members else "[" + ", ".join(str(member) for member in members) + "]"
    if isinstance(value, Mapping):
        pairs = {str(key): render_toml(member) for key, member in value.items()}
        if None in pairs.values():
            return None
        return "{" + ", ".join(f"{_key(key)} = {member}" for key, member in pairs.items()) + "}"
    return None


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else str(render_toml(key))

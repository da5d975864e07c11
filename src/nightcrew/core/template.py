"""Messages that an owner writes, with named places that are filled in. What is filled in is not read again: text of
strangers cannot name a place, and nothing of it is ever a format string."""

import re
from collections.abc import Mapping

PLACES = ("project", "task", "pull", "head", "base", "why")
"""What a message may name as `{place}`. One that there is nothing for (a pull request before there is one) is empty."""

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def unknown_places(message: str) -> tuple[str, ...]:
    """The names in a message that there are not, each once."""
    return tuple(dict.fromkeys(name for name in _PLACE.findall(message) if name not in PLACES))


def fill_places(message: str, values: Mapping[str, str]) -> str:
    """The message with its places filled in, in one pass; any other brace stays as it is."""
    return _PLACE.sub(lambda found: values.get(found[1], "") if found[1] in PLACES else found[0], message)

"""How a person names a pull request: by its address, or as `owner/repo#7`, `repo#7`, `7`."""

import re
from dataclasses import dataclass

from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import is_slug

_URL = re.compile(
    r"https?://[^\s/]+/(?:[^\s/]+/)*?(?P<slug>[^\s/]+/[^\s/]+)/(?:pull|pulls|issues)/(?P<number>[1-9][0-9]{0,9})"
    r"(?:[/?#]\S*)?"
)
_NAME = re.compile(r"(?:(?P<name>[^\s#]+)#|#)?(?P<number>[1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class PullName:
    """`name` is `owner/repo`, the repository's name alone, or empty where only one project can be meant."""

    name: str
    number: int


def parse_pull_name(text: str) -> PullName:
    """Raises NightcrewError for anything else."""
    text = text.strip()
    match = _URL.fullmatch(text)
    if match is not None and is_slug(match["slug"]):
        return PullName(match["slug"], int(match["number"]))
    match = _NAME.fullmatch(text)
    if match is not None and ("/" not in (match["name"] or "") or is_slug(match["name"])):
        return PullName(match["name"] or "", int(match["number"]))
    raise NightcrewError(
        f"{text[:200]!r} is not a pull request; write its address, or owner/repo#number, repo#number or number"
    )

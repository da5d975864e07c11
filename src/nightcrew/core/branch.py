"""Names of branches: the one that a task gets, and which names git would take.

Pure text; whether a branch exists is not known here.
"""

import re
import unicodedata

from nightcrew.core.ids import render_number

PREFIX = "nightcrew/"
"""Branches under this prefix are Nightcrew's own; others are never deleted by it."""

QUEUE_PREFIX = f"{PREFIX}queue/"
"""Scratch branches of the merge queue, on which what would land is tested."""

SLUG_BYTES = 48
"""The most that a title may add to a branch name."""

_FALLBACK = "task"
# Letters that no Unicode decomposition takes apart, as they are commonly written in ASCII.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
# What git-check-ref-format(1) forbids anywhere in a name.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_LONGEST_BYTES = 200


def branch_name(number: int, title: str) -> str:
    """The branch of task `number`: `nightcrew/<number>-<slug>`.

    The number makes it unique; the slug only helps people. It is lower-case ASCII, at most SLUG_BYTES long, cut
    between words where that keeps half of it; a title without any Latin letter or digit gives `task`.
    """
    folded = unicodedata.normalize("NFKD", title).casefold().translate(_LETTERS)
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(letter))
    slug = _NOT_SLUG.sub("-", plain).strip("-")
    if len(slug) > SLUG_BYTES:
        cut = slug[: SLUG_BYTES + 1].rfind("-")
        slug = slug[: cut if cut >= SLUG_BYTES // 2 else SLUG_BYTES].strip("-")
    return f"{PREFIX}{render_number(number)}-{slug or _FALLBACK}"


def queue_branch(base_ref: str) -> str:
    """The scratch branch of the queue of a base. CI runs on it where it runs on pushes to `nightcrew/queue/**`."""
    return f"{QUEUE_PREFIX}{base_ref}"


def is_branch_name(text: str) -> bool:
    """Whether git takes `text` as the name of a branch, by the rules of git-check-ref-format(1) with `--branch`;
    names beyond 200 bytes are refused too, since a ref may be a file."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    if not 0 < size <= _LONGEST_BYTES or _FORBIDDEN.search(text) or text in ("@", "HEAD"):
        return False
    if text.startswith(("-", "/")) or text.endswith(("/", ".")):
        return False
    return not any(part.startswith(".") or part.endswith(".lock") for part in text.split("/"))

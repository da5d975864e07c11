"""The issues of the demo, and the playbook of its scripted agents: what each attempt writes, what reviewers run."""

from dataclasses import dataclass
from typing import Any

_FIXED_COUNT = '''"""Counting."""


def word_count(text: str) -> int:
    """How many words a text has; any run of white space parts words."""
    return len(text.split())
'''

_COUNT_TEST = """import unittest

from textkit.count import word_count


class WordCount(unittest.TestCase):
    def test_two_words(self) -> None:
        self.assertEqual(word_count("good night"), 2)

    def test_empty_text(self) -> None:
        self.assertEqual(word_count(""), 0)

    def test_runs_of_spaces(self) -> None:
        self.assertEqual(word_count("good   night"), 2)
"""

_SHORTEN = '''"""Cutting texts."""


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, with an ellipsis where something was cut."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…"
'''

_SHORTEN_TEST = """import unittest

from textkit.shorten import shorten


class Shorten(unittest.TestCase):
    def test_stays(self) -> None:
        self.assertEqual(shorten("night", 5), "night")

    def test_is_cut(self) -> None:
        self.assertEqual(shorten("good night", 5), "good…")
"""

_WRONG_INITIALS = '''"""Initials of names."""


def initials(name: str) -> str:
    """The first letter of each part of a name."""
    return "".join(part[0].upper() for part in name.split(" "))
'''

_INITIALS = '''"""Initials of names."""


def initials(name: str) -> str:
    """The first letter of each part of a name; runs of white space part names, and no name has none."""
    return "".join(part[0].upper() for part in name.split())
'''

_INITIALS_TEST = """import unittest

from textkit.initials import initials


class Initials(unittest.TestCase):
    def test_two_names(self) -> None:
        self.assertEqual(initials("ada lovelace"), "AL")
"""

_BETTER_INITIALS_TEST = (
    _INITIALS_TEST
    + """
    def test_runs_of_spaces(self) -> None:
        self.assertEqual(initials("  ada   lovelace "), "AL")

    def test_no_name(self) -> None:
        self.assertEqual(initials(""), "")
"""
)


@dataclass(frozen=True, slots=True)
class DemoIssue:
    """An issue to file, with its labels."""

    title: str
    body: str
    labels: tuple[str, ...]


ISSUES: tuple[DemoIssue, ...] = (
    DemoIssue(
        "word_count counts words that are not there",
        "`word_count('')` says 1, and `word_count('good   night')` says 4. It should say 0 and 2.\n\n"
        "The acceptance tests in `acceptance/test_count.py` show it.",
        ("bug", "priority:high", "complexity:simple"),
    ),
    DemoIssue(
        "Add shorten(text, limit)",
        "A new `textkit.shorten.shorten(text, limit)`: at most `limit` characters, ending in `…` where something was "
        "cut, without white space before it. See `acceptance/test_shorten.py`.",
        ("enhancement", "complexity:medium"),
    ),
    DemoIssue(
        "Show in the README how slugify is used",
        "The README names `slugify` and shows no example. Add one, as a Python prompt. "
        "See `acceptance/test_readme.py`.",
        ("documentation", "complexity:simple"),
    ),
    DemoIssue(
        "Add initials(name)",
        "A new `textkit.initials.initials(name)`: `initials('ada lovelace')` is `AL`. Runs of spaces are no names, and "
        "an empty name has no initials. See `acceptance/test_initials.py`.",
        ("enhancement", "complexity:medium"),
    ),
)


def playbook(readme: str, *, pause_s: float, reviewer: str) -> dict[str, Any]:
    """What the scripted agents play. `reviewer` is `real` (reviewers run the acceptance tests of the issue) or
    `approve` (they approve unseen), which shows what a reviewer is for."""
    shown = (
        readme
        + "\n## Use\n\n    >>> from textkit.slug import slugify\n    >>> slugify('Good Night')\n    'good-night'\n"
    )
    count, shorten, docs, initials = (issue.title for issue in ISSUES)
    issues = {
        count: _part(
            "count", reviewer,
            _attempt("split() without an argument parts words at any run of white space.",
                     {"textkit/count.py": _FIXED_COUNT, "tests/test_count.py": _COUNT_TEST}),
        ),
        shorten: _part(
            "shorten", reviewer,
            _attempt("A new module with one function and its tests.",
                     {"textkit/shorten.py": _SHORTEN, "tests/test_shorten.py": _SHORTEN_TEST}),
        ),
        docs: _part("readme", reviewer, _attempt("The README shows slugify at a Python prompt.", {"README.md": shown})),
        initials: _part(
            "initials", reviewer,
            _attempt("The first letter of each part, parted at spaces.",
                     {"textkit/initials.py": _WRONG_INITIALS, "tests/test_initials.py": _INITIALS_TEST}),
            _attempt("Parts are now found with split(), so runs of spaces and empty names are right; both are tested.",
                     {"textkit/initials.py": _INITIALS, "tests/test_initials.py": _BETTER_INITIALS_TEST}),
        ),
    }  # fmt: skip
    return {"pause_s": pause_s, "issues": issues}


def _attempt(summary: str, files: dict[str, str]) -> dict[str, Any]:
    return {"files": files, "summary": summary, "tested": "python3 -m unittest discover -s tests"}


def _part(name: str, reviewer: str, *attempts: dict[str, Any]) -> dict[str, Any]:
    suite = ["python", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    accept = ["python", "-m", "unittest", f"acceptance.test_{name}"]
    commands = [
        {"argv": suite, "path": "tests", "text": "The test suite fails:"},
        {"argv": accept, "path": f"acceptance/test_{name}.py", "text": "It does not do what the issue asks:"},
    ]
    return {
        "attempts": list(attempts),
        "review": "approve" if reviewer == "approve" else commands,
        "review_says": {
            "approve": "It does what the issue asks, and the acceptance tests pass.",
            "request_changes": "It does not do all that the issue asks.",
        },
    }

"""The sample repository of the demo: a small Python package with a test suite, and an acceptance suite of its owner's
that fails until the issues are done. CI runs only the test suite."""

FILES: dict[str, str] = {
    "README.md": """# textkit

Small helpers for text. Run the tests with `python3 -m unittest discover -s tests`.

## What is in it

- `textkit.count.word_count(text)`: how many words a text has
- `textkit.slug.slugify(text)`: a text as a part of a URL
""",
    "AGENTS.md": """# For agents

Standard library only. Every function has a test in `tests/`. Keep functions short.
""",
    "textkit/__init__.py": '"""Small helpers for text."""\n',
    "textkit/count.py": '''"""Counting."""


def word_count(text: str) -> int:
    """How many words a text has."""
    return len(text.split(" "))
''',
    "textkit/slug.py": '''"""Texts as parts of a URL."""

import re


def slugify(text: str) -> str:
    """Lower case, words joined by single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
''',
    "tests/__init__.py": "",
    "tests/test_count.py": """import unittest

from textkit.count import word_count


class WordCount(unittest.TestCase):
    def test_two_words(self) -> None:
        self.assertEqual(word_count("good night"), 2)
""",
    "tests/test_slug.py": """import unittest

from textkit.slug import slugify


class Slugify(unittest.TestCase):
    def test_words(self) -> None:
        self.assertEqual(slugify("Good Night, Crew!"), "good-night-crew")
""",
    "acceptance/__init__.py": "",
    "acceptance/test_count.py": """import unittest

from textkit.count import word_count


class WordCount(unittest.TestCase):
    def test_empty_text_has_no_words(self) -> None:
        self.assertEqual(word_count(""), 0)

    def test_runs_of_spaces_count_once(self) -> None:
        self.assertEqual(word_count("good   night\\tcrew\\n"), 3)
""",
    "acceptance/test_shorten.py": """import unittest


class Shorten(unittest.TestCase):
    def test_short_text_stays(self) -> None:
        from textkit.shorten import shorten

        self.assertEqual(shorten("night", 10), "night")

    def test_long_text_is_cut_with_an_ellipsis(self) -> None:
        from textkit.shorten import shorten

        self.assertEqual(shorten("good night, crew", 11), "good night…")
""",
    "acceptance/test_initials.py": """import unittest


class Initials(unittest.TestCase):
    def test_two_names(self) -> None:
        from textkit.initials import initials

        self.assertEqual(initials("ada lovelace"), "AL")

    def test_runs_of_spaces_are_no_names(self) -> None:
        from textkit.initials import initials

        self.assertEqual(initials("  ada   lovelace "), "AL")

    def test_no_name_has_no_initials(self) -> None:
        from textkit.initials import initials

        self.assertEqual(initials(""), "")
""",
    "acceptance/test_readme.py": """import pathlib
import unittest


class Readme(unittest.TestCase):
    def test_it_shows_how_to_use_slugify(self) -> None:
        readme = pathlib.Path("README.md").read_text(encoding="utf-8")
        self.assertIn(">>> slugify(", readme)
""",
}

SUITE = ("python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
ACCEPTANCE = ("python3", "-m", "unittest", "discover", "-s", "acceptance", "-t", ".")

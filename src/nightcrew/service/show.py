"""Readable text of a run's output: the rules that its adapter gave are kept in the run folder."""

import json
from functools import lru_cache
from pathlib import Path

from nightcrew.ports.runtime import SHOW_FILE, ShowRule
from nightcrew.runtimes.rendering import render_line


def render_output(folder: Path, line: bytes) -> str | None:
    """One line of a run's output as text that is safe to show; None hides it."""
    return render_line(line, _rules(folder / SHOW_FILE))


@lru_cache(maxsize=256)
def _rules(path: Path) -> tuple[ShowRule, ...]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return tuple(ShowRule(rule["match"], rule["show"], rule.get("prefix", "")) for rule in content)
    except (OSError, ValueError, KeyError, TypeError):
        return ()

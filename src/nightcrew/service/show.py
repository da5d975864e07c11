"""Readable text of a run's output: the rules that its adapter gave are kept in the run folder's spec."""

import json
from functools import lru_cache
from pathlib import Path

from nightcrew.ports.runtime import ShowRule
from nightcrew.runtimes.rendering import render_line


def render_output(folder: Path, line: bytes) -> str | None:
    """One line of a run's output as text that is safe to show; None hides it."""
    specs = sorted(folder.glob("spec-*.json"), key=lambda path: path.stat().st_mtime)
    return render_line(line, _rules(specs[-1]) if specs else ())


@lru_cache(maxsize=256)
def _rules(spec: Path) -> tuple[ShowRule, ...]:
    try:
        content = json.loads(spec.read_text(encoding="utf-8"))
        return tuple(ShowRule(rule["match"], rule["show"], rule.get("prefix", "")) for rule in content["show"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()

"""Reports: reading what an agent wrote. Text in, values out. What one object must look like is in `report_shape`, what
an agent is told to write in `report_form`.

The values are those of `core.model.report`. What a run did is judged elsewhere, by commits; here only its words are
read.

* Required keys and their types are strict; further keys are ignored. Every text is cut and freed of control characters.
* A report file, or an agent's last message, may have prose, a fence or an example around the object: every JSON object
  in it is looked at, and the last one in the right shape wins. An approval is believed only if it is unambiguous: no
  other verdict beside it and nothing after it. Prose alone is never a report.
* An author's outcome word that is none of ours ("fixed", "green", "pushed to fix-12") is read as `done` and kept in the
  summary, or as `needs_input` if a question stands beside it: whether anything was done is then decided by the commits,
  so a strange word neither fails good work nor makes a success of nothing. Words of failure are read as `blocked`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightcrew.core.model.report import Decision, Report, ReviewReport
from nightcrew.core.model.run import Role
from nightcrew.core.report_shape import CLASHING, ShapeError, read_shape

_READ_LIMIT = 400_000
_WORK_LIMIT = 100_000_000


@dataclass(frozen=True, slots=True)
class ReportError:
    """Why a text is no report, in one line that names the key, or the place of the JSON error."""

    detail: str


def parse_report(role: Role, text: str) -> Report | ReportError:
    """Read the report of a role out of a text (a report file, or an agent's last message)."""
    text = text[-_READ_LIMIT:]
    objects, broken = _find_objects(text)
    readings = [(_read(role, found), end) for found, end in objects]
    shaped = [(reading, end) for reading, end in readings if not isinstance(reading, ReportError)]
    if not shaped:
        return _explain(readings, broken)
    report, end = shaped[-1]
    if isinstance(report, ReviewReport) and report.decision is Decision.APPROVE:
        others = {other.decision for other, _ in shaped if isinstance(other, ReviewReport)}
        if len(others) > 1 or text[end:].strip(" \t\r\n`"):
            return ReportError("the verdict is ambiguous: more than one, or text after it")
    return report


def read_report(role: Role, value: Mapping[str, Any]) -> Report | ReportError:
    """The same for an object that a CLI has already parsed (its structured output)."""
    return _read(role, value)


def _explain(readings: list[tuple[Report | ReportError, int]], broken: str) -> ReportError:
    complaints = [reading.detail for reading, _ in readings if isinstance(reading, ReportError)]
    if broken:
        return ReportError(broken)
    return ReportError(complaints[-1] if complaints else "there is no JSON object in it")


def _find_objects(text: str) -> tuple[list[tuple[dict[str, Any], int]], str]:
    """Every outermost JSON object of a text with its end, and the last syntax error of what looked like one."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_join)
    found: list[tuple[dict[str, Any], int]] = []
    broken, at, work = "", 0, 0
    while (at := text.find("{", at)) >= 0 and work < _WORK_LIMIT:
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if re.match(r'\{\s*"', text[at : at + 200]):
                broken = f"JSON syntax error: {error.msg} at line {error.lineno} column {error.colno}"
            # What an error costs: the reading up to it, and counting the lines before it.
            work += error.pos + 1_000
            at += 1
        except (RecursionError, ValueError):
            broken = f"JSON nested too deep or with a number too long, at character {at}"
            work += 10 * _READ_LIMIT
            at += 1
        else:
            found.append((value, end))
            at, broken = end, ""
    return found, broken


def _join(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """One object from its pairs; a key given twice with different values is marked, so that it fails its check."""
    joined: dict[str, Any] = {}
    for key, value in pairs:
        joined[key] = CLASHING if key in joined and joined[key] != value else value
    return joined


def _read(role: Role, value: Mapping[str, Any]) -> Report | ReportError:
    try:
        return read_shape(role, value)
    except ShapeError as error:
        return ReportError(str(error))

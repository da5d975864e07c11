"""Reports: what an agent is told to write, and reading what it wrote. Text in, values out.

The shapes are those of `core.model.report`. What a run did is
judged elsewhere, by commits; here only its words are read.

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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nightcrew.core.model.delegation import Delegation
from nightcrew.core.model.report import (
    AssistantReport,
    AuthorReport,
    Decision,
    Finding,
    Report,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
    ThreadAnswer,
)
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.sub_task import BODY_LIMIT, HANDING_OVER, TITLE_LIMIT

TEXT_LIMIT = 4_000
"""Characters of any one text of a report; what is longer is cut with a mark."""

REPLY_LIMIT = 16_000
"""Characters of an answer to a person."""

ORDER_LIMIT = 5
"""Orders that one answer may propose."""

FINDING_LIMIT = 100
"""Findings of a review that are kept."""

_PATH_LIMIT = 500
_NAME_LIMIT, _MOST_NAMES = 100, 20
_READ_LIMIT = 400_000
_WORK_LIMIT = 100_000_000
_LINE_LIMIT = 10_000_000
_CUT = " … [cut]"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_FAILED_WORDS = frozenset(
    [
        *("failed", "failure", "fail", "error", "errored", "cannot", "unable", "impossible", "stuck", "incomplete"),
        *("partial", "partially", "aborted", "gave_up", "not_done", "not_fixed", "unresolved"),
    ]
)
_CLASHING = "\x00clash"


@dataclass(frozen=True, slots=True)
class ReportError:
    """Why a text is no report, in one line that names the key, or the place of the JSON error."""

    detail: str


def parse_report(role: Role, text: str) -> Report | ReportError:
    """Read the report of a role out of a text (a report file, or an agent's last message)."""
    text = text[-_READ_LIMIT:]
    objects, broken = _find_objects(text)
    readings = [(_read_object(role, found), end) for found, end in objects]
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
    return _read_object(role, value)


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
        joined[key] = _CLASHING if key in joined and joined[key] != value else value
    return joined


def _read_object(role: Role, value: Mapping[str, Any]) -> Report | ReportError:
    try:
        if role is Role.AUTHOR:
            return _read_author(value)
        if role is Role.ASSISTANT:
            return _read_assistant(value)
        return _read_review(value) if role is Role.REVIEWER else _read_router(value)
    except _ShapeError as error:
        return ReportError(str(error))


_ANSWER_LIMIT, _ANSWER_TEXT_LIMIT = 100, 4_000


class _ShapeError(Exception):
    """A key is missing or wrong; the message names it."""


def _read_author(value: Mapping[str, Any]) -> AuthorReport:
    word = _word(value, "outcome", "status")
    summary, question = _required(value, "summary"), _optional(value, "question")
    outcome, odd = _outcome(word, has_question=bool(question))
    if outcome is ReportedOutcome.NEEDS_INPUT:
        question = question or summary
    return AuthorReport(
        outcome,
        f"[{clean_text(word, limit=80)}] {summary}" if odd else summary,
        why=_optional(value, "why"),
        tested=_optional(value, "tested"),
        question=question,
        learned=_optional(value, "learned"),
        answers=_answers(value.get("answers")),
        delegations=_delegations(value.get("delegations")),
    )


def _answers(values: object) -> tuple[ThreadAnswer, ...]:
    """What can be read of them: an answer that cannot is not worth losing a report for."""
    found = []
    for value in values[:_ANSWER_LIMIT] if isinstance(values, list | tuple) else ():
        thread = value.get("thread") if isinstance(value, Mapping) else None
        if isinstance(thread, int) and not isinstance(thread, bool) and isinstance(value.get("text"), str):
            text = clean_text(value["text"], limit=_ANSWER_TEXT_LIMIT).strip()
            found.append(ThreadAnswer(thread, text, value.get("fixed") is True))
    return tuple(found)


_DELEGATION_LIMIT, _LABEL_LIMIT = 50, 20


def _delegations(values: object) -> tuple[Delegation, ...]:
    """Sub-tasks that are proposed. One that cannot be read fails the report: without it, half a task would be whole."""
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise _ShapeError('"delegations" is not a list')
    if len(values) > _DELEGATION_LIMIT:
        raise _ShapeError(f'"delegations" holds more than {_DELEGATION_LIMIT}')
    return tuple(_delegation(value, place) for place, value in enumerate(values))


def _delegation(value: object, place: int) -> Delegation:
    if not isinstance(value, Mapping):
        raise _ShapeError('"delegations" holds something that is no object')
    complexity = _optional(value, "complexity").lower()
    if complexity and complexity not in {known.value for known in Complexity}:
        raise _ShapeError(f'"complexity" of delegation {place} is none of simple, medium, complex')
    needs, labels = value.get("depends_on") or (), value.get("labels") or ()
    if not isinstance(needs, list | tuple) or not all(type(need) is int and 0 <= need < place for need in needs):
        raise _ShapeError(f'"depends_on" of delegation {place} is no list of places before it')
    if not isinstance(labels, list | tuple) or not all(isinstance(label, str) for label in labels):
        raise _ShapeError(f'"labels" of delegation {place} is no list of texts')
    return Delegation(
        " ".join(clean_text(_required(value, "title"), limit=TITLE_LIMIT).split()),
        clean_text(_required(value, "body", limit=BODY_LIMIT), limit=BODY_LIMIT),
        complexity=complexity,
        agent=_optional(value, "agent")[:80],
        labels=tuple(clean_text(label, limit=80).strip() for label in labels[:_LABEL_LIMIT]),
        needs=tuple(dict.fromkeys(needs)),
    )


def _outcome(word: str, *, has_question: bool) -> tuple[ReportedOutcome, bool]:
    """The outcome that a word stands for, and whether it is none of our words."""
    plain = re.sub(r"[\s-]+", "_", word.strip().lower()).strip("_.!")
    for outcome in ReportedOutcome:
        if plain == outcome.value:
            return outcome, False
    if plain in _FAILED_WORDS:
        return ReportedOutcome.BLOCKED, True
    return (ReportedOutcome.NEEDS_INPUT if has_question else ReportedOutcome.DONE), True


def _read_review(value: Mapping[str, Any]) -> ReviewReport:
    word = re.sub(r"[\s-]+", "_", _word(value, "decision", "verdict").strip().lower())
    decision = next((known for known in Decision if known.value == word), None)
    if decision is None:
        raise _ShapeError(f'"decision" is {clean_text(word, limit=80)!r}, not "approve" or "request_changes"')
    findings = value.get("findings", ())
    if findings is None:
        findings = ()
    if not isinstance(findings, list | tuple):
        raise _ShapeError('"findings" is not a list')
    return ReviewReport(decision, _required(value, "summary"), tuple(_findings(findings[:FINDING_LIMIT])))


def _findings(values: Iterable[Any]) -> Iterable[Finding]:
    for value in values:
        if not isinstance(value, Mapping):
            raise _ShapeError('"findings" holds something that is no object')
        line = value.get("line")
        # A line that cannot be one (a range, a text, zero) is not worth losing a verdict for: the remark stays.
        known = isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _LINE_LIMIT
        path = clean_text(_optional(value, "path"), limit=_PATH_LIMIT).replace("\n", " ").removeprefix("./")
        yield Finding(path, line if known else None, _required(value, "text"))


def _read_router(value: Mapping[str, Any]) -> RouterReport:
    word = _word(value, "complexity").strip().lower()
    complexity = next((known for known in Complexity if known.value == word), None)
    if complexity is None:
        raise _ShapeError(f'"complexity" is {clean_text(word, limit=80)!r}, not "simple", "medium" or "complex"')
    named = value.get("skills")
    # What is no list of names is not worth losing a judgement for.
    texts = [name for name in named if isinstance(name, str)] if isinstance(named, list | tuple) else []
    skills = tuple(clean_text(name, limit=_NAME_LIMIT).strip() for name in texts[:_MOST_NAMES])
    return RouterReport(
        complexity,
        agent=_optional(value, "agent").strip(),
        why=_optional(value, "why"),
        skills=tuple(name for name in skills if name),
    )


def _read_assistant(value: Mapping[str, Any]) -> AssistantReport:
    """Proposals that are no texts are passed over: they are not worth losing an answer for."""
    answer = value.get("answer")
    if not isinstance(answer, str) or answer == _CLASHING or not clean_text(answer, limit=REPLY_LIMIT).strip():
        raise _ShapeError('"answer" is missing, empty, or not one text')
    if answer == _EXAMPLES[Role.ASSISTANT]["answer"]:
        raise _ShapeError('"answer" is the unfilled example')
    given = value.get("orders")
    texts = [text for text in given if isinstance(text, str)] if isinstance(given, list | tuple) else []
    orders = [clean_text(text, limit=TEXT_LIMIT).strip() for text in texts]
    kept = dict.fromkeys(order for order in orders if order)
    return AssistantReport(clean_text(answer, limit=REPLY_LIMIT).strip(), tuple(kept)[:ORDER_LIMIT])


def _word(value: Mapping[str, Any], *keys: str) -> str:
    """The text under the first of `keys`; under several of them it must be the same."""
    given = {value[key] if isinstance(value[key], str) else _CLASHING for key in keys if key in value}
    if not given:
        raise _ShapeError(f'"{keys[0]}" is missing')
    word = given.pop()
    if given or word == _CLASHING or not word.strip():
        raise _ShapeError(f'"{keys[0]}" is not one text')
    return word


def _required(value: Mapping[str, Any], key: str, *, limit: int = TEXT_LIMIT) -> str:
    text = _optional(value, key, limit=limit)
    if not text:
        raise _ShapeError(f'"{key}" is missing or empty')
    if text.startswith("<") and text.endswith(">"):
        raise _ShapeError(f'"{key}" is the unfilled example')
    return text


def _optional(value: Mapping[str, Any], key: str, *, limit: int = TEXT_LIMIT) -> str:
    text = value.get(key)
    if text is None:
        return ""
    if not isinstance(text, str) or text == _CLASHING:
        raise _ShapeError(f'"{key}" is not one text')
    return clean_text(text, limit=limit).strip()


def clean_text(text: str, *, limit: int) -> str:
    """Text that is safe to store and show: no control or invisible direction characters (tabs and line ends stay), no
    half characters, at most `limit` characters."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n")).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT


_EXAMPLES: Mapping[Role, Mapping[str, Any]] = {
    Role.AUTHOR: {
        "outcome": "done",
        "summary": "<what you did, in one paragraph>",
        "why": "<why this approach; or, when you decline, the reasons>",
        "tested": "<which commands you ran, and how they ended>",
        "question": "",
        "learned": "<what a later attempt should know, or empty>",
    },
    Role.REVIEWER: {
        "decision": "request_changes",
        "summary": "<your judgement, in one paragraph>",
        "findings": [{"path": "src/example.py", "line": 12, "text": "<what is wrong here and what to do>"}],
    },
    Role.ROUTER: {"complexity": "medium", "agent": "", "why": "<one sentence>", "skills": []},
    Role.ASSISTANT: {"answer": "<your answer, as Markdown>", "orders": []},
}

_RULES: Mapping[Role, str] = {
    Role.AUTHOR: (
        '"outcome" is exactly one of: "done" (the work is finished), "declined" (it should not be done, is already '
        'done or cannot be reproduced; say why), "needs_input" (only a person can answer; put it in "question"), '
        '"blocked" (something outside your reach stops you). Commit your work if you can; what you leave uncommitted '
        "is committed for you. Do not push and do not open a pull request."
    ),
    Role.REVIEWER: (
        '"decision" is exactly one of: "approve" (it may be merged as it is), "request_changes" (it may not; each '
        'reason is a finding). "line" is a line of the new version, or null for the whole file. Change nothing in the '
        "workspace."
    ),
    Role.ROUTER: (
        '"complexity" is exactly one of: "simple", "medium", "complex". "agent" is the name of the agent you would '
        'give it to, or empty. "skills" are the names of those of the listed skills that the work needs, at most five; '
        "often none. Change nothing, and look at nothing but this text."
    ),
    Role.ASSISTANT: (
        '"answer" is what the person reads, in the language of their question. "orders" is a list of orders that you '
        "propose, each exactly as one would write it in a chat; leave it empty unless the question asks for something "
        "to be done. You cannot carry any of them out; the person is shown them and decides. Change nothing."
    ),
}


def render_report_instructions(role: Role, path: str, *, sub_tasks: int = 0) -> str:
    """The part of a prompt that says how to end: the exact shape of the report, and the file it goes to. An author
    may propose so many sub-tasks."""
    example = json.dumps(_EXAMPLES[role], indent=2, ensure_ascii=False)
    if role is Role.ROUTER:
        where = "Answer with this JSON object and nothing else:"
    else:
        where = (
            f"The last thing you do is to write your report to the file {path} as one JSON object, in this shape, with "
            "every value filled in. If you cannot write that file, make the object your last message, with nothing "
            "after it:"
        )
    rules = f"{_RULES[role]}\n\n{HANDING_OVER.format(most=sub_tasks)}" if sub_tasks else _RULES[role]
    return f"## Your report\n\n{where}\n\n```json\n{example}\n```\n\n{rules}\n"


def report_schema(role: Role) -> dict[str, Any]:
    """The shape as a JSON schema in the subset that structured outputs of models allow (all keys required)."""
    text = {"type": "string"}
    if role is Role.AUTHOR:
        outcome = {"type": "string", "enum": [known.value for known in ReportedOutcome]}
        return _object(outcome=outcome, **dict.fromkeys(("summary", "why", "tested", "question", "learned"), text))
    if role is Role.ROUTER:
        complexity = {"type": "string", "enum": [known.value for known in Complexity]}
        return _object(complexity=complexity, agent=text, why=text, skills={"type": "array", "items": text})
    if role is Role.ASSISTANT:
        return _object(answer=text, orders={"type": "array", "items": text})
    finding = _object(path=text, line={"type": ["integer", "null"]}, text=text)
    decision = {"type": "string", "enum": [known.value for known in Decision]}
    return _object(decision=decision, summary=text, findings={"type": "array", "items": finding})


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

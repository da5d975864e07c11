"""The object of a report, read by role: which keys it must have, and of what kind. Required keys and their types are
strict, further keys are ignored, every text is cut and cleaned."""

import re
from collections.abc import Iterable, Mapping
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
from nightcrew.core.report_form import EXAMPLES
from nightcrew.core.sub_task import BODY_LIMIT, TITLE_LIMIT

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
_LINE_LIMIT = 10_000_000
_CUT = " … [cut]"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_FAILED_WORDS = frozenset(
    [
        *("failed", "failure", "fail", "error", "errored", "cannot", "unable", "impossible", "stuck", "incomplete"),
        *("partial", "partially", "aborted", "gave_up", "not_done", "not_fixed", "unresolved"),
    ]
)
CLASHING = "\x00clash"


class ShapeError(Exception):
    """A key is missing or wrong; the message names it."""


def read_shape(role: Role, value: Mapping[str, Any]) -> Report:
    """The report of a role from an object. ShapeError if it is none."""
    match role:
        case Role.AUTHOR:
            return _read_author(value)
        case Role.REVIEWER:
            return _read_review(value)
        case Role.ROUTER:
            return _read_router(value)
        case Role.ASSISTANT:
            return _read_assistant(value)


_ANSWER_LIMIT, _ANSWER_TEXT_LIMIT = 100, 4_000


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
        raise ShapeError('"delegations" is not a list')
    if len(values) > _DELEGATION_LIMIT:
        raise ShapeError(f'"delegations" holds more than {_DELEGATION_LIMIT}')
    return tuple(_delegation(value, place) for place, value in enumerate(values))


def _delegation(value: object, place: int) -> Delegation:
    if not isinstance(value, Mapping):
        raise ShapeError('"delegations" holds something that is no object')
    complexity = _optional(value, "complexity").lower()
    if complexity and complexity not in {known.value for known in Complexity}:
        raise ShapeError(f'"complexity" of delegation {place} is none of simple, medium, complex')
    needs, labels = value.get("depends_on") or (), value.get("labels") or ()
    if not isinstance(needs, list | tuple) or not all(type(need) is int and 0 <= need < place for need in needs):
        raise ShapeError(f'"depends_on" of delegation {place} is no list of places before it')
    if not isinstance(labels, list | tuple) or not all(isinstance(label, str) for label in labels):
        raise ShapeError(f'"labels" of delegation {place} is no list of texts')
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
        raise ShapeError(f'"decision" is {clean_text(word, limit=80)!r}, not "approve" or "request_changes"')
    findings = value.get("findings", ())
    if findings is None:
        findings = ()
    if not isinstance(findings, list | tuple):
        raise ShapeError('"findings" is not a list')
    return ReviewReport(decision, _required(value, "summary"), tuple(_findings(findings[:FINDING_LIMIT])))


def _findings(values: Iterable[Any]) -> Iterable[Finding]:
    for value in values:
        if not isinstance(value, Mapping):
            raise ShapeError('"findings" holds something that is no object')
        line = value.get("line")
        # A line that cannot be one (a range, a text, zero) is not worth losing a verdict for: the remark stays.
        known = isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _LINE_LIMIT
        path = clean_text(_optional(value, "path"), limit=_PATH_LIMIT).replace("\n", " ").removeprefix("./")
        yield Finding(path, line if known else None, _required(value, "text"))


def _read_router(value: Mapping[str, Any]) -> RouterReport:
    word = _word(value, "complexity").strip().lower()
    complexity = next((known for known in Complexity if known.value == word), None)
    if complexity is None:
        raise ShapeError(f'"complexity" is {clean_text(word, limit=80)!r}, not "simple", "medium" or "complex"')
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
    if not isinstance(answer, str) or answer == CLASHING or not clean_text(answer, limit=REPLY_LIMIT).strip():
        raise ShapeError('"answer" is missing, empty, or not one text')
    if answer == EXAMPLES[Role.ASSISTANT]["answer"]:
        raise ShapeError('"answer" is the unfilled example')
    given = value.get("orders")
    texts = [text for text in given if isinstance(text, str)] if isinstance(given, list | tuple) else []
    orders = [clean_text(text, limit=TEXT_LIMIT).strip() for text in texts]
    kept = dict.fromkeys(order for order in orders if order)
    return AssistantReport(clean_text(answer, limit=REPLY_LIMIT).strip(), tuple(kept)[:ORDER_LIMIT])


def _word(value: Mapping[str, Any], *keys: str) -> str:
    """The text under the first of `keys`; under several of them it must be the same."""
    given = {value[key] if isinstance(value[key], str) else CLASHING for key in keys if key in value}
    if not given:
        raise ShapeError(f'"{keys[0]}" is missing')
    word = given.pop()
    if given or word == CLASHING or not word.strip():
        raise ShapeError(f'"{keys[0]}" is not one text')
    return word


def _required(value: Mapping[str, Any], key: str, *, limit: int = TEXT_LIMIT) -> str:
    text = _optional(value, key, limit=limit)
    if not text:
        raise ShapeError(f'"{key}" is missing or empty')
    if text.startswith("<") and text.endswith(">"):
        raise ShapeError(f'"{key}" is the unfilled example')
    return text


def _optional(value: Mapping[str, Any], key: str, *, limit: int = TEXT_LIMIT) -> str:
    text = value.get(key)
    if text is None:
        return ""
    if not isinstance(text, str) or text == CLASHING:
        raise ShapeError(f'"{key}" is not one text')
    return clean_text(text, limit=limit).strip()


def clean_text(text: str, *, limit: int) -> str:
    """Text that is safe to store and show: no control or invisible direction characters (tabs and line ends stay), no
    half characters, at most `limit` characters."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n")).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT

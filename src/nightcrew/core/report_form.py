"""What an agent is told to write: the form of the report of each role, in words and as a JSON schema."""

import json
from collections.abc import Mapping
from typing import Any

from nightcrew.core.model.report import (
    Decision,
    ReportedOutcome,
)
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.sub_task import HANDING_OVER

EXAMPLES: Mapping[Role, Mapping[str, Any]] = {
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
    example = json.dumps(EXAMPLES[role], indent=2, ensure_ascii=False)
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

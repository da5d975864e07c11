"""What a task hands over, as plain JSON values. Standard library only."""

from nightcrew.api.plain import Json
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.delegation import Delegated, SubTask


def render_delegated(delegated: Delegated, project: str) -> Json:
    return {
        "state": delegated.state.value,
        "run": delegated.run,
        "parts": [_part(part, project) for part in delegated.parts],
        "cut": list(delegated.cut),
    }


def _part(part: SubTask, project: str) -> Json:
    what = part.what
    return {
        "title": what.title,
        "body": what.body,
        "complexity": what.complexity,
        "agent": what.agent,
        "labels": list(what.labels),
        "needs": list(what.needs),
        "task": None if part.number is None else str(TaskKey(project, part.number)),
        "linked": part.linked,
        "standing": None if part.standing is None else part.standing.value,
    }

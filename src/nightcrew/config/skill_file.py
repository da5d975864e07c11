"""SKILL.md: front matter between two lines of `---`, and the instructions behind it.

The format is the Agent Skills specification's (agentskills.io/specification), which others extend as they like: what
Nightcrew needs is read strictly, and further keys are passed over.
"""

from collections.abc import Mapping
from difflib import get_close_matches

from nightcrew.config.document import Document, parse_document
from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.model.skill import SkillText, is_skill_name

_DESCRIPTION = 1024
_TEXT = 60_000
_NOT_OFFERED = "disable-model-invocation"


def parse_skill(text: str, folder: str, where: str) -> SkillText:
    """Read a SKILL.md. `folder` is the name of its folder (empty: it has none), which its name has to be; `where` names
    the file in problems. Raises ConfigError with every problem, each naming file, line and key."""
    head, body = _split(text, where)
    document = parse_document(head, where)
    if not isinstance(document.value, Mapping):
        raise ConfigError(
            [Problem(f"{where}:1", "its front matter is no mapping", "write `name: …`, `description: …`")]
        )
    values = document.value
    problems = [
        *_name_problems(document, values, folder),
        *_description_problems(document, values),
        *_offer_problems(document, values),
    ]
    if not body.strip():
        problems.append(Problem(where, "says nothing behind its front matter"))
    if len(body) > _TEXT:
        problems.append(Problem(where, f"has more than {_TEXT:,} characters", "move parts of it to files beside it"))
    if problems:
        raise ConfigError(problems)
    name, description = str(values["name"]), " ".join(str(values["description"]).split())
    return SkillText(name, description, body.strip(), is_offered=not values.get(_NOT_OFFERED, False))


def _split(text: str, where: str) -> tuple[str, str]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    end = next((index for index, line in enumerate(lines) if index and line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or end is None:
        hint = "begin with a line ---, `name: …`, `description: …`, and another line ---"
        raise ConfigError([Problem(f"{where}:1", "has no front matter", hint)])
    return "\n".join(("", *lines[1:end])), "\n".join(lines[end + 1 :])


def _name_problems(document: Document, values: Mapping[str, object], folder: str) -> list[Problem]:
    name = values.get("name")
    if name is None:
        return [_absent(document, values, "name")]
    where = document.where(("name",))
    if not isinstance(name, str) or not is_skill_name(name):
        shown = ascii(name)[:80]
        hint = "small letters and digits with single hyphens between them, at most 64"
        return [Problem(where, f"{shown} cannot be the name of a skill", hint)]
    if folder and name != folder:
        return [Problem(where, f"{name!r} is not the name of its folder, {ascii(folder)[:80]}", "name both the same")]
    return []


def _description_problems(document: Document, values: Mapping[str, object]) -> list[Problem]:
    description = values.get("description")
    if description is None:
        return [_absent(document, values, "description")]
    where = document.where(("description",))
    if not isinstance(description, str) or not description.strip():
        return [Problem(where, "is no text", "say what it does, and when to use it")]
    if len(description) > _DESCRIPTION:
        return [Problem(where, f"is longer than {_DESCRIPTION:,} characters")]
    return []


def _offer_problems(document: Document, values: Mapping[str, object]) -> list[Problem]:
    if isinstance(values.get(_NOT_OFFERED, False), bool):
        return []
    return [Problem(document.where((_NOT_OFFERED,)), "is neither true nor false")]


def _absent(document: Document, values: Mapping[str, object], key: str) -> Problem:
    near = get_close_matches(key, [str(name) for name in values], n=1)
    hint = f"did you mean {key} by {ascii(near[0])[:80]}?" if near else f"write `{key}: …`"
    return Problem(f"{document.name}:1:{key}", "is missing", hint)

"""How skills are told: to a router those that it may choose, to whoever works those that it was given."""

from collections.abc import Sequence
from dataclasses import dataclass

from nightcrew.core.cut import cut
from nightcrew.core.model.skill import Skill
from nightcrew.core.neutral import one_line, strip_hidden

_DESCRIPTION = 400


@dataclass(frozen=True, slots=True)
class GivenSkill:
    """A skill of a run. `path` is the folder of the run's own copy; `why` says who asks for it."""

    skill: Skill
    path: str
    why: str


def render_offer(skills: Sequence[Skill], budget: int) -> str:
    """A line each, name and description, in at most `budget` characters; empty if there are none."""
    offered = [skill.said for skill in skills if skill.said.is_offered]
    return cut("\n".join(f"- {said.name}: {one_line(said.description, _DESCRIPTION)}" for said in offered), budget)


def render_given(given: Sequence[GivenSkill], budget: int) -> str:
    """All of them in at most `budget` characters: what each is and where its files are, then its text, as far as there
    is room. A short text leaves its room to longer ones."""
    heads = [_head(one) for one in given]
    room = max(0, budget - sum(len(head) + 2 for head in heads))
    texts = {index: strip_hidden(one.skill.said.text)[0].strip() for index, one in enumerate(given)}
    shares: dict[int, int] = {}
    for done, index in enumerate(sorted(texts, key=lambda index: len(texts[index]))):
        shares[index] = min(len(texts[index]), room // (len(texts) - done))
        room -= shares[index]
    parts = [f"{head}\n{cut(texts[index], shares[index])}".strip() for index, head in enumerate(heads)]
    return cut("\n\n".join(parts), budget)


def _head(given: GivenSkill) -> str:
    said, files = given.skill.said, given.skill.files
    more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
    return (
        f"--- {said.name} ({given.why}): {one_line(said.description, _DESCRIPTION)}\n"
        f"whole, with its files: {given.path}/SKILL.md{more}"
    )

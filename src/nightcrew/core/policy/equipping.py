"""Which skills does a run get?

What the project requires for its role, what labels of the issue name (`skill:NAME`), and for an author what the router
chose. What is required has to be there before the run starts; a choice of the router that is gone is done without.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nightcrew.core.model.route import Route
from nightcrew.core.model.run import Role
from nightcrew.core.model.skill import LABEL_PREFIX, Skill, SkillSet, SkillSettings, SkillStock
from nightcrew.core.neutral import one_line
from nightcrew.core.reason import Wait

MOST_CHOSEN = 5
"""Skills that a router may choose for a task."""
_READ_ON = "It goes on when they are read."


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a router's answer counts, and what it named besides that is not there."""

    skills: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """To be added to why a route is as it is; empty if no skill was named."""
        said = f"; skills: {', '.join(self.skills)}" if self.skills else ""
        return said + (f"; there is no skill {', '.join(self.unknown)}" if self.unknown else "")


def read_choice(asked: Sequence[str], stock: SkillStock) -> Choice:
    """The known ones among what a router named, each once, at most `MOST_CHOSEN`."""
    names = tuple(dict.fromkeys(asked))
    known = [name for name in names if name in stock.names]
    unknown = [one_line(name, 40) for name in names if name not in stock.names]
    return Choice(tuple(known[:MOST_CHOSEN]), tuple(unknown[:MOST_CHOSEN]))


def required_skills(settings: SkillSettings, role: Role, labels: Iterable[str]) -> tuple[str, ...]:
    """What a run of that role has to have. Labels are about the work itself, and so about its author."""
    match role:
        case Role.AUTHOR:
            return tuple(dict.fromkeys((*settings.required, *_labelled(labels))))
        case Role.REVIEWER:
            return tuple(dict.fromkeys(settings.review))
        case Role.ROUTER | Role.ASSISTANT:
            return ()


def chosen_skills(route: Route | None, role: Role, required: Sequence[str]) -> tuple[str, ...]:
    """What the router chose besides."""
    if role is not Role.AUTHOR or route is None:
        return ()
    return tuple(name for name in route.skills if name not in required)


def why_unequipped(settings: SkillSettings, stock: SkillStock, role: Role, labels: Iterable[str]) -> Wait | None:
    """What a run has to wait for until all that it requires is there."""
    absent = [name for name in required_skills(settings, role, labels) if name not in stock.names]
    if not absent:
        return None
    names = ", ".join(repr(one_line(name, 80)) for name in absent)
    if stock.pending:
        words = f"the skill {names} may be in what is still being read: {stock.pending}"
        return Wait("skill_pending", words, _READ_ON)
    what = f"the skill {names} is required, and is not there" + (f" ({stock.lacking})" if stock.lacking else "")
    return Wait("skill_missing", what, "See `nightcrew skill list`: add it, or take it off the settings or the issue.")


def why_no_choice_yet(stock: SkillStock) -> Wait | None:
    """Why a router is not asked yet: it would choose from a part of what there is."""
    return Wait("skill_pending", f"skills are still being read: {stock.pending}", _READ_ON) if stock.pending else None


def merge_sets(sets: Iterable[SkillSet]) -> SkillSet:
    """One skill a name, that of the first set which has it; what was left out is told with what is wrong."""
    found: dict[str, Skill] = {}
    problems: list[str] = []
    for one in sets:
        problems += one.problems
        for skill in one.skills:
            first = found.setdefault(skill.name, skill)
            if first is not skill:
                problems.append(f"the skill {skill.name} of {skill.origin} is not used: {first.origin} comes before it")
    return SkillSet(tuple(found[name] for name in sorted(found)), tuple(dict.fromkeys(problems)))


def _labelled(labels: Iterable[str]) -> tuple[str, ...]:
    kinds = (label.partition(":") for label in labels if label.lower().startswith(LABEL_PREFIX))
    return tuple(name.strip().lower() for _, _, name in kinds if name.strip())

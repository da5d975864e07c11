"""The skills of a run that is about to start: which they are, and its own copy of them.

The copy is made where no agent can write, and then put into the agent's part of the run folder in one step: another
agent may be at work there, if a start is made a second time. What an agent does to its copy reaches nobody else.
"""

import asyncio
import os
import shutil
from pathlib import Path

from nightcrew.core.errors import Invalid, Missing, PortError, Unavailable
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.skill import Skill, SkillCatalog
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.equipping import chosen_skills, required_skills
from nightcrew.core.prompt_skill import GivenSkill
from nightcrew.engine.effect.means import Means

FOLDER = "skills"
_DRAFT, _ASIDE = "skills.new", "skills.old"


class Unequipped(Missing):
    """A skill that is required was there at the last look, and is not any more. Nobody who works is to blame."""


async def equip(means: Means, run: Run, task: Task, *, labels: tuple[str, ...], own: Path) -> tuple[GivenSkill, ...]:
    """The skills of the run, copied into `own`, the agent's part of its folder. Unavailable or Unequipped if one that
    is required cannot be had; one that the router chose is then done without, and that is said."""
    required = required_skills(means.project(run.task).skills, run.role, labels)
    chosen = chosen_skills(task.route, run.role, required)
    if not required and not chosen:
        return ()
    catalog = means.observer.skills_of(run.task.project)
    draft = means.folder(run) / _DRAFT
    await asyncio.to_thread(_remove, draft)
    given: list[GivenSkill] = []
    for name in (*required, *chosen):
        is_required = name in required
        try:
            skill = _get(catalog, name)
            await means.ports.skills.copy(skill, draft / name)
        except PortError as error:
            if is_required and isinstance(error, Missing | Invalid):
                means.observer.forget_skills()
                raise Unequipped(str(error)) from error
            if is_required:
                raise
            await asyncio.to_thread(_remove, draft / name)
            words = f"the skill {one_line(name, 80)}, which the router chose, is done without: {error}"
            await means.ports.store.record_event(means.event("skill.absent", words, task=run.task, run=run.id))
            continue
        given.append(GivenSkill(skill, str(own / FOLDER / name), "required" if is_required else "chosen for this task"))
    await asyncio.to_thread(_put_in_place, draft, own / FOLDER, means.folder(run) / _ASIDE)
    names = ", ".join(f"{one.skill.name} ({one.why})" for one in given)
    origins = {one.skill.name: one.skill.origin for one in given}
    if given:
        event = means.event("run.skills", f"with the skills {names}", task=run.task, run=run.id, **origins)
        await means.ports.store.record_event(event)
    return tuple(given)


def offer(means: Means, run: Run, labels: tuple[str, ...]) -> tuple[Skill, ...]:
    """What a router may choose from: what its author gets anyway is not asked for."""
    if run.role is not Role.ROUTER:
        return ()
    given = required_skills(means.project(run.task).skills, Role.AUTHOR, labels)
    return tuple(skill for skill in means.observer.skills_of(run.task.project).skills if skill.name not in given)


def _get(catalog: SkillCatalog, name: str) -> Skill:
    skill = catalog.find(name)
    if skill is not None:
        return skill
    if catalog.pending:
        raise Unavailable(f"the skill {one_line(name, 80)} may be in what is still being read: {catalog.pending}")
    raise Missing(f"there is no skill {one_line(name, 80)} (any more)")


def _put_in_place(draft: Path, target: Path, aside: Path) -> None:
    """Only names are moved: nothing is written through what an agent may have put there."""
    _remove(aside)
    if os.path.lexists(target):
        target.rename(aside)
        _remove(aside)
    if draft.exists():
        draft.rename(target)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)

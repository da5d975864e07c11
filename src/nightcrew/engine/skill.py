"""Skills as people see them: which each project has, how they are used, and what is wrong. Nothing is read here."""

from collections.abc import Mapping

from nightcrew.core.errors import Missing
from nightcrew.core.model.run import Role
from nightcrew.core.model.skill import Skill, SkillCatalog, SkillSettings
from nightcrew.core.policy.equipping import why_unequipped
from nightcrew.ports.skill_service import SkillEntry, SkillReport, SkillUse

Known = Mapping[str, tuple[SkillSettings, SkillCatalog]]


def report_skills(known: Known, *, project: str | None = None) -> SkillReport:
    """What the projects have; Missing if there is no such project."""
    wanted = [slug for slug in sorted(known) if project is None or slug.casefold() == project.casefold()]
    if project is not None and not wanted:
        raise Missing(f"{project} is not a configured project")
    entries = [
        SkillEntry(slug, skill, _use(known[slug][0], skill)) for slug in wanted for skill in known[slug][1].skills
    ]
    problems = [words for slug in wanted for words in _problems(slug, *known[slug])]
    return SkillReport(tuple(entries), tuple(dict.fromkeys(problems)))


def _use(settings: SkillSettings, skill: Skill) -> SkillUse:
    if skill.name in settings.required:
        return SkillUse.REQUIRED
    if skill.name in settings.review:
        return SkillUse.REVIEW
    return SkillUse.OFFERED if skill.said.is_offered else SkillUse.BY_NAME


def _problems(slug: str, settings: SkillSettings, catalog: SkillCatalog) -> list[str]:
    absent = (why_unequipped(settings, catalog.stock, role, ()) for role in (Role.AUTHOR, Role.REVIEWER))
    pending = f"{slug}: still being read: {catalog.pending}" if catalog.pending else ""
    return [*catalog.problems, *(f"{slug}: {wait.words}" for wait in absent if wait), *((pending,) if pending else ())]

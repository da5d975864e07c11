"""What is wrong with skills on this machine, for `config check` and `doctor`. Nothing is fetched, and what a project's
own repository brings along is looked at by the service."""

from pathlib import Path

from nightcrew.config.skill_file import parse_skill
from nightcrew.core.errors import Problem
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.skill import SkillCatalog
from nightcrew.core.policy.equipping import why_unequipped
from nightcrew.engine.view.skill import load_catalog, places_of
from nightcrew.workspaces.skill import GitSkills


async def find_skill_problems(settings: Settings, home: Path) -> tuple[Problem, ...]:
    """Broken ones, folders that are not there, and what is required and can come from nowhere."""
    library = GitSkills(home, parse_skill)
    found: list[Problem] = []
    for slug, project in settings.projects.items():
        places = places_of(project.skills, home=home, project=slug, base_sha=None)
        catalog = await load_catalog(library, places)
        where = f"projects[{slug}].skills"
        found += [Problem("skills", words) for words in catalog.problems]
        found += [
            Problem(f"{where}.folders", f"there is no folder {folder}")
            for folder in project.skills.folders
            if not Path(folder).is_dir()
        ]
        if not project.skills.repository:
            found += _absent(where, project, catalog)
    return tuple(dict.fromkeys(found))


def _absent(where: str, project: ProjectSettings, catalog: SkillCatalog) -> list[Problem]:
    """Only where all that can be had is here: what is pinned may have to be fetched yet."""
    waits = ((role, why_unequipped(project.skills, catalog.stock, role, ())) for role in (Role.AUTHOR, Role.REVIEWER))
    keys = {Role.AUTHOR: "required", Role.REVIEWER: "review"}
    return [
        Problem(f"{where}.{keys[role]}", wait.words, wait.next)
        for role, wait in waits
        if wait is not None and wait.code == "skill_missing"
    ]

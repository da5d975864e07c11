"""Names of repositories as forges take them: two that differ only in small and capital letters are one."""

from collections.abc import Iterable
from dataclasses import replace

from nightcrew.core.model.settings import Settings


def find_spelling(name: str, known: Iterable[str]) -> str | None:
    """How `name` is spelled among the known ones; None if it is not among them."""
    names = sorted(known)
    if name in names:
        return name
    return next((spelling for spelling in names if spelling.casefold() == name.casefold()), None)


def hold_spelling(settings: Settings, known: Iterable[str]) -> Settings:
    """The settings with projects that are known already spelled as they are known: rows, folders and sessions are
    kept under that name."""
    names = tuple(known)
    projects = (
        replace(project, slug=find_spelling(project.slug, names) or project.slug)
        for project in settings.projects.values()
    )
    return replace(settings, projects={project.slug: project for project in projects})

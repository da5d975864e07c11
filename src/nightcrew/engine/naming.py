"""Names that are derived, never random: the same run has the same session and folder after a restart."""

import re
from hashlib import sha256

from nightcrew.core.ids import TaskKey, render_number
from nightcrew.core.model.run import Role

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def session_name(key: TaskKey, role: Role, attempt: int) -> str:
    """`nc-<project>-<number>-<role>-<attempt>`, only `[A-Za-z0-9_-]`; a short digest tells apart projects whose names
    differ only in what had to be replaced."""
    return f"nc-{safe_project(key.project)}-{render_number(key.number)}-{role.value}-{attempt}"


def run_folder(key: TaskKey, role: Role, attempt: int) -> str:
    """The run folder, relative to the home."""
    return f"runs/{safe_project(key.project)}/{render_number(key.number)}/{role.value}-{attempt}"


def safe_project(slug: str) -> str:
    """A project's name as a folder or part of a session name."""
    owner, _, name = slug.partition("/")
    safe = _UNSAFE.sub("-", slug.replace("/", "_")).strip("-")[:60]
    if safe == f"{owner}_{name}" and "_" not in owner:
        return safe
    return f"{safe}-{sha256(slug.encode('utf-8', 'replace')).hexdigest()[:6]}"

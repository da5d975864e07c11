"""Problems of the configuration: what is wrong, and what is allowed and yet probably not meant."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from nightcrew.config.check import Surroundings, check_settings, list_references
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.secret import find_exposure, secret_file
from nightcrew.core.errors import Problem
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.git import SignKind
from nightcrew.core.model.settings import Settings
from nightcrew.ports.agent import Agent
from nightcrew.service.sandbox import list_unseen
from nightcrew.service.skill import find_skill_problems


def look_at_config(home: Home, settings: Settings, agents: Mapping[str, Agent]) -> Iterator[Diagnosis]:
    """Programs that are missing and files that others may read are told by their own checks."""
    around = Surroundings(environ=load_environment(), base=home.root)
    by_program = {f"agents.{name}" for name in agents}
    exposed = {find_exposure(path) for path in list_secret_files(home, settings)} - {""}
    problems = [
        problem
        for problem in (*check_settings(settings, around), *list_unseen(settings))
        if problem.what not in exposed and not (problem.where in by_program and problem.what.endswith("not on PATH"))
    ]
    yield Diagnosis("config", Level.OK, str(home.config))
    yield from map(_warn, problems)


async def look_at_skills(home: Home, settings: Settings) -> list[Diagnosis]:
    """As far as they lie on this machine."""
    return [_warn(problem) for problem in await find_skill_problems(settings, home.root)]


def describe_problem(problem: Problem) -> Diagnosis:
    return Diagnosis(problem.where, Level.ERROR, problem.what, problem.hint)


def _warn(problem: Problem) -> Diagnosis:
    return Diagnosis(problem.where, Level.WARNING, problem.what, problem.hint)


def list_secret_files(home: Home, settings: Settings) -> tuple[Path, ...]:
    """The files that hold what the settings refer to."""
    environ = load_environment()
    named = [
        secret_file(reference, environ=environ, base=home.root)
        for reference in list_references(settings).values()
        if reference.startswith("file:")
    ]
    return (*named, *([Path(settings.git.key)] if settings.git.sign is SignKind.SSH else []))

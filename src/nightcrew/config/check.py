"""What is allowed and yet probably not meant: the warnings of `config check`. What is wrong is found when loading."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from nightcrew.config.notice import SECRETS
from nightcrew.config.secret import find_exposure, looks_secret, secret_file
from nightcrew.config.value import is_loopback
from nightcrew.config.variable import find_unknown_variables
from nightcrew.core.errors import Problem
from nightcrew.core.model.git import SignKind
from nightcrew.core.model.settings import (
    AgentSettings,
    ProjectSettings,
    ReviewAllow,
    Settings,
)

OWN_FILE = ".nightcrew.yml"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the settings are checked against: variables, the folder that relative paths start from, and the program
    that each agent needs (by agent, from its adapter; one that is missing is not looked for)."""

    environ: Mapping[str, str]
    base: Path
    programs: Mapping[str, str] = field(default_factory=dict)


def check_settings(settings: Settings, around: Surroundings) -> tuple[Problem, ...]:
    """Every warning, as problems whose `where` is the key. Files are looked at, nothing is changed."""
    checks: tuple[Callable[[Settings, Surroundings], Iterator[Problem]], ...] = (
        _emptiness,
        _reviewers,
        _programs,
        _secrets,
        _servers,
        _signing,
        _merging,
        _folders,
    )
    found = [problem for check in checks for problem in check(settings, around)]
    return (*found, *find_unknown_variables(around.environ))


def _emptiness(settings: Settings, _around: Surroundings) -> Iterator[Problem]:
    if not settings.projects:
        yield Problem("projects", "no repository is looked after", "`nightcrew project add owner/name`")
    if not any(agent.enabled and agent.can_author for agent in settings.agents.values()):
        yield Problem("agents", "no agent writes changes, so nothing will be started", "name one under `agents`")


def _reviewers(settings: Settings, _around: Surroundings) -> Iterator[Problem]:
    for project in settings.projects.values():
        alone = [agent.name for agent in settings.agents.values() if _lacks_reviewer(agent, settings, project)]
        if not alone:
            continue
        names = ", ".join(f"`{name}`" for name in alone)
        if project.review.allow is ReviewAllow.OTHER_AGENT:
            hint = "add an agent that can review, or set `review.allow: other_model`"
        else:
            hint = "add an agent that can review, or a second model under `review_models`"
        yield Problem(
            f"projects[{project.slug}].review.allow", f"nobody independent can review the work of {names}", hint
        )


def _lacks_reviewer(author: AgentSettings, settings: Settings, project: ProjectSettings) -> bool:
    if not (author.enabled and author.can_author):
        return False
    reviewers = [agent for agent in settings.agents.values() if agent.enabled and agent.can_review]
    if any(agent.name != author.name for agent in reviewers):
        return False
    models = {model for pool in (*author.models.values(), author.review_models) for model in pool}
    return not (project.review.allow is ReviewAllow.OTHER_MODEL and author in reviewers and len(models) > 1)


def _programs(settings: Settings, around: Surroundings) -> Iterator[Problem]:
    for agent in settings.agents.values():
        program = agent.command[0] if agent.command else around.programs.get(agent.name, "")
        if not agent.enabled or not program:
            continue
        if shutil.which(program, path=around.environ.get("PATH", "")) is None:
            yield Problem(f"agents.{agent.name}", f"{program!r} is not on PATH", "install it, or set `enabled: false`")


def list_references(settings: Settings) -> dict[str, str]:
    """Where the settings refer to a secret (or hold one), by key."""
    references = {f"forges.{name}.token": forge.token for name, forge in settings.forges.items() if forge.token}
    for name, forge in settings.forges.items():
        references |= {f"forges.{name}.tokens[{at}]": token for at, token in enumerate(forge.tokens)}
        if forge.app is not None:
            references[f"forges.{name}.app.private_key"] = forge.app.private_key
    if settings.webhook.listen:
        references["webhook.secret"] = settings.webhook.secret
    for target in settings.notices.targets:
        for name in SECRETS:
            if target.value(name):
                references[f"notices.targets[{target.target.name}].{name}"] = target.value(name)
    for name, chat in (("telegram", settings.telegram), ("discord", settings.discord)):
        if chat.token:
            references[f"channels.{name}.token"] = chat.token
    for agent in settings.agents.values():
        references |= {f"agents.{agent.name}.env.{name}": value for name, value in agent.env.items()}
    return references


def _secrets(settings: Settings, around: Surroundings) -> Iterator[Problem]:
    for agent in settings.agents.values():
        for name, value in agent.env.items():
            if looks_secret(name, value):
                where = f"agents.{agent.name}.env.{name}"
                yield Problem(where, "looks like a secret in plain text", "write env:NAME or file:PATH")
    for where, reference in list_references(settings).items():
        yield from _reference(where, reference, around=around)


def _reference(where: str, reference: str, *, around: Surroundings) -> Iterator[Problem]:
    if reference.startswith("env:") and not around.environ.get(reference.removeprefix("env:")):
        yield Problem(where, f"the variable {reference.removeprefix('env:')} is not set")
    if reference.startswith("file:"):
        path = secret_file(reference, environ=around.environ, base=around.base)
        exposure = find_exposure(path)
        if not path.is_file():
            yield Problem(where, f"there is no file {path}")
        elif exposure:
            yield Problem(where, exposure, f"chmod 600 {path}")


def _signing(settings: Settings, _around: Surroundings) -> Iterator[Problem]:
    if settings.git.sign is not SignKind.SSH:
        return
    path = Path(settings.git.key)
    if not path.is_file():
        yield Problem("git.key", f"there is no file {path}")
    elif exposure := find_exposure(path):
        yield Problem("git.key", exposure, f"chmod 600 {path}")


def _servers(settings: Settings, _around: Surroundings) -> Iterator[Problem]:
    for name, forge in settings.forges.items():
        parts = urlsplit(forge.base_url)
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            yield Problem(f"forges.{name}.base_url", "the token travels unencrypted", "use https")
    if settings.webhook.listen and not is_loopback(settings.webhook.listen):
        yield Problem("webhook.listen", "other machines can reach it", "only the secret tells GitHub from them")


def _merging(settings: Settings, _around: Surroundings) -> Iterator[Problem]:
    for project in settings.projects.values():
        where = f"projects[{project.slug}].merge"
        if OWN_FILE not in project.merge.protected_paths:
            yield Problem(
                f"{where}.protected_paths", f"agents may change {OWN_FILE} without a person's approval", "add it"
            )
        if project.merge.allow_without_ci and not project.checks:
            yield Problem(f"{where}.allow_without_ci", "changes may merge that nothing has tested", "add `checks`")


def _folders(settings: Settings, _around: Surroundings) -> Iterator[Problem]:
    for project in settings.projects.values():
        where = f"projects[{project.slug}]"
        if project.copy_files and not project.source:
            yield Problem(f"{where}.copy_files", "has no checkout to copy from", "set `source`")
        if project.source and not Path(project.source).is_dir():
            yield Problem(f"{where}.source", f"there is no folder {project.source}")

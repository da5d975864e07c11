"""`nightcrew init`: find out what there is, check that it will work, and only then write the configuration."""

import asyncio
import json
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from nightcrew.config.edit import add_project, edit_file, write_file
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.template import Answers, ProjectLine, render_template
from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import is_slug
from nightcrew.core.model.settings import ForgeSettings, MergeMode
from nightcrew.engine.effect.filing import INTAKE_LABEL
from nightcrew.engine.effect.label import LABELS
from nightcrew.forges.github.setup import ensure_labels, inspect_access
from nightcrew.forges.github.token import resolve_token
from nightcrew.service.checkout import CheckoutFacts, read_checkout
from nightcrew.service.compose import home_of
from nightcrew.service.load import load
from nightcrew.service.local import OWNER, open_local_forge
from nightcrew.service.tool import require_tools

KNOWN_AGENTS = ("claude", "codex", "opencode", "gemini")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class InitPlan:
    """What will be written, and what to say about it."""

    project: ProjectLine
    checkout: CheckoutFacts
    said: tuple[str, ...] = ()


def run_init(
    home: Path,
    *,
    path: Path,
    local: bool,
    repository: str | None = None,
    merge: str | None = None,
    assume_yes: bool = False,
    as_json: bool = False,
) -> int:
    """Set up a home for the checkout at `path`. Exit code 0 when it is ready."""
    require_tools()
    checkout = asyncio.run(read_checkout(path))
    mode = MergeMode(merge) if merge else _ask_merge(assume_yes or as_json)
    if local:
        plan = asyncio.run(_init_local(home, checkout, assume_yes=assume_yes))
    else:
        plan = asyncio.run(_init_github(checkout, repository))
    place = home_of(home)
    _write(place, plan, mode)
    _tell(place, plan, mode, as_json=as_json)
    return 0


def _ask_merge(no_questions: bool) -> MergeMode:
    if no_questions or not sys.stdin.isatty():
        return MergeMode.AUTO
    sys.stdout.write(
        "Merge by itself once another agent approved and CI is green (auto), or ask you first (ask)? [auto] "
    )
    sys.stdout.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer not in ("", "auto", "ask"):
        raise Invalid(f"{answer!r} is neither auto nor ask; nothing was written")
    return MergeMode(answer or "auto")


async def _init_local(home: Path, checkout: CheckoutFacts, *, assume_yes: bool) -> InitPlan:
    """Put the commits of a checkout on the local forge of the home. The checkout is only read."""
    if checkout.dirty and not assume_yes:
        raise Conflict(
            f"{checkout.root} has {checkout.dirty} changed files that are not committed, and only commits are taken: "
            "commit or stash them first, or say --yes to leave them out"
        )
    slug, bare = await import_local(home_of(home), checkout)
    there = ["git", "-C", str(checkout.root)]
    said = (
        f"{slug} is on the local forge, with the commits of {checkout.root} ({checkout.branch}).",
        f"Get finished work with:  {shlex.join([*there, 'pull', str(bare), checkout.branch])}",
        f"Give it new commits with:  {shlex.join([*there, 'push', str(bare), checkout.branch])}",
    )
    return InitPlan(ProjectLine(slug, forge="local", source=str(checkout.root)), checkout, said)


async def import_local(home: Home, checkout: CheckoutFacts) -> tuple[str, Path]:
    """A repository on the home's local forge with the commits of a checkout; its name, and where it is."""
    if not checkout.branch:
        raise Invalid(f"{checkout.root} is on no branch (detached HEAD); switch to the branch that work starts from")
    name = _UNSAFE.sub("-", checkout.root.name).strip("-.") or "repository"
    slug = f"{OWNER}/{name}"
    async with open_local_forge(home.forge) as opened:
        if opened.forge.find_repository(slug) is not None:
            raise Conflict(f"{slug} is on the local forge of {home.root} already")
        bare = await opened.forge.create_repository(slug, import_from=checkout.root, default_branch=checkout.branch)
    return slug, bare


async def _init_github(checkout: CheckoutFacts, repository: str | None) -> InitPlan:
    """Check the token and the repository, and create the labels."""
    slug = repository or checkout.origin_slug
    if not slug or not is_slug(slug):
        raise Invalid(
            f"which repository is not clear (origin: {checkout.origin or 'none'}); say --repo OWNER/REPO, or --local"
        )
    settings = ForgeSettings("github")
    token = await resolve_token(settings, environment=load_environment())
    access = await inspect_access(settings, token=token, project=slug)
    if access.problems:
        raise Invalid("; ".join(access.problems))
    labels = {**LABELS, "nightcrew": INTAKE_LABEL}
    made = await ensure_labels(settings, token=token, project=access.slug, labels=labels)
    said = (
        f"{access.slug}: {access.login} may push; the default branch is {access.default_branch}.",
        f"Labels created: {', '.join(made) or 'none, all were there'}.",
        *(f"Note: {note}." for note in access.notes),
    )
    return InitPlan(ProjectLine(access.slug, source=str(checkout.root)), checkout, said)


def _write(home: Home, plan: InitPlan, mode: MergeMode) -> None:
    if home.config.is_file():
        edit_file(home.config, lambda text: add_project(text, str(home.config), project=plan.project))
        return
    answers = Answers(projects=[plan.project], agents={name: name for name in found_agents()}, merge=mode)
    text = render_template(answers)
    write_file(home.config, text, expected=None)


def found_agents() -> tuple[str, ...]:
    """The agents whose program is on PATH."""
    return tuple(name for name in KNOWN_AGENTS if shutil.which(name) is not None)


def _tell(home: Home, plan: InitPlan, mode: MergeMode, *, as_json: bool) -> None:
    agents = tuple(load(home).apply().agents)
    if as_json:
        answer = {
            "home": str(home.root),
            "config": str(home.config),
            "project": plan.project.slug,
            "agents": agents,
            "merge": mode.value,
        }
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return
    lines = [*plan.said, f"The configuration is {home.config} (merge: {mode.value})."]
    if len(agents) < 2:
        lines.append(
            f"Agents: {', '.join(agents) or 'none was found'}. Two are needed, since nobody reviews their own work: "
            f"install another of {', '.join(KNOWN_AGENTS)}, and name it in the configuration."
        )
    else:
        lines.append(f"Agents: {', '.join(agents)}.")
    option = "" if home == home_default() else f" --home {shlex.quote(str(home.root))}"
    lines.append(f"Next:  nightcrew{option} serve")
    lines.append(f"Then:  nightcrew{option} task add 'What should be done'")
    sys.stdout.write("\n".join(lines) + "\n")


def home_default() -> Home:
    """The home that is used without --home."""
    from nightcrew.config.home import find_home

    return find_home(load_environment())

"""`nightcrew init`: find out what there is, check that it will work, and only then write the configuration."""

import asyncio
import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nightcrew.config.edit import add_project, edit_file, write_file
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.spelling import find_spelling
from nightcrew.config.template import Answers, ProjectLine, render_template
from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import is_slug
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.merge import MergeMode
from nightcrew.engine.effect.filing import INTAKE_LABEL
from nightcrew.engine.effect.label import LABELS
from nightcrew.forges.local.label import add_labels
from nightcrew.service.adapter import load_agents
from nightcrew.service.checkout import CheckoutFacts, read_checkout
from nightcrew.service.ci import CiFacts, find_ci
from nightcrew.service.compose import home_of
from nightcrew.service.doctor.agent import list_logged_out
from nightcrew.service.init_ci import ask_check, describe_ci
from nightcrew.service.init_forge import AppAnswer, Identity, ask_app, check_app, check_forge, keep_key
from nightcrew.service.load import load
from nightcrew.service.local import OWNER, open_local_forge
from nightcrew.service.tool import require_tools

ALL_LABELS = {**LABELS, "nightcrew": INTAKE_LABEL}
KNOWN_AGENTS = ("claude", "codex", "opencode", "gemini")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class InitPlan:
    """What will be written, and what to say about it. `labels` are those that were made."""

    project: ProjectLine
    checkout: CheckoutFacts
    default_branch: str
    labels: tuple[str, ...]
    said: tuple[str, ...] = ()
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person said of the forge: the repository, the address of the API, and the App to be."""

    repository: str | None = None
    url: str = ""
    app: AppAnswer | None = None


def run_init(
    home: Path,
    *,
    path: Path,
    local: bool,
    repository: str | None = None,
    merge: str | None = None,
    assume_yes: bool = False,
    as_json: bool = False,
    who: Mapping[str, str] | None = None,
) -> int:
    """Set up a home for the checkout at `path`. `who` are the options about the forge: `url`, `app_id`, `app_key`,
    `app_installation`. Exit code 0 when it is ready."""
    require_tools()
    checkout = asyncio.run(read_checkout(path))
    no_questions = assume_yes or as_json
    mode = MergeMode(merge) if merge else _ask_merge(no_questions)
    wanted = None
    if not local:
        wanted = _wanted(repository, who or {}, no_questions=no_questions or Home(home).config.is_file())
    # What the checkout tells is about another repository where one is named.
    named = repository if not local else None
    is_same = named is None or named.casefold() == checkout.origin_slug.casefold()
    ci = find_ci(checkout.root) if is_same else None
    check = ask_check(ci, local=local, no_questions=no_questions)
    if wanted is None:
        plan = asyncio.run(_init_local(home, checkout, assume_yes=assume_yes))
    else:
        plan = asyncio.run(_init_github(Home(home), checkout, wanted))
    place = home_of(home)
    plan = replace(plan, project=replace(plan.project, check=check))
    said = (*plan.said, *describe_ci(ci, check, local=local), *_write(place, plan, mode))
    _tell(place, replace(plan, said=said), ci, mode=mode, as_json=as_json)
    return 0


def _wanted(repository: str | None, who: Mapping[str, str], *, no_questions: bool) -> Wanted:
    url = who.get("url", "").rstrip("/")
    if not who.get("app_id"):
        if who.get("app_key") or who.get("app_installation"):
            raise Invalid("say --app-id as well: which App it is")
        return Wanted(repository, url, None if no_questions else ask_app(sys.stdin))
    if not who.get("app_key"):
        raise Invalid("say --app-key as well: the file with the App's private key")
    installation = int(who["app_installation"]) if who.get("app_installation") else None
    return Wanted(repository, url, AppAnswer(int(who["app_id"]), Path(who["app_key"]).expanduser(), installation))


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
    slug, bare, labels = await import_local(home_of(home), checkout)
    there = ["git", "-C", str(checkout.root)]
    said = (
        f"{slug} is on the local forge, with the commits of {checkout.root} ({checkout.branch}).",
        _describe_labels(labels),
        f"Get finished work with:  {shlex.join([*there, 'pull', str(bare), checkout.branch])}",
        f"Give it new commits with:  {shlex.join([*there, 'push', str(bare), checkout.branch])}",
    )
    project = ProjectLine(slug, forge="local", source=str(checkout.root))
    return InitPlan(project, checkout, checkout.branch, labels, said)


def _describe_labels(made: tuple[str, ...]) -> str:
    return f"Labels created: {', '.join(made) or 'none, all were there'}."


async def import_local(home: Home, checkout: CheckoutFacts) -> tuple[str, Path, tuple[str, ...]]:
    """A repository on the home's local forge with the commits of a checkout, and the labels; its name, where it is, and
    the labels that were made."""
    if not checkout.branch:
        raise Invalid(f"{checkout.root} is on no branch (detached HEAD); switch to the branch that work starts from")
    name = _UNSAFE.sub("-", checkout.root.name).strip("-.") or "repository"
    slug = f"{OWNER}/{name}"
    async with open_local_forge(home.forge) as opened:
        if opened.forge.find_repository(slug) is not None:
            raise Conflict(f"{slug} is on the local forge of {home.root} already")
        bare = await opened.forge.create_repository(slug, import_from=checkout.root, default_branch=checkout.branch)
        labels = add_labels(opened.forge, slug, ALL_LABELS)
    return slug, bare, labels


async def _init_github(home: Home, checkout: CheckoutFacts, wanted: Wanted) -> InitPlan:
    """Check who Nightcrew will be and the repository, and create the labels."""
    slug = wanted.repository or checkout.origin_slug
    if not slug or not is_slug(slug):
        raise Invalid(
            f"which repository is not clear (origin: {checkout.origin or 'none'}); say --repo OWNER/REPO, or --local"
        )
    settings = _present_forge(home, wanted)
    if wanted.app is not None:
        identity = await check_app(settings, wanted.app, slug, ALL_LABELS)
    else:
        identity = await check_forge(settings, home, slug, ALL_LABELS)
    access = identity.access
    said = (
        f"{access.slug}: {access.login} may push; the default branch is {access.default_branch}.",
        _describe_labels(identity.labels),
        *(f"Note: {note}." for note in access.notes),
    )
    project = ProjectLine(access.slug, source=str(checkout.root))
    return InitPlan(project, checkout, access.default_branch, identity.labels, said, identity)


def _present_forge(home: Home, wanted: Wanted) -> ForgeSettings:
    """The forge as the configuration has it, if there is one; what is said here has to be what it says."""
    default = ForgeSettings("github", base_url=wanted.url or ForgeSettings("github").base_url)
    if not home.config.is_file():
        return default
    there = load(home).apply().forges.get("github", ForgeSettings("github"))
    if wanted.app is not None or (wanted.url and wanted.url != there.base_url):
        raise Conflict(
            f"{home.config} is there already: write `forges.github` into it yourself (docs/github-app.md), and run"
            " init again without saying so here"
        )
    return there


def _write(home: Home, plan: InitPlan, mode: MergeMode) -> tuple[str, ...]:
    """What else there is to say about it."""
    if home.config.is_file():
        if find_spelling(plan.project.slug, load(home).apply().projects) is not None:
            return (f"{plan.project.slug} is looked after already; the configuration was left as it is.",)
        edit_file(home.config, lambda text: add_project(text, str(home.config), project=plan.project))
        return ()
    agents = {name: name for name in found_agents()}
    answers = Answers(projects=[plan.project], agents=agents, merge=mode)
    kept = ""
    if plan.identity is not None:
        settings = plan.identity.settings
        url = settings.base_url if settings.base_url != ForgeSettings("github").base_url else ""
        answers = replace(answers, github_url=url, github_app=settings.app)
        kept = keep_key(plan.identity, home)
    write_file(home.config, render_template(answers), expected=None)
    return (kept,) if kept else ()


def found_agents() -> tuple[str, ...]:
    """The agents whose program is on PATH."""
    return tuple(name for name in KNOWN_AGENTS if shutil.which(name) is not None)


def _tell(home: Home, plan: InitPlan, ci: CiFacts | None, *, mode: MergeMode, as_json: bool) -> None:
    settings = load(home).apply()
    agents = tuple(settings.agents)
    if as_json:
        answer = {
            "home": str(home.root),
            "config": str(home.config),
            "project": plan.project.slug,
            "default_branch": plan.default_branch,
            "labels": plan.labels,
            "ci": ci.found if ci is not None else (),
            "check": plan.project.check,
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
    logged_out = asyncio.run(list_logged_out(home, settings, load_agents(settings)))
    lines += [f"Note: {words}." for words in logged_out]
    option = "" if home == home_default() else f" --home {shlex.quote(str(home.root))}"
    lines.append(f"Next:  nightcrew{option} {'serve' if agents else 'doctor'}")
    if agents:
        lines.append(f"Then:  nightcrew{option} task add 'What should be done'")
    sys.stdout.write("\n".join(lines) + "\n")


def home_default() -> Home:
    """The home that is used without --home."""
    from nightcrew.config.home import find_home

    return find_home(load_environment())

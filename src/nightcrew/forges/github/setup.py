"""Looking at a token and preparing a repository, for `nightcrew init` and `doctor`: with PyGithub, in a thread.

Not for the main loop: it blocks, and asks for everything anew. PyGithub is imported only when it is used.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from nightcrew.core.errors import Denied, Invalid, Missing, PortError, Unavailable
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github.token import Token
from nightcrew.ports.tracker import LabelSpec

if TYPE_CHECKING:
    from github import Github, GithubException
    from github.Repository import Repository

TIMEOUT_S = 15
NO_CHECKS = (
    "the token cannot read check runs (fine-grained tokens never can): commit statuses and jobs of GitHub Actions are"
    " read instead, and only those of them that the branch's rules or merge.required_checks demand can open a merge; a"
    " classic token or a GitHub App sees all"
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """What a token may do with one repository. `scopes` is None for tokens that have none (fine-grained ones, Apps).
    `problems` says in words what would keep Nightcrew from its work; empty if nothing would. `notes` is what works less
    well than it could."""

    login: str
    scopes: tuple[str, ...] | None
    slug: str
    default_branch: str
    is_private: bool
    can_push: bool
    is_admin: bool
    can_read_checks: bool
    remaining: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


async def inspect_access(settings: ForgeSettings, *, token: Token, project: str, app_login: str = "") -> Access:
    """Ask the forge what this token may do with this repository; `app_login` is whose it is, if it is an App's. Errors:
    Denied (bad token), Missing, Unavailable."""
    return await _in_thread(settings, token, lambda hub: _inspect(hub, project, app_login=app_login))


async def ensure_labels(
    settings: ForgeSettings, *, token: Token, project: str, labels: Mapping[str, LabelSpec]
) -> tuple[str, ...]:
    """Create the labels that are missing (names compare without case) and return their names. Idempotent."""
    return await _in_thread(settings, token, lambda hub: _create_labels(hub, project, labels))


def _inspect(hub: "Github", project: str, *, app_login: str) -> Access:
    login = app_login or hub.get_user().login
    scopes = None if hub.oauth_scopes is None else tuple(scope for scope in hub.oauth_scopes if scope)
    repo = hub.get_repo(project)
    may = repo.permissions
    can_read_checks, protection = _probe(repo)
    problems = []
    if repo.archived:
        problems.append(f"{project} is archived: nothing can be written to it")
    if not may.push and not app_login:  # of an App a repository does not tell; the service looks at its grant
        problems.append(f"{login} may not push to {project}: write access is needed")
    if scopes and "repo" not in scopes and (repo.private or "public_repo" not in scopes):
        problems.append(f"the token lacks the scope repo (it has {', '.join(scopes)})")
    if not repo.has_issues:
        problems.append(f"issues are disabled in {project}")
    if protection is None:
        problems.append(
            f"{repo.default_branch} is protected and the token may not read how: it needs administration=read, else"
            " nothing would be merged"
        )
    return Access(
        login=login,
        scopes=scopes,
        slug=repo.full_name,
        default_branch=repo.default_branch,
        is_private=repo.private,
        can_push=(may.push or bool(app_login)) and not repo.archived,
        is_admin=may.admin,
        can_read_checks=can_read_checks,
        remaining=hub.rate_limiting[0],
        problems=tuple(problems),
        notes=(*(() if can_read_checks else (NO_CHECKS,)), *_describe_demands(repo, protection or {})),
    )


def _probe(repo: "Repository") -> tuple[bool, Mapping[str, Any] | None]:
    """Whether check runs can be read, and the classic protection of the default branch: empty if it has none, None if
    it cannot be read."""
    from github import GithubException

    try:
        branch = repo.get_branch(repo.default_branch)
    except GithubException as error:
        if error.status in (404, 409):
            return True, {}  # an empty repository has no branch yet
        raise
    try:
        branch.commit.get_check_runs().totalCount  # noqa: B018 - the property asks the forge
        can_read_checks = True
    except GithubException as error:
        if error.status != 403 or _is_limit(error):
            raise
        can_read_checks = False
    if not branch.protected:
        return can_read_checks, {}
    try:
        return can_read_checks, branch.get_protection().raw_data
    except GithubException as error:
        if _is_limit(error):
            raise
        return can_read_checks, {} if "Branch not protected" in _message(error) else None


def _describe_demands(repo: "Repository", protection: Mapping[str, Any]) -> tuple[str, ...]:
    """What the default branch demands that Nightcrew cannot give by itself, so that it is known before all the work is
    done."""
    from github import GithubException

    try:
        _, rules = repo.requester.requestJsonAndCheck("GET", f"{repo.url}/rules/branches/{quote(repo.default_branch)}")
    except GithubException:
        rules = []  # where there are none to be had; the loop finds out
    reviews = [protection.get("required_pull_request_reviews") or {}]
    signatures = bool((protection.get("required_signatures") or {}).get("enabled"))
    for rule in rules if isinstance(rules, list) else []:
        if rule.get("type") == "pull_request":
            reviews.append(rule.get("parameters") or {})
        signatures = signatures or rule.get("type") == "required_signatures"
    need = max(int(one.get("required_approving_review_count") or 0) for one in reviews)
    notes = []
    if need:
        words = f"{repo.default_branch} demands {need} approving review(s) by people: each merge waits for them"
        notes.append(words)
    if signatures:
        notes.append(f"{repo.default_branch} demands signed commits: see git.sign; agents' own commits are not signed")
    return tuple(notes)


def _create_labels(hub: "Github", project: str, labels: Mapping[str, LabelSpec]) -> tuple[str, ...]:
    from github import GithubException

    repo = hub.get_repo(project)
    there = {label.name.casefold() for label in repo.get_labels()}
    created = []
    for name, spec in labels.items():
        if name.casefold() in there:
            continue
        try:
            repo.create_label(name, spec.color.removeprefix("#"), spec.description)
        except GithubException as error:
            if error.status == 422 and "already_exists" in str(error.data):
                continue
            if error.status == 422:
                raise Invalid(f"label {name!r} of {project} cannot be created: {_message(error)}") from error
            raise
        created.append(name)
    return tuple(created)


async def _in_thread(settings: ForgeSettings, token: Token, work: Callable[["Github"], T]) -> T:
    return await asyncio.to_thread(_run, settings, token, work)


def _run(settings: ForgeSettings, token: Token, work: Callable[["Github"], T]) -> T:
    from github import Auth, Github, GithubException

    hub = Github(
        auth=Auth.Token(token.value),
        base_url=settings.base_url.rstrip("/"),
        timeout=TIMEOUT_S,
        retry=None,
        per_page=100,
        seconds_between_requests=0,
        seconds_between_writes=settings.write_interval_s,
    )
    try:
        return work(hub)
    except GithubException as error:
        raise _translate(error, token) from error
    except (OSError, AssertionError) as error:
        # The library asserts that every address in an answer is on the server that was asked.
        raise Unavailable(token.mask(f"{settings.base_url} cannot be reached: {error}")) from error
    finally:
        hub.close()


def _translate(error: "GithubException", token: Token) -> PortError:
    said = token.mask(_message(error))
    if _is_limit(error):
        return Unavailable(f"rate limit: {said}")
    match error.status:
        case 401:
            return Denied(f"{said}. The token is not valid: it may have expired or been revoked")
        case 403 | 451:
            return Denied(said)
        case 404 | 410:
            return Missing(f"{said}. It is not there, or the token may not see it", gone=error.status == 410)
        case status if status >= 500:
            return Unavailable(said)
        case _:
            return Invalid(said)


def _is_limit(error: "GithubException") -> bool:
    said = _message(error).lower()
    return error.status == 429 or (error.status == 403 and ("rate limit" in said or "abuse detection" in said))


def _message(error: "GithubException") -> str:
    said = error.data.get("message") if isinstance(error.data, dict) else None
    return str(said or error.message or f"HTTP {error.status}")[:500]

"""Repositories: what they are, and where git talks to."""

import base64
import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from nightcrew.core.model.merge import MergeMethod
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.token import Credential
from nightcrew.ports.scm import Remote, Repository

_METHODS = {
    MergeMethod.SQUASH: "allow_squash_merge",
    MergeMethod.MERGE: "allow_merge_commit",
    MergeMethod.REBASE: "allow_rebase_merge",
}


@dataclass(frozen=True, slots=True)
class Home:
    """A repository and the address that git clones it from."""

    repository: Repository
    clone_url: str
    is_read_only: bool = False


def parse_home(raw: Json) -> Home:
    """Merge methods are told only to those who may push; where they are not told, none is ruled out."""
    may_push = bool(field.child(raw, "permissions").get("push"))
    is_read_only = bool(raw.get("archived")) or bool(raw.get("disabled"))
    repository = Repository(
        id=field.number(raw, "id"),
        slug=field.text(raw, "full_name"),
        default_branch=field.text(raw, "default_branch"),
        is_private=bool(raw.get("private")),
        can_push=may_push and not is_read_only,
        merge_methods=frozenset(method for method, name in _METHODS.items() if raw.get(name) is not False),
        web_url=field.text(raw, "html_url"),
    )
    return Home(repository, field.text(raw, "clone_url"), is_read_only)


async def fetch_home(api: Api, project: str) -> Home:
    return await api.get(api.of(project), parse_home, confirm=True)


async def fetch_present_owner(api: Api, project: str) -> str:
    """The owner's name as it is now, for filters that need it; asks only if the project is known to have moved."""
    if not api.transport.moved.is_moved(project):
        return project.partition("/")[0]
    return (await fetch_home(api, project)).repository.slug.partition("/")[0]


async def fetch_remote(api: Api, project: str, token: Credential | None) -> Remote:
    """Credentials travel in variables that only git reads, as a header for the forge's own web host, over TLS (or to
    this machine itself); for a path or any other host there are none."""
    home = await fetch_home(api, project)
    if token is None or not may_carry_token(home.clone_url, api_base_url=api.base_url):
        return Remote(home.clone_url)
    scheme, host = urlsplit(home.clone_url)[:2]
    basic = base64.b64encode(f"x-access-token:{await token.current()}".encode()).decode()
    env = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{scheme}://{host}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }
    return Remote(home.clone_url, env)


def may_carry_token(clone_url: str, *, api_base_url: str) -> bool:
    """Whether git may show the token to this address: the same server as the API's, which on github.com and its kin is
    the name without `api.`."""
    clone, api = urlsplit(clone_url), urlsplit(api_base_url)
    there, here = (clone.hostname or "").lower(), (api.hostname or "").lower()
    if not there or clone.username is not None or there not in (here, here.removeprefix("api.")):
        return False
    return clone.scheme == "https" or (clone.scheme == "http" and _is_loopback(there))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

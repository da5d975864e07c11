"""The flat probe: what changed last in each of up to fifty repositories, for one point of GraphQL's limit a call.

Lists within lists are what costs, so there are none: two connections a repository, a hundred requests by GitHub's
formula, which is one point.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.graphql import ask_query

AT_ONCE = 50
_PART = """
fragment Part on Repository {
  nameWithOwner
  issues(first: 10, orderBy: {field: UPDATED_AT, direction: DESC}) { totalCount nodes { number updatedAt state } }
  pullRequests(first: 10, orderBy: {field: UPDATED_AT, direction: DESC}) {
    totalCount nodes { number updatedAt state headRefOid }
  }
}"""


@lru_cache(maxsize=AT_ONCE)
def render_query(count: int) -> str:
    """The query for so many repositories; names and branches travel as variables."""
    names = ", ".join(f"$o{at}: String!, $n{at}: String!, $b{at}: String!" for at in range(count))
    parts = "\n".join(
        f"  r{at}: repository(owner: $o{at}, name: $n{at})"
        f" {{ ...Part base: ref(qualifiedName: $b{at}) {{ target {{ oid }} }} }}"
        for at in range(count)
    )
    return f"query({names}) {{\n{parts}\n}}\n{_PART}"


async def fetch_prints(api: Api, bases: Mapping[str, str]) -> Mapping[str, str]:
    """A digest for each project that can be seen. Unavailable if a whole call failed."""
    prints: dict[str, str] = {}
    projects = list(bases)
    for start in range(0, len(projects), AT_ONCE):
        prints |= await _ask(api, projects[start : start + AT_ONCE], bases)
    return prints


async def _ask(api: Api, projects: Sequence[str], bases: Mapping[str, str]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for at, project in enumerate(projects):
        owner, _, name = project.partition("/")
        variables |= {f"o{at}": owner, f"n{at}": name, f"b{at}": f"refs/heads/{bases[project]}"}
    answer = await ask_query(api, render_query(len(projects)), variables)
    if any(field.text(error, "type") != "NOT_FOUND" for error in answer.errors):
        answer.get()  # raises what it is
        raise Unavailable(answer.words)
    found = ((project, answer.data.get(f"r{at}")) for at, project in enumerate(projects))
    return {project: _digest(seen) for project, seen in found if isinstance(seen, dict)}


def _digest(seen: object) -> str:
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:24]

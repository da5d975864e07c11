"""Branches as refs of the forge."""

from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import Sha
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api, branch_path
from nightcrew.forges.github.classify import parse_complaint
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import Listing

_HEADS = "refs/heads/"


async def find(api: Api, project: str, branch: str) -> Sha | None:
    """Asked through the refs that begin with this name: an absent branch is then an empty list with an ETag, which is
    free to ask again, and a 404 means that the repository itself is not visible."""
    return (await list_all(api, project, prefix=branch)).get(branch)


async def list_all(api: Api, project: str, *, prefix: str) -> dict[str, Sha]:
    """By name, those that begin with it."""
    url = api.of(project, f"/git/matching-refs/heads/{branch_path(prefix)}")
    try:
        refs = await api.list(Listing(url, _parse_ref, key=lambda raw: field.text(raw, "ref")))
    except Conflict:
        return {}  # 409 "Git Repository is empty."
    return {name.removeprefix(_HEADS): sha for name, sha in refs}


def _parse_ref(raw: Json) -> tuple[str, Sha] | None:
    found = field.find_sha(field.child(raw, "object"), "sha")
    return (field.text(raw, "ref"), found) if found is not None else None


async def delete(api: Api, project: str, branch: str) -> None:
    """Absent is told by 404 or by 422 "Reference does not exist"; a branch that may not be deleted is 422 as well."""
    url = api.of(project, f"/git/refs/heads/{branch_path(branch)}")
    answer = await api.write("DELETE", url, repeatable=True, accept=frozenset({404, 422}))
    if answer.status == 422:
        complaint = parse_complaint(answer)
        if not complaint.says("does not exist"):
            raise Invalid(f"branch {branch!r} of {project} cannot be deleted: {complaint.text}", codes=complaint.codes)

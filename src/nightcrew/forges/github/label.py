"""Labels: of the repository, and on one issue. Only single labels are added and removed; the whole set is never
replaced, since that loses what others add at the same time."""

from collections.abc import Mapping

from nightcrew.core.errors import Invalid, Missing
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api, segment
from nightcrew.forges.github.classify import parse_complaint
from nightcrew.forges.github.page import PER_PAGE, Listing
from nightcrew.forges.github.timeline import list_happenings
from nightcrew.ports.tracker import LabelSpec

MOST_ON_ISSUE = 100


async def list_names(api: Api, project: str) -> tuple[str, ...]:
    """All labels of the repository."""
    url = api.of(project, "/labels", per_page=PER_PAGE)
    return await api.list(Listing(url, lambda raw: field.text(raw, "name"), key=lambda raw: field.text(raw, "name")))


async def ensure(api: Api, project: str, labels: Mapping[str, LabelSpec]) -> None:
    """Names compare without case, as on GitHub."""
    there = {name.casefold() for name in await list_names(api, project)}
    for name, spec in labels.items():
        if name.casefold() not in there:
            await _create(api, project, name, spec)


async def _create(api: Api, project: str, name: str, spec: LabelSpec) -> None:
    sent = {"name": name, "color": spec.color.removeprefix("#"), "description": spec.description}
    # Repeating is harmless: what is there already is answered by 422 already_exists, and only that is taken as success.
    answer = await api.write("POST", api.of(project, "/labels"), sent, repeatable=True, accept=frozenset({422}))
    if answer.status == 422:
        complaint = parse_complaint(answer)
        if set(complaint.codes) != {"already_exists"}:
            raise Invalid(f"label {name!r} of {project} cannot be created: {complaint.text}", codes=complaint.codes)


async def add(api: Api, project: str, number: int, name: str) -> None:
    url = api.of(project, f"/issues/{number}/labels")
    answer = await api.write("POST", url, {"labels": [name]}, repeatable=True, accept=frozenset({422}))
    if answer.status == 422:
        complaint = parse_complaint(answer)
        raise Invalid(
            f"label {name!r} cannot be put on {project}#{number}: {complaint.text}. An issue holds at most"
            f" {MOST_ON_ISSUE} labels",
            codes=complaint.codes,
        )


async def remove(api: Api, project: str, number: int, name: str) -> None:
    url = api.of(project, f"/issues/{number}/labels/{segment(name)}")
    answer = await api.write("DELETE", url, repeatable=True, accept=frozenset({404}))
    if answer.status == 404 and not parse_complaint(answer).says("label does not exist"):
        raise Missing(f"label {name!r} cannot be taken off {project}#{number}: the issue is not there")


async def find_actor(api: Api, project: str, number: int, name: str) -> str | None:
    """The actor of the last `labeled` event of that name in the timeline."""
    wanted = name.strip().casefold()
    happenings = await list_happenings(api, project, number)
    actors = [one.actor for one in happenings if one.kind == "labeled" and one.label.casefold() == wanted]
    return actors[-1] if actors else None

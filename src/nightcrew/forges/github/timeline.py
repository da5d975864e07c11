"""What happened to an issue, as far as it matters who did it: labels put on, and openings after a closing."""

from dataclasses import dataclass

from nightcrew.core.model.issue import GHOST
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing


@dataclass(frozen=True, slots=True)
class Happening:
    """One event: `labeled` with its label, or `reopened`, and who did it."""

    kind: str
    label: str
    actor: str


async def list_happenings(api: Api, project: str, number: int) -> tuple[Happening, ...]:
    """Oldest first."""
    url = api.of(project, f"/issues/{number}/timeline", per_page=PER_PAGE)
    return await api.list(Listing(url, _parse, key=_key))


def _parse(raw: Json) -> Happening | None:
    kind = field.text(raw, "event")
    if kind not in ("labeled", "reopened"):
        return None
    return Happening(kind, field.text(field.child(raw, "label"), "name"), field.login(raw, "actor") or GHOST)


def _key(raw: Json) -> str:
    # Events in a timeline are of many kinds: some have no id (commits, cross-references), none lacks all of these.
    return ":".join(str(raw.get(name, "")) for name in ("event", "id", "node_id", "sha", "created_at"))

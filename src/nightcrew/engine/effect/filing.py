"""Filing an issue. One that may have been filed when the service died, or whose answer was lost, is looked for before
another is filed."""

from datetime import datetime, timedelta
from hashlib import sha256

from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.issue import Issue
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.journal import look_for
from nightcrew.ports.store import Effect
from nightcrew.ports.tracker import LabelSpec

INTAKE_LABEL = LabelSpec("1d76db", "Nightcrew may work on this")
_LAG = timedelta(minutes=2)
"""For how long a list may not yet show an issue whose filing was not answered."""
_OVERLAP = timedelta(minutes=10)
"""How far the forge's clock may be behind ours when it is looked for an issue that was made of a task."""


async def file_issue(means: Means, project: str, *, title: str, body: str, labels: tuple[str, ...]) -> Issue:
    """The issue. Filing the same again on purpose makes a second one, once the first is known to be there."""
    tracker = means.ports.forge_of(means.settings, project).tracker
    key, mark = TaskKey(project, 0), sha256(f"{title}\0{body}".encode("utf-8", "replace")).hexdigest()
    for effect in await _open_effects(means, key, mark):
        found = await _find(means, project, title=title, body=body)
        words = "it is not there" if found is None else f"it is #{found.number}"
        state = "refused" if found is None else "done"
        await means.ports.store.settle_effect(effect.id, state=state, detail=words, at=means.ports.clock.now())
        if found is not None:
            return found
    return await means.journal.effect(
        "issue.create",
        subject(key),
        lambda: tracker.create_issue(project, title=title, body=body, labels=labels),
        mark=mark,
    )


async def file_marked(
    means: Means, key: TaskKey, *, title: str, body: str, labels: tuple[str, ...], since: datetime
) -> Issue:
    """The issue whose body begins with the same line as `body`, which is its mark; filed if none of this account does,
    open or closed. It cannot have been filed before `since`."""
    tracker, mark = means.ports.forge_of(means.settings, key.project).tracker, body.partition("\n")[0]
    digest = sha256(mark.encode("utf-8", "replace")).hexdigest()

    async def find() -> Issue | None:
        login = await tracker.fetch_login(key.project)
        issues = await tracker.list_updated_issues(key.project, known_at=since - _OVERLAP)
        return next((one for one in issues if one.author == login and one.body.startswith(mark)), None)

    found = await find()
    if found is not None:
        return found
    now = means.ports.clock.now()
    for effect in await _open_effects(means, key, digest):
        if now - effect.at < _LAG:
            raise OutcomeUnknown("whether it was filed a moment ago is not known; it is looked for again")
    try:
        return await means.journal.effect(
            "issue.create",
            subject(key),
            lambda: tracker.create_issue(key.project, title=title, body=body, labels=labels),
            mark=digest,
        )
    except OutcomeUnknown as error:
        return await look_for(error, find)


async def _open_effects(means: Means, key: TaskKey, mark: str) -> list[Effect]:
    """Earlier filings of exactly this, of which it is not known whether they took effect."""
    effects = await means.ports.store.load_effects(task=key)
    return [
        effect
        for effect in effects
        if effect.kind == "issue.create" and effect.state in ("intent", "unknown") and effect.key.endswith(mark)
    ]


async def _find(means: Means, project: str, *, title: str, body: str) -> Issue | None:
    """An open issue of this account that says exactly this."""
    tracker = means.ports.forge_of(means.settings, project).tracker
    login = await tracker.fetch_login(project)
    issues = await tracker.list_open_issues(project)
    return next((one for one in issues if (one.title, one.body, one.author) == (title, body, login)), None)

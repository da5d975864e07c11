"""The labels that Nightcrew uses in a repository: they have to exist before people can choose them."""

from collections.abc import AsyncIterator, Mapping

from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.settings import Intake
from nightcrew.engine.doctor.ward import Found, Ward
from nightcrew.engine.effect.filing import INTAKE_LABEL
from nightcrew.engine.effect.label import LABELS
from nightcrew.engine.journal import Subject
from nightcrew.ports.tracker import LabelSpec


async def look_at_labels(ward: Ward, slug: str) -> AsyncIterator[Found]:
    """Names compare without case, as on the forge."""
    settings, tracker = ward.means.settings.projects[slug], ward.forge(slug).tracker
    wanted = LABELS if settings.intake is Intake.ALL else {**LABELS, settings.intake_label: INTAKE_LABEL}
    there = {name.casefold() for name in await tracker.list_labels(slug)}
    lacking = {name: spec for name, spec in wanted.items() if name.casefold() not in there}
    if lacking:
        words = f"not there: {', '.join(lacking)}"
        diagnosis = Diagnosis(f"labels of {slug}", Level.WARNING, words, "nightcrew doctor --fix")
        yield Found(diagnosis, lambda: _create(ward, slug, lacking))


async def _create(ward: Ward, slug: str, lacking: Mapping[str, LabelSpec]) -> str:
    tracker, names = ward.forge(slug).tracker, ", ".join(lacking)
    await ward.means.journal.effect(
        "label.create", Subject(), lambda: tracker.ensure_labels(slug, lacking), detail=names, mark=slug
    )
    return f"created: {names}"

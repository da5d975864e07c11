"""Skills as plain JSON values."""

from nightcrew.api.plain import Json
from nightcrew.core.errors import Missing
from nightcrew.ports.skill_service import SkillEntry, SkillReport


def render_skills(report: SkillReport) -> Json:
    return {"skills": [render_skill(entry) for entry in report.entries], "problems": list(report.problems)}


def render_skill(entry: SkillEntry) -> Json:
    skill = entry.skill
    return {
        "project": entry.project,
        "skill": skill.name,
        "description": skill.said.description,
        "source": skill.place.source.value,
        "origin": skill.origin,
        "use": entry.use.value,
        "files": list(skill.files),
    }


def render_skill_detail(report: SkillReport, name: str) -> Json:
    """The one of that name in the report of one project; Missing if there is none."""
    entry = next((one for one in report.entries if one.skill.name == name), None)
    if entry is None:
        raise Missing(f"there is no skill {name!r}")
    return {"skill": render_skill(entry), "text": entry.skill.said.text}

"""Skills in memory: what lies where is said by the test, and pinned repositories have to be fetched as real ones."""

from collections.abc import Mapping
from pathlib import Path

from nightcrew.config.skill_file import parse_skill
from nightcrew.core.errors import ConfigError, Missing, Unavailable
from nightcrew.core.model.skill import Skill, SkillPlace, SkillSet, SkillSource

Files = Mapping[str, str]


def skill_text(name: str, *, says: str = "Do it so.", description: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description or f'How {name} is done.'}\n---\n\n{says}\n"


class FakeSkills:
    """`lies` has the files of each place, by paths of the form `folder/SKILL.md`; `far` those of pinned repositories
    that nobody has fetched yet."""

    def __init__(self) -> None:
        self.lies: dict[SkillPlace, dict[str, str]] = {}
        self.far: dict[SkillPlace, dict[str, str]] = {}
        self.fetched: list[SkillPlace] = []
        self.is_cut_off = False
        self.unreadable: set[SkillPlace] = set()

    async def load(self, place: SkillPlace) -> SkillSet | None:
        if place in self.unreadable:
            raise Unavailable(f"{place} is damaged")
        if place.source is SkillSource.PINNED and place not in self.lies:
            return None
        skills, problems = [], []
        files = self.lies.get(place, {})
        for path in sorted(files):
            folder, _, name = path.rpartition("/")
            if name != "SKILL.md":
                continue
            try:
                said = parse_skill(files[path], folder.rpartition("/")[2], f"{place.store}:{path}")
            except ConfigError as error:
                problems += [str(problem) for problem in error.problems]
            else:
                skills.append(Skill(said, place, folder, tuple(sorted(self._inside(place, folder)))))
        return SkillSet(tuple(skills), tuple(problems))

    async def fetch(self, place: SkillPlace) -> None:
        if place in self.lies:
            return
        self.fetched.append(place)
        if self.is_cut_off:
            raise Unavailable("the network is down")
        if place not in self.far:
            raise Missing(f"{place.store} has no commit {place.sha}")
        self.lies[place] = self.far[place]

    async def copy(self, skill: Skill, target: Path) -> None:
        inside = self._inside(skill.place, skill.folder)
        if "SKILL.md" not in inside:
            raise Missing(f"the skill {skill.name} is not in {skill.origin} any more")
        for path, text in inside.items():
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            place.chmod(0o400)

    def _inside(self, place: SkillPlace, folder: str) -> dict[str, str]:
        files = self.lies.get(place, {})
        return {path.removeprefix(f"{folder}/"): text for path, text in files.items() if path.startswith(f"{folder}/")}

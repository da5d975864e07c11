"""What every SkillLibrary does, on real git and folders and in memory alike."""

import stat
from pathlib import Path
from typing import Protocol

import pytest

from nightcrew.config.skill_file import parse_skill
from nightcrew.core.errors import Missing, PortError
from nightcrew.core.model.skill import SkillPlace, SkillSource
from nightcrew.ports.skill import NoSkills, SkillLibrary
from nightcrew.workspaces.skill import GitSkills
from tests.adapters.workspaces.house import PROJECT, House, git
from tests.fakes.skill import FakeSkills, Files, skill_text

STYLE = {"style/SKILL.md": skill_text("style"), "style/scripts/check.sh": "exit 0\n"}


class World(Protocol):
    """A library, and the hands of people around it."""

    port: SkillLibrary

    def put(self, files: Files) -> SkillPlace: ...
    async def publish(self, files: Files) -> SkillPlace: ...
    def offer(self, files: Files, *, path: str = "") -> SkillPlace: ...
    def take_away(self, place: SkillPlace) -> None: ...
    def cut_off(self) -> None: ...


class RealWorld:
    def __init__(self, root: Path) -> None:
        self.house = House(root / "house")
        self.folder = root / "skills"
        self.far = root / "far"
        self.port: SkillLibrary = GitSkills(self.house.home, parse_skill)

    def put(self, files: Files) -> SkillPlace:
        write(self.folder, files)
        return SkillPlace(SkillSource.HOME, str(self.folder))

    async def publish(self, files: Files) -> SkillPlace:
        sha = self.house.publish({f".nightcrew/skills/{path}": text for path, text in files.items()})
        await self.house.workspaces.fetch(PROJECT, self.house.remote)
        return SkillPlace(SkillSource.REPOSITORY, PROJECT, sha)

    def offer(self, files: Files, *, path: str = "") -> SkillPlace:
        write(self.far / path, files)
        if not (self.far / ".git").exists():
            git(self.far, "init", "-q", "-b", "main")
        git(self.far, "add", "-A")
        git(self.far, "commit", "-q", "-m", "skills")
        return SkillPlace(SkillSource.PINNED, str(self.far), git(self.far, "rev-parse", "HEAD"), path)

    def take_away(self, place: SkillPlace) -> None:
        (Path(place.store) / "style" / "SKILL.md").unlink()

    def cut_off(self) -> None:
        self.far.rename(self.far.with_name("elsewhere"))


class FakeWorld:
    def __init__(self) -> None:
        self.fake = FakeSkills()
        self.port: SkillLibrary = self.fake

    def put(self, files: Files) -> SkillPlace:
        return self._lay(SkillPlace(SkillSource.HOME, "/home/me/skills"), files)

    async def publish(self, files: Files) -> SkillPlace:
        return self._lay(SkillPlace(SkillSource.REPOSITORY, PROJECT, "ab" * 20), files)

    def offer(self, files: Files, *, path: str = "") -> SkillPlace:
        place = SkillPlace(SkillSource.PINNED, "/far", "cd" * 20, path)
        self.fake.far[place] = dict(files)
        return place

    def take_away(self, place: SkillPlace) -> None:
        self.fake.lies[place].pop("style/SKILL.md")

    def cut_off(self) -> None:
        self.fake.is_cut_off = True

    def _lay(self, place: SkillPlace, files: Files) -> SkillPlace:
        self.fake.lies[place] = dict(files)
        return place


def write(folder: Path, files: Files) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.fixture(params=["real", "fake"])
def world(request, tmp_path) -> World:
    return RealWorld(tmp_path) if request.param == "real" else FakeWorld()


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


async def test_a_folder_of_skills_is_read_and_copied(world, tmp_path):
    place = world.put({**STYLE, "broken/SKILL.md": "no front matter", "README.md": "hello"})
    found = await world.port.load(place)
    assert found is not None
    (style,) = found.skills
    assert (style.name, style.said.text, style.files) == ("style", "Do it so.", ("SKILL.md", "scripts/check.sh"))
    assert ["broken/SKILL.md" in problem for problem in found.problems] == [True]
    await world.port.copy(style, tmp_path / "run" / "style")
    assert contents(tmp_path / "run" / "style") == {"SKILL.md": skill_text("style"), "scripts/check.sh": "exit 0\n"}
    assert stat.S_IMODE((tmp_path / "run" / "style" / "SKILL.md").stat().st_mode) == 0o400


async def test_what_is_gone_cannot_be_copied(world, tmp_path):
    place = world.put(STYLE)
    found = await world.port.load(place)
    world.take_away(place)
    with pytest.raises(Missing, match="any more"):
        await world.port.copy(found.skills[0], tmp_path / "style")


async def test_a_folder_that_is_not_there_holds_nothing(world):
    found = await world.port.load(SkillPlace(SkillSource.HOME, "/there/is/no/such/folder"))
    assert (found.skills, found.problems) == ((), ())


async def test_the_repository_of_a_project_is_read_at_its_commit(world, tmp_path):
    place = await world.publish(STYLE)
    found = await world.port.load(place)
    assert [skill.name for skill in found.skills] == ["style"]
    await world.port.copy(found.skills[0], tmp_path / "style")
    assert contents(tmp_path / "style")["scripts/check.sh"] == "exit 0\n"


@pytest.mark.parametrize("path", ["", "team/skills"])
async def test_a_pinned_repository_is_fetched_once_and_kept(world, tmp_path, path):
    place = world.offer(STYLE, path=path)
    assert await world.port.load(place) is None
    await world.port.fetch(place)
    world.cut_off()
    await world.port.fetch(place)
    found = await world.port.load(place)
    assert [skill.name for skill in found.skills] == ["style"]
    await world.port.copy(found.skills[0], tmp_path / "style")
    assert "SKILL.md" in contents(tmp_path / "style")


async def test_a_pinned_repository_that_cannot_be_had(world):
    place = world.offer(STYLE)
    with pytest.raises(Missing, match="no commit"):
        await world.port.fetch(SkillPlace(place.source, place.store, "ef" * 20))


async def test_a_pinned_repository_that_nobody_answers_for(world):
    place = world.offer(STYLE)
    world.cut_off()
    with pytest.raises(PortError):
        await world.port.fetch(place)
    assert await world.port.load(place) is None


async def test_a_library_with_nothing_in_it(tmp_path):
    place = SkillPlace(SkillSource.PINNED, "/far", "ab" * 20)
    library = NoSkills()
    found = await library.load(place)
    assert found is not None
    assert found.skills == ()
    with pytest.raises(Missing):
        await library.fetch(place)
    lying = FakeWorld()
    skill = (await lying.fake.load(lying.put(STYLE))).skills[0]  # type: ignore[union-attr]  # it is a folder
    with pytest.raises(Missing):
        await library.copy(skill, tmp_path / "x")

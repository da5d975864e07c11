"""Skills on real git and folders: what is hostile or broken is left out with a word, and nothing else suffers."""

import os
import shutil
from pathlib import Path

import pytest

from nightcrew.config.skill_file import parse_skill
from nightcrew.core.errors import Invalid, Missing, PortError
from nightcrew.core.model.skill import SkillPlace, SkillSource
from nightcrew.workspaces.skill import GitSkills
from nightcrew.workspaces.skill_folder import MOST_FILES, MOST_SKILLS
from tests.adapters.workspaces.house import PROJECT, House, git
from tests.fakes.skill import skill_text

GOOD = {"good/SKILL.md": skill_text("good")}


class Shelf:
    """A library over a house, whose person has a folder of skills and a far repository of some."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.house = House(root / "house")
        self.library = GitSkills(self.house.home, parse_skill)
        self.folder = root / "skills"
        self.far = root / "far"
        for place in (self.folder, self.far):
            place.mkdir()
        git(self.far, "init", "-q", "-b", "main")

    def put(self, folder: Path, **files: str) -> Path:
        for path, text in {**GOOD, **files}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    def commit(self) -> str:
        git(self.far, "add", "-A")
        git(self.far, "commit", "-q", "--allow-empty", "-m", "skills")
        return git(self.far, "rev-parse", "HEAD")

    async def of_folder(self) -> tuple[list[str], str]:
        return told(await self.library.load(SkillPlace(SkillSource.HOME, str(self.folder))))

    async def of_far(self, path: str = "") -> tuple[list[str], str]:
        place = SkillPlace(SkillSource.PINNED, str(self.far), self.commit(), path)
        await self.library.fetch(place)
        return told(await self.library.load(place))


def told(found) -> tuple[list[str], str]:
    """The names, and the problems in one text."""
    assert found is not None
    return [skill.name for skill in found.skills], "\n".join(found.problems)


@pytest.fixture
def shelf(tmp_path) -> Shelf:
    return Shelf(tmp_path)


def bad_link(folder: Path) -> None:
    (folder / "bad" / "SKILL.md").parent.mkdir(exist_ok=True)
    (folder / "bad" / "SKILL.md").write_text(skill_text("bad"))
    (folder / "bad" / "secret.txt").symlink_to("/etc/passwd")


def bad_itself(folder: Path) -> None:
    (folder / "bad").mkdir()
    (folder / "bad" / "SKILL.md").symlink_to("../good/SKILL.md")


def bad_folder_link(folder: Path) -> None:
    bad_link(folder)
    (folder / "bad" / "secret.txt").unlink()
    (folder / "bad" / "all").symlink_to("/")


def bad_name(folder: Path) -> None:
    (folder / "bad").mkdir()
    (folder / "bad" / "skill.md").write_text(skill_text("bad"))


def bad_size(folder: Path) -> None:
    bad_link(folder)
    (folder / "bad" / "secret.txt").unlink()
    (folder / "bad" / "big.bin").write_bytes(b"\0" * 5_000_001)


def bad_text_size(folder: Path) -> None:
    (folder / "bad").mkdir()
    (folder / "bad" / "SKILL.md").write_text(skill_text("bad") + "x" * 200_001)


def bad_count(folder: Path) -> None:
    bad_link(folder)
    (folder / "bad" / "secret.txt").unlink()
    for number in range(MOST_FILES):
        (folder / "bad" / f"{number}.txt").write_text("x")


def bad_encoding(folder: Path) -> None:
    (folder / "bad").mkdir()
    (folder / "bad" / "SKILL.md").write_bytes(skill_text("bad").encode() + b"\xff\xfe")


def bad_controls(folder: Path) -> None:
    bad_link(folder)
    (folder / "bad" / "secret.txt").unlink()
    (folder / "bad" / "a\x1b[2J.txt").write_text("x")


HOSTILE = {
    "secret.txt' is a link": bad_link,
    "SKILL.md' is a link": bad_itself,
    "all' is a link": bad_folder_link,
    "it has no SKILL.md": bad_name,
    "5 million bytes": bad_size,
    "SKILL.md has more than": bad_text_size,
    "more than 200 files": bad_count,
    "is not UTF-8": bad_encoding,
    "is no name for a file": bad_controls,
}


@pytest.mark.parametrize("words", HOSTILE)
async def test_a_hostile_one_is_left_out_of_a_folder(shelf, words):
    HOSTILE[words](shelf.put(shelf.folder))
    names, problems = await shelf.of_folder()
    assert names == ["good"]
    assert words in problems
    assert problems.replace("\n", "").isprintable()


@pytest.mark.parametrize("words", HOSTILE)
async def test_a_hostile_one_is_left_out_of_a_repository(shelf, words):
    HOSTILE[words](shelf.put(shelf.far))
    names, problems = await shelf.of_far()
    assert names == ["good"]
    assert words in problems
    assert problems.replace("\n", "").isprintable()


async def test_a_submodule_and_names_that_differ_by_case_are_refused(shelf):
    shelf.put(shelf.far, **{"bad/SKILL.md": skill_text("bad"), "worse/SKILL.md": skill_text("worse")})
    shelf.put(shelf.far, **{"worse/A.md": "1", "worse/a.md": "2"})
    sha = shelf.commit()
    git(shelf.far, "update-index", "--add", "--cacheinfo", f"160000,{sha},bad/module")
    git(shelf.far, "commit", "-q", "-m", "module")
    place = SkillPlace(SkillSource.PINNED, str(shelf.far), git(shelf.far, "rev-parse", "HEAD"))
    await shelf.library.fetch(place)
    names, problems = told(await shelf.library.load(place))
    assert names == ["good"]
    assert "'module' is a submodule" in problems
    assert "but for capital letters" in problems


async def test_a_skill_of_a_folder_may_be_its_owners_link(shelf):
    shelf.put(shelf.root / "elsewhere")
    (shelf.folder / "good").symlink_to(shelf.root / "elsewhere" / "good")
    assert await shelf.of_folder() == (["good"], "")


async def test_a_folder_that_others_may_write_to_is_not_read(shelf):
    shelf.put(shelf.folder)
    (shelf.folder / "good").chmod(0o777)
    names, problems = await shelf.of_folder()
    assert names == []
    assert "anybody may write" in problems
    shelf.folder.chmod(0o777)
    with pytest.raises(Invalid, match="anybody may write"):
        await shelf.of_folder()


async def test_a_path_may_be_one_skill_or_hold_some(shelf):
    shelf.put(shelf.far, **{"deep/er/one/SKILL.md": skill_text("one"), "deep/er/one/x/SKILL.md": skill_text("x")})
    assert (await shelf.of_far("deep/er"))[0] == ["one"]
    assert (await shelf.of_far("deep/er/one"))[0] == ["one"]
    assert (await shelf.of_far("deep"))[0] == []
    (shelf.far / "SKILL.md").write_text(skill_text("any-name"))
    assert (await shelf.of_far())[0] == ["any-name"]


async def test_a_whole_repository_or_folder_that_is_one_skill_is_copied_whole(shelf, tmp_path):
    for root in (shelf.far, shelf.folder):
        (root / "SKILL.md").write_text(skill_text("whole"))
        (root / "parts").mkdir()
        (root / "parts" / "one.md").write_text("one")
    far = SkillPlace(SkillSource.PINNED, str(shelf.far), shelf.commit())
    await shelf.library.fetch(far)
    for number, place in enumerate((far, SkillPlace(SkillSource.HOME, str(shelf.folder)))):
        found = await shelf.library.load(place)
        assert found is not None
        target = tmp_path / f"copy-{number}"
        await shelf.library.copy(found.skills[0], target)
        assert sorted(str(path.relative_to(target)) for path in target.rglob("*.md")) == ["SKILL.md", "parts/one.md"]


async def test_what_can_be_run_stays_so_in_the_copy(shelf, tmp_path):
    shelf.put(shelf.far, **{"good/run.sh": "exit 0\n"})
    (shelf.far / "good" / "run.sh").chmod(0o755)
    place = SkillPlace(SkillSource.PINNED, str(shelf.far), shelf.commit())
    await shelf.library.fetch(place)
    found = await shelf.library.load(place)
    assert found is not None
    await shelf.library.copy(found.skills[0], tmp_path / "copy")
    assert os.access(tmp_path / "copy" / "run.sh", os.X_OK)
    assert not os.access(tmp_path / "copy" / "SKILL.md", os.X_OK)


async def test_an_older_commit_is_had_by_its_id(shelf):
    shelf.put(shelf.far)
    old = shelf.commit()
    shutil.rmtree(shelf.far / "good")
    shelf.put(shelf.far, **{"new/SKILL.md": skill_text("new")})
    shelf.commit()
    place = SkillPlace(SkillSource.PINNED, f"file://{shelf.far}", old)
    await shelf.library.fetch(place)
    assert told(await shelf.library.load(place))[0] == ["good"]


async def test_what_git_would_take_for_a_command_is_never_fetched(shelf):
    for address in ("ext::sh -c touch% /tmp/x", "--upload-pack=/bin/false", "relative/path"):
        with pytest.raises(Invalid, match="not an address"):
            await shelf.library.fetch(SkillPlace(SkillSource.PINNED, address, "ab" * 20))


async def test_objects_that_git_takes_for_broken_are_not_taken_over(shelf):
    """A tree that names `..` as a folder: what an attacker writes by hand."""
    shelf.put(shelf.far)
    shelf.commit()
    tree = git(shelf.far, "rev-parse", "HEAD^{tree}")
    raw = b"40000 ..\0" + bytes.fromhex(tree)
    (shelf.root / "tree").write_bytes(raw)
    bad = git(shelf.far, "hash-object", "-t", "tree", "-w", "--literally", str(shelf.root / "tree"))
    commit = git(shelf.far, "commit-tree", "-m", "bad", bad)
    git(shelf.far, "update-ref", "refs/heads/bad", commit)
    place = SkillPlace(SkillSource.PINNED, str(shelf.far), commit)
    with pytest.raises(PortError):
        await shelf.library.fetch(place)
    assert await shelf.library.load(place) is None


async def test_a_repository_has_them_in_two_places_and_its_own_comes_first(shelf):
    own = {f".nightcrew/skills/{path}": text for path, text in GOOD.items()}
    other = {".claude/skills/good/SKILL.md": skill_text("good", says="Else."), ".claude/skills/b/SKILL.md": "nothing"}
    third = {".claude/skills/third/SKILL.md": skill_text("third"), "skills/no/SKILL.md": skill_text("no")}
    sha = shelf.house.publish({**own, **other, **third})
    with pytest.raises(Missing):
        await shelf.library.load(SkillPlace(SkillSource.REPOSITORY, PROJECT, sha))
    await shelf.house.workspaces.fetch(PROJECT, shelf.house.remote)
    found = await shelf.library.load(SkillPlace(SkillSource.REPOSITORY, PROJECT, sha))
    assert found is not None
    assert [(skill.name, skill.said.text) for skill in found.skills] == [("good", "Do it so."), ("third", "Do it so.")]
    assert "comes before it" in "\n".join(found.problems)
    assert ".claude/skills/b/SKILL.md:1" in "\n".join(found.problems)
    for sha in ("ef" * 20, "main"):
        with pytest.raises(Missing):
            await shelf.library.load(SkillPlace(SkillSource.REPOSITORY, PROJECT, sha))


async def test_there_is_an_end_to_how_many(shelf):
    shelf.put(shelf.far, **{f"s{number:03}/SKILL.md": skill_text(f"s{number:03}") for number in range(MOST_SKILLS + 5)})
    names, problems = await shelf.of_far()
    assert len(names) == MOST_SKILLS
    assert "holds more than 100 skills" in problems

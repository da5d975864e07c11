"""The port SkillLibrary: skills of folders of this machine, and of git repositories as they are at one commit.

    repos/<owner>__<repo>/engine.git      skills of a project's own repository, as the engine fetched it
    skill-repositories/<address>.git      a pinned one, made by `fetch`; what is pinned in it has a ref

Git objects are read by the engine's git, which runs nothing of what is in them; no worktree is ever made of them.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from nightcrew.core.errors import ConfigError, Invalid, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.skill import Skill, SkillPlace, SkillSet, SkillSource, SkillText
from nightcrew.core.policy.equipping import merge_sets
from nightcrew.process import Completed
from nightcrew.workspaces.complaint import clean
from nightcrew.workspaces.git import Git
from nightcrew.workspaces.push import check_address
from nightcrew.workspaces.ref import find_ref, parse_object_id
from nightcrew.workspaces.repository import Repository, is_repository, safe_name
from nightcrew.workspaces.skill_folder import (
    FILE,
    MOST_SKILLS,
    Entry,
    find_fault,
    group_skills,
    list_entries,
    path_in,
    read_bytes,
    write_copy,
)

FETCH_TIMEOUT_S = 120.0
OWN_ROOTS = (".nightcrew/skills", ".claude/skills")
"""Where a project's repository keeps them; both are protected paths by default."""
_PINNED = "refs/nightcrew/pinned/"
_MOST_LISTED = 40_000_000
_MOST_READ = 60_000_000
_EVERYTHING = ("+refs/heads/*:refs/nightcrew/heads/*", "+refs/tags/*:refs/nightcrew/tags/*")

Parse = Callable[[str, str, str], SkillText]
"""Reads a SKILL.md: its text, the name of its folder, and how problems name it. Raises ConfigError."""


class _RunGit(Protocol):
    """Git in one repository."""

    async def __call__(
        self, *args: str, stdin: bytes | None = None, ok: tuple[int, ...] = (0,), output_cap: int = 64_000_000
    ) -> Completed: ...


class GitSkills:
    """See `nightcrew.ports.skill.SkillLibrary`. `home` is Nightcrew's; `parse` reads a SKILL.md."""

    def __init__(self, home: Path, parse: Parse, *, git: Git | None = None, timeout_s: float = FETCH_TIMEOUT_S) -> None:
        self._home = home.resolve()
        self._parse = parse
        self._git = git or Git()
        self._timeout_s = timeout_s
        self._locks: dict[Path, asyncio.Lock] = {}
        self._parsed: dict[str, tuple[bytes, SkillText]] = {}

    async def load(self, place: SkillPlace) -> SkillSet | None:
        if place.source is SkillSource.HOME:
            return await asyncio.to_thread(self._load_folder, place)
        if place.source is SkillSource.PINNED and not self._is_here(place):
            return None
        run = self._git_of(place)
        roots = (place.path,) if place.source is SkillSource.PINNED else OWN_ROOTS
        entries = await _list_tree(run, place.sha, roots)
        sets = []
        for root in roots:
            groups = group_skills(entries, root)
            texts = await _load_blobs(run, (_text_of(folder, inside) for folder, inside in groups.items()))
            sets.append(
                self._read(place, groups, {entry.path: texts[entry.blob] for entry in entries if entry.blob in texts})
            )
        return sets[0] if len(sets) == 1 else merge_sets(sets)

    async def fetch(self, place: SkillPlace) -> None:
        store = self._store(place)
        async with self._locks.setdefault(store, asyncio.Lock()):
            if self._is_here(place):
                return
            address = check_address(place.store)
            if not is_repository(store):
                store.mkdir(mode=0o700, parents=True, exist_ok=True)
                await self._git.run(store, "init", "--quiet", "--bare", "--template=", "--initial-branch=none")
            # By its id where the server lets one ask for that; else everything.
            for wanted in (("--depth=1", (place.sha,)), ("", _EVERYTHING)):
                if await self._has(store, place.sha):
                    break
                await self._fetch(store, address, *wanted, is_last=wanted[1] is _EVERYTHING)
            if not await self._has(store, place.sha):
                raise Missing(f"{clean(place.store)} has no commit {place.sha} on any branch or tag")
            await self._git.run(store, "update-ref", "--no-deref", _PINNED + place.sha, place.sha)

    async def copy(self, skill: Skill, target: Path) -> None:
        if skill.place.source is SkillSource.HOME:
            await asyncio.to_thread(_copy_folder, skill, target)
            return
        run = self._git_of(skill.place)
        entries = group_skills(await _list_tree(run, skill.place.sha, (skill.folder,)), skill.folder)
        inside = _checked(skill, entries)
        blobs = await _load_blobs(run, inside)
        files = {path_in(skill.folder, entry): (blobs[entry.blob], entry.is_executable) for entry in inside}
        await asyncio.to_thread(write_copy, target, files)

    def _load_folder(self, place: SkillPlace) -> SkillSet:
        root = Path(place.store)
        groups = group_skills(list_entries(root), "")
        texts: dict[str, bytes] = {}
        for folder, inside in groups.items():
            entry = _text_of(folder, inside)
            if entry is not None and not find_fault(folder, inside):
                texts[entry.path] = read_bytes(root / entry.path)
        return self._read(place, groups, texts)

    def _read(self, place: SkillPlace, groups: Mapping[str, tuple[Entry, ...]], texts: Mapping[str, bytes]) -> SkillSet:
        skills, problems = [], []
        for folder, inside in sorted(groups.items())[:MOST_SKILLS]:
            where = f"{place.store}:{folder}/{FILE}" if folder else f"{place.store}:{FILE}"
            fault = find_fault(folder, inside)
            if fault:
                problems.append(clean(f"{where} is not used: {fault}", limit=400))
                continue
            try:
                said = self._parse_once(texts[f"{folder}/{FILE}" if folder else FILE], folder, where)
            except UnicodeDecodeError:
                problems.append(f"{where} is not used: it is not UTF-8")
            except ConfigError as error:
                problems += [clean(str(problem), limit=400) for problem in error.problems]
            else:
                files = tuple(sorted(path_in(folder, entry) for entry in inside))
                skills.append(Skill(said, place, folder, files))
        if len(groups) > MOST_SKILLS:
            problems.append(f"{place} holds more than {MOST_SKILLS} skills; the others are not used")
        return SkillSet(tuple(sorted(skills, key=lambda skill: skill.name)), tuple(problems))

    def _parse_once(self, raw: bytes, folder: str, where: str) -> SkillText:
        """Folders are read again and again, and YAML takes a while: what has not changed is not parsed anew."""
        known = self._parsed.get(where)
        if known is None or known[0] != raw:
            known = (raw, self._parse(raw.decode("utf-8"), folder.rpartition("/")[2], where))
            self._parsed[where] = known
        return known[1]

    def _store(self, place: SkillPlace) -> Path:
        return self._home / "skill-repositories" / f"{safe_name(place.store)}.git"

    def _is_here(self, place: SkillPlace) -> bool:
        """Whether it was fetched whole: the ref comes last."""
        return parse_object_id(place.sha) == place.sha and find_ref(self._store(place), _PINNED + place.sha) is not None

    def _git_of(self, place: SkillPlace) -> _RunGit:
        if place.source is SkillSource.REPOSITORY:
            return Repository(self._home, place.store, self._git).get().run
        store, git = self._store(place), self._git

        async def run(
            *args: str, stdin: bytes | None = None, ok: tuple[int, ...] = (0,), output_cap: int = 64_000_000
        ) -> Completed:
            return await git.run(store, *args, stdin=stdin, ok=ok, output_cap=output_cap)

        return run

    async def _has(self, store: Path, sha: str) -> bool:
        done = await self._git.run(store, "cat-file", "-e", f"{sha}^{{commit}}", ok=(0, 1, 128))
        return done.ok

    async def _fetch(self, store: Path, address: str, depth: str, wanted: Iterable[str], *, is_last: bool) -> None:
        await self._git.run(
            store, "-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true",
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
            *((depth,) if depth else ()), "--end-of-options", address, *wanted,
            doing=f"fetching {clean(address)}", timeout_s=self._timeout_s, ok=(0,) if is_last else (0, 1, 128),
        )  # fmt: skip


async def _list_tree(run: _RunGit, sha: str, roots: Iterable[str]) -> list[Entry]:
    """What a commit has in these folders (one that is empty: everywhere). Missing if it is not here."""
    paths = [root for root in roots if root]
    if parse_object_id(sha) != Sha(sha):
        raise Missing(f"{sha[:80]!r} is no commit")
    words = ("ls-tree", "-r", "-l", "-z", "--full-tree", f"{sha}^{{commit}}", "--", *paths)
    done = await run(*words, ok=(0, 128), output_cap=_MOST_LISTED)
    if not done.ok:
        raise Missing(f"the commit {sha[:10]} cannot be read here")
    if done.truncated:
        raise Invalid(f"the commit {sha[:10]} has too many files to look for skills in")
    return [_parse_entry(line) for line in done.stdout.split(b"\0") if line]


def _parse_entry(line: bytes) -> Entry:
    facts, _, raw = line.partition(b"\t")
    mode, _, blob, size = facts.split()
    problem = {b"120000": "is a link", b"160000": "is a submodule"}.get(mode, "")
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        path, problem = raw.decode("utf-8", "replace"), "has a name that is not UTF-8"
    return Entry(path, int(size) if size.isdigit() else 0, mode == b"100755", blob.decode("ascii"), problem)


async def _load_blobs(run: _RunGit, entries: Iterable[Entry | None]) -> dict[str, bytes]:
    """The content of these entries' objects; too large ones are left out."""
    wanted = tuple(dict.fromkeys(entry.blob for entry in entries if entry is not None and not entry.problem))
    if not wanted:
        return {}
    done = await run(
        "cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in wanted).encode(), output_cap=_MOST_READ
    )
    found, at = {}, 0
    for blob in wanted:
        end = done.stdout.find(b"\n", at)
        _, kind, size = done.stdout[at:end].split(b" ")
        if kind != b"blob":
            raise Missing(f"the object {blob} is not here")
        found[blob] = done.stdout[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    if done.truncated:
        raise Invalid("its files are too large")
    return found


def _text_of(folder: str, entries: Iterable[Entry]) -> Entry | None:
    """Its SKILL.md, if it has one that is worth reading."""
    entries = tuple(entries)
    if find_fault(folder, entries):
        return None
    return next((entry for entry in entries if path_in(folder, entry) == FILE), None)


def _checked(skill: Skill, groups: Mapping[str, tuple[Entry, ...]]) -> tuple[Entry, ...]:
    inside = groups.get(skill.folder)
    if inside is None:
        raise Missing(f"the skill {skill.name} is not in {skill.origin} any more")
    fault = find_fault(skill.folder, inside)
    if fault:
        raise Invalid(f"the skill {skill.name} of {skill.origin} cannot be used any more: {fault}")
    return inside


def _copy_folder(skill: Skill, target: Path) -> None:
    root = Path(skill.place.store)
    inside = _checked(skill, group_skills(list_entries(root), ""))
    files = {path_in(skill.folder, entry): (read_bytes(root / entry.path), entry.is_executable) for entry in inside}
    write_copy(target, files)

"""Files of submodules in a worktree, so that it can be built: put there without a repository of their own.

Git takes a submodule's folder without `.git` for one that is not initialised, and leaves its files alone. The engine
fetches into a repository that only it uses; a submodule that cannot be had is a warning, never a failure.
"""

import posixpath
from pathlib import Path

from nightcrew.core.errors import Invalid, PortError
from nightcrew.core.ids import Sha
from nightcrew.workspaces.complaint import clean
from nightcrew.workspaces.file import find_document, is_folder, is_there
from nightcrew.workspaces.git import Git
from nightcrew.workspaces.push import check_address
from nightcrew.workspaces.repository import Repository, safe_name

TIMEOUT_S = 120.0
_FILE = ".gitmodules"


async def fill_submodules(repository: Repository, git: Git, number: int, *, sha: Sha) -> tuple[str, ...]:
    """Put the submodules of commit `sha` into the worktree; returns a warning for each that could not be had."""
    if not is_there(repository.tree(number) / _FILE):
        return ()  # without it git knows of no submodules either
    links = await _list_links(repository, sha)
    if not links:
        return ()
    addresses = await _load_addresses(repository, sha)
    warnings = []
    for path, commit in links.items():
        try:
            await _fill(repository, git, repository.tree(number) / path, url=addresses.get(path, ""), commit=commit)
        except PortError as error:
            warnings.append(f"the submodule {clean(path)} is empty: {clean(str(error), limit=300)}")
    return tuple(warnings)


async def _fill(repository: Repository, git: Git, target: Path, *, url: str, commit: str) -> None:
    if not is_folder(target) or any(target.iterdir()):
        return
    if target.resolve() != target:
        raise Invalid("a symbolic link leads to its place")
    address = check_address(_join(_base_address(repository), url))
    if address.startswith(("/", "file:")) and not _base_address(repository).startswith(("/", "file:")):
        raise Invalid(f"{url} is an address on this disk")
    store = repository.folder / "modules" / f"{safe_name(address)}.git"
    if not (store / "HEAD").exists():
        store.mkdir(parents=True, exist_ok=True)
        await git.run(store, "init", "--quiet", "--bare", "--template=", "--initial-branch=none")
    # By id where the server lets one ask for that; else all branches.
    for wanted in (commit, "+refs/heads/*:refs/remotes/origin/*"):
        there = await git.run(store, "cat-file", "-e", f"{commit}^{{commit}}", ok=(0, 1, 128))
        if there.ok:
            break
        await git.run(
            store, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
            "--end-of-options", address, wanted,
            doing=f"fetching {clean(url)}", timeout_s=TIMEOUT_S, ok=(0,) if wanted != commit else (0, 1, 128),
        )  # fmt: skip
    with repository.temporary() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index"), "GIT_WORK_TREE": str(target)}
        await git.run(store, "read-tree", "--reset", "-u", commit, env=env, doing=f"checking out {commit[:10]}")


async def _list_links(repository: Repository, sha: Sha) -> dict[str, str]:
    listed = await repository.run("ls-tree", "-r", "-z", "--full-tree", sha)
    links = {}
    for entry in listed.stdout.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        if facts.startswith(b"160000 "):
            links[path.decode("utf-8", "surrogateescape")] = facts.split(b" ")[2].decode("ascii")
    return links


async def _load_addresses(repository: Repository, sha: Sha) -> dict[str, str]:
    """Address by path, from the commit's own .gitmodules."""
    done = await repository.run("config", "--blob", f"{sha}:{_FILE}", "-z", "--list", ok=(0, 1, 128))
    sections: dict[str, dict[str, str]] = {}
    for entry in done.text.split("\0"):
        key, _, value = entry.partition("\n")
        section, _, name = key.rpartition(".")
        sections.setdefault(section, {})[name] = value
    return {facts["path"]: facts["url"] for facts in sections.values() if "path" in facts and "url" in facts}


def _base_address(repository: Repository) -> str:
    found = find_document(repository.folder / "remote.json") or {}
    return str(found.get("url", ""))


def _join(base: str, url: str) -> str:
    """A submodule's address; a relative one starts from the project's own remote."""
    if not url.startswith(("./", "../")):
        return url
    scheme, mark, rest = base.partition("://")
    host, slash, path = rest.partition("/") if mark else ("", "", base)
    joined = posixpath.normpath(posixpath.join(path, url))
    return f"{scheme}{mark}{host}{slash}{joined}" if mark else joined

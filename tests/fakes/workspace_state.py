"""What the workspaces in memory are made of: commits with their files, worktrees. The port is in `workspace`."""

from dataclasses import dataclass, field

from nightcrew.core.ids import RunId, Sha

Files = dict[str, str]


@dataclass(frozen=True)
class FakeCommit:
    parents: tuple[Sha, ...]
    files: Files
    subject: str
    author: str = "A Person <person@example.com>"
    agents: frozenset[str] = frozenset()


@dataclass
class FakeTree:
    """A worktree: the branch it is for, where it began, HEAD, and the files as they are."""

    branch: str
    base: Sha
    start: Sha
    head: Sha
    files: Files
    prepared: bool = False
    merging: Sha | None = None


@dataclass
class FakeRepository:
    commits: dict[Sha, FakeCommit] = field(default_factory=dict)
    remote: dict[str, Sha] = field(default_factory=dict)
    fetched: dict[str, Sha] | None = None
    known: set[Sha] = field(default_factory=set)
    trees: dict[int, FakeTree] = field(default_factory=dict)
    leases: dict[int, RunId] = field(default_factory=dict)
    collected: dict[int, Sha] = field(default_factory=dict)
    checkouts: dict[str, tuple[Sha, ...]] = field(default_factory=dict)
    salvage: dict[str, Sha] = field(default_factory=dict)
    pulls: dict[int, Sha] = field(default_factory=dict)
    """Heads of pull requests that are on no branch here."""

    def history(self, sha: Sha) -> set[Sha]:
        seen: set[Sha] = set()
        todo = [sha]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo.extend(self.commits[at].parents)
        return seen

    def contains(self, descendant: Sha, ancestor: Sha) -> bool:
        return ancestor in self.history(descendant)

    def merge_base(self, one: Sha, other: Sha) -> Sha | None:
        shared = self.history(one) & self.history(other)
        best = [sha for sha in shared if not any(sha != more and self.contains(more, sha) for more in shared)]
        return min(best, default=None)

    def clashes(self, fork: Sha, ours: Sha, theirs: Sha) -> tuple[str, ...]:
        """Paths that both sides changed since `fork`, and not to the same."""
        old, one, other = (self.commits[sha].files for sha in (fork, ours, theirs))
        return tuple(
            path
            for path in sorted({*old, *one, *other})
            if one.get(path) != other.get(path) and old.get(path) not in (one.get(path), other.get(path))
        )

    def merged(self, fork: Sha, ours: Sha, theirs: Sha) -> Files:
        """The files of a merge; those in conflict have both sides between marks."""
        old, one, other = (self.commits[sha].files for sha in (fork, ours, theirs))
        clashing = self.clashes(fork, ours, theirs)
        files: Files = {}
        for path in {*one, *other}:
            if path in clashing:
                sides = "\n".join(("<<<<<<< ours", one.get(path, ""), "=======", other.get(path, ""), ">>>>>>> theirs"))
                files[path] = sides
                continue
            text = other.get(path) if one.get(path) == old.get(path) else one.get(path)
            if text is not None:
                files[path] = text
        return files


def changed(before: Files, files: dict[str, str | None]) -> Files:
    merged = {**before, **files}
    return {path: text for path, text in merged.items() if text is not None}

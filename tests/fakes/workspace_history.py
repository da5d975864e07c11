"""What is read of commits in memory."""

from pathlib import Path

from nightcrew.core.ids import Sha
from nightcrew.core.path_pattern import is_at_or_below
from nightcrew.ports.workspace import (
    Commit,
)
from tests.fakes.workspace_ground import FakeGround


class FakeHistory(FakeGround):
    """The part of the port that reads."""

    async def list_commits(self, project: str, *, base: Sha, head: Sha) -> tuple[Commit, ...]:
        self._leave(self._enter("list_commits", project))
        repository = self._checked(project, base, head)
        new = repository.history(head) - repository.history(base)
        ordered = sorted(new, key=lambda sha: (len(repository.history(sha)), sha))
        facts = [(sha, repository.commits[sha]) for sha in ordered]
        return tuple(Commit(sha, made.subject, made.author, made.agents) for sha, made in facts)

    async def is_ancestor(self, project: str, *, ancestor: Sha, descendant: Sha) -> bool:
        self._leave(self._enter("is_ancestor", project))
        return self._checked(project, ancestor, descendant).contains(descendant, ancestor)

    async def find_merge_base(self, project: str, one: Sha, other: Sha) -> Sha | None:
        self._leave(self._enter("find_merge_base", project))
        return self._checked(project, one, other).merge_base(one, other)

    async def load_diff(self, project: str, *, base: Sha, head: Sha, limit: int = 200_000) -> str:
        self._leave(self._enter("load_diff", project))
        repository = self._checked(project, base, head)
        old = repository.commits[repository.merge_base(base, head) or base].files
        new = repository.commits[head].files
        lines = []
        for path in sorted({*old, *new}):
            if old.get(path) != new.get(path):
                lines += [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}", "@@"]
                lines += [f"-{line}" for line in old.get(path, "").splitlines()]
                lines += [f"+{line}" for line in new.get(path, "").splitlines()]
        return "\n".join(lines)[:limit]

    async def list_tree(self, project: str, sha: Sha, *, limit: int = 5_000) -> tuple[str, ...]:
        self._leave(self._enter("list_tree", project))
        files = self._checked(project, sha).commits[sha].files
        return tuple(sorted(files, key=str.encode))[:limit]

    async def find_file(self, project: str, sha: Sha, path: str, *, limit: int = 100_000) -> str | None:
        self._leave(self._enter("find_file", project))
        text = self._checked(project, sha).commits[sha].files.get(path)
        return None if text is None else text[:limit]

    async def list_changed_paths(
        self, project: str, folder: Path, *, base: Sha, names: tuple[str, ...]
    ) -> tuple[str, ...]:
        self._leave(self._enter("list_changed_paths", project))
        repository = self._checked(project, base)
        trees = {self.path(project, number): tree.files for number, tree in repository.trees.items()}
        then, now = repository.commits[base].files, trees.get(folder)
        if now is None:
            now = repository.commits[repository.checkouts[folder.name][0]].files
        named = (path for path in {*then, *now} if any(is_at_or_below(path, name) for name in names))
        return tuple(sorted(path for path in named if then.get(path) != now.get(path)))

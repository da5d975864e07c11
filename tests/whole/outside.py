"""What a stage has of the forge: its repository, the people on it, and what they do with plain git."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.whole.program import git

PROJECT = "octo/demo"
TOKENS = {"octo": "token-octo", "bob": "token-bob", "eve": "token-eve"}
"""octo owns the repository and is the account that Nightcrew uses; bob may write to it; eve is a stranger."""

Json = dict[str, Any]


class Outside:
    """A repository on the forge, and its people."""

    def __init__(self, folder: Path, bare: Path, url: str) -> None:
        self.folder, self.bare, self.url = folder, bare, url
        self.octo = self.octo_at(url)
        self.bob, self.eve = self.person("bob"), self.person("eve")
        self._clones = 0

    def octo_at(self, url: str) -> httpx.AsyncClient:
        return _client(url, TOKENS["octo"])

    def person(self, login: str) -> httpx.AsyncClient:
        return _client(self.url, TOKENS[login])

    # What the agents will do

    async def file_issue(self, title: str, *, labels: Sequence[str] = ("nightcrew",), body: str = "Do it.") -> int:
        answer = await self.octo.post("/issues", json={"title": title, "body": body, "labels": list(labels)})
        assert answer.status_code == 201, answer.text
        return int(answer.json()["number"])

    async def get(self, path: str) -> Any:
        answer = await self.octo.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    async def labels(self, number: int) -> list[str]:
        return sorted(label["name"] for label in (await self.get(f"/issues/{number}"))["labels"])

    async def comments(self, number: int) -> list[str]:
        return [comment["body"] for comment in await self.get(f"/issues/{number}/comments")]

    async def pulls(self) -> list[Json]:
        found: list[Json] = await self.get("/pulls?state=all")
        return found

    def git(self, *words: str) -> str:
        """Plain git on the forge's repository."""
        return git(f"--git-dir={self.bare}", *words)

    def clone(self) -> Path:
        """A person's own clone."""
        self._clones += 1
        folder = self.folder / f"clone-{self._clones}"
        git("clone", "--quiet", str(self.bare), str(folder))
        return folder

    def push(self, branch: str, files: Mapping[str, str]) -> str:
        """A person commits files on top of a branch and pushes; the new head."""
        clone = self.clone()
        git("-C", str(clone), "checkout", "--quiet", branch)
        for name, text in files.items():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_text(text, encoding="utf-8")
        git("-C", str(clone), "add", "--all")
        git("-C", str(clone), "commit", "--quiet", "--message", "By hand")
        git("-C", str(clone), "push", "--quiet", "origin", branch)
        return git("-C", str(clone), "rev-parse", "HEAD")


def _client(url: str, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=f"{url}/repos/{PROJECT}", headers=headers, timeout=30)

"""What a scan found: where, and of which kind. Never the secret."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that seems to hold a secret. `path` is as git names it, `line` counts from 1 in the new file; `kind` is
    words such as "GitHub token"."""

    path: str
    line: int
    kind: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.kind})"

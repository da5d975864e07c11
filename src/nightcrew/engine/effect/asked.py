"""What came of something that was asked for about a pull request."""

from dataclasses import dataclass

from nightcrew.core.ids import TaskKey


@dataclass(frozen=True, slots=True)
class Asked:
    """`words` for who asked; `task` that it came to; `changed`: something follows from it that was not so before;
    `refused`: it cannot be done."""

    words: str
    task: TaskKey | None = None
    changed: bool = False
    refused: bool = False

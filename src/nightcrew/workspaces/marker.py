"""Who made a worktree, and what is known of it: one file a task, beside the repositories and out of an agent's reach.

A folder without such a marker, or with another installation's, is never touched.
"""

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import Sha
from nightcrew.workspaces.file import find_document, replace_document
from nightcrew.workspaces.repository import LAYOUT


class Stage(Enum):
    """`making`: not yet whole, never handed over. `ready`: whole. `removing`: all its work was saved already."""

    MAKING = "making"
    READY = "ready"
    REMOVING = "removing"


@dataclass(frozen=True, slots=True)
class Marker:
    """A task's worktree. `base_sha` is where its branch left the base, `start_sha` what it was last handed over at
    (a later run's commits must contain it), `head_sha` its last known HEAD, `copied` the files put there by us,
    `layout` where its repository is (see `repository`), `whole` whether refs hold all that is being removed."""

    installation: str
    project: str
    number: int
    branch: str
    base_sha: Sha
    start_sha: Sha
    head_sha: Sha
    stage: Stage = Stage.MAKING
    prepared: bool = False
    copied: tuple[str, ...] = ()
    layout: int = LAYOUT
    whole: bool = False

    def at(self, stage: Stage) -> "Marker":
        return replace(self, stage=stage)


def find_marker(path: Path) -> Marker | None:
    """The marker in a file; None if there is none. Conflict if it is not understood."""
    found = find_document(path)
    if found is None:
        return None
    try:
        return _parse(found)
    except (KeyError, ValueError, TypeError) as error:
        raise Conflict(f"{path} is not a marker that this version understands; nothing was changed") from error


def _parse(found: dict[str, object]) -> Marker:
    copied, number = found["copied"], found["number"]
    if not isinstance(copied, list) or not isinstance(number, int):
        raise TypeError("copied or number")
    return Marker(
        installation=str(found["installation"]),
        project=str(found["project"]),
        number=number,
        branch=str(found["branch"]),
        base_sha=Sha(str(found["base_sha"])),
        start_sha=Sha(str(found["start_sha"])),
        head_sha=Sha(str(found["head_sha"])),
        stage=Stage(found["stage"]),
        prepared=found["prepared"] is True,
        copied=tuple(str(name) for name in copied),
        whole=found.get("whole") is True,
        layout=LAYOUT if found.get("layout", 1) == LAYOUT else 1,
    )


def write_marker(path: Path, marker: Marker) -> None:
    """Put it down, atomically."""
    replace_document(
        path,
        {
            "installation": marker.installation,
            "project": marker.project,
            "number": marker.number,
            "branch": marker.branch,
            "base_sha": marker.base_sha,
            "start_sha": marker.start_sha,
            "head_sha": marker.head_sha,
            "stage": marker.stage.value,
            "prepared": marker.prepared,
            "copied": list(marker.copied),
            "layout": marker.layout,
            "whole": marker.whole,
        },
    )

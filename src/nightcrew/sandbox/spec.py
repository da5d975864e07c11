"""What a sandboxed agent may see, write and reach; independent of the means that keep it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.core.model.settings import Network


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or folder of the machine that is there in the sandbox, at `path`; read-only unless `writable`.

    `source` is what is shown there if it is not `path` itself. It must not lie where an agent can write: a link put in
    its place would be followed. What is `optional` may be absent on this machine.
    """

    path: Path
    writable: bool = False
    source: Path | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link at `path`; left out where a bind shows that place of the machine as it is."""

    path: Path
    target: Path


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """One run's sandbox. All paths are absolute.

    `workspace` is the working directory and `folder` what else belongs to the run; both are writable. `home` is the
    person's: there is an empty one in its place, that goes when the run ends. `private` names further folders to
    replace so. `binds` are what is there besides the system's programs; of two that overlap, the deeper counts for
    what is in it, so that a read-only file can lie in a writable folder, and a writable folder in an empty one.
    """

    workspace: Path
    folder: Path | None
    home: Path
    binds: tuple[Bind, ...] = ()
    private: tuple[Path, ...] = ()
    links: tuple[Link, ...] = ()
    network: Network = Network.OPEN

    @property
    def all_binds(self) -> tuple[Bind, ...]:
        """With the workspace and the folder."""
        own = (self.workspace,) if self.folder is None else (self.workspace, self.folder)
        return (*self.binds, *(Bind(path, writable=True) for path in own))

    @property
    def own_links(self) -> tuple[Link, ...]:
        """Those that no bind shows."""
        shown = [bind.path for bind in self.all_binds]
        return tuple(link for link in self.links if not any(link.path.is_relative_to(path) for path in shown))

    def check(self) -> None:
        """Invalid if a path is not one, or if what is to be kept out would be let in whole."""
        own = [path for bind in self.all_binds for path in (bind.path, bind.source) if path is not None]
        for path in (*own, self.home, *self.private, *(link.path for link in self.links)):
            if not path.is_absolute() or ".." in path.parts or "\0" in str(path):
                raise Invalid(f"{str(path)!r} cannot be a path of a sandbox: absolute ones only, without ..")
        for path in own:
            if self.home.is_relative_to(path):
                raise Invalid(f"a sandbox cannot hold {path}: the whole home is in it")
        ways = {(bind.path, bind.writable, bind.source) for bind in self.all_binds}
        if len({path for path, _, _ in ways}) != len(ways):
            raise Invalid("a path of a sandbox cannot be both read-only and writable")
        if self.home == Path("/"):
            raise Invalid("a sandbox needs a home other than /")


def order(paths: Iterable[Path]) -> list[Path]:
    """Outer before inner, so that what comes later lies over what came before; each once."""
    return sorted(dict.fromkeys(paths), key=lambda path: len(path.parts))

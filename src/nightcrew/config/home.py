"""Where Nightcrew keeps its things: one folder, and the paths inside it. Nothing is read from it here.

Client commands import this file, so it imports nothing heavy. `$NIGHTCREW_HOME` names the folder, else `~/.nightcrew`.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

SOCKET_LIMIT = 100
"""Bytes that a Unix socket's path may have: sun_path holds 104 on macOS and 108 on Linux, with the closing zero."""

_TEMP = Path("/tmp")  # noqa: S108 - fixed, as client and service may have different TMPDIRs; ensure() checks the folder


class Home:
    """The folder of one Nightcrew. Two homes share nothing; one home serves one service at a time."""

    __slots__ = ("_temp", "root")

    def __init__(self, root: Path, *, temp: Path = _TEMP) -> None:
        """`root` is made absolute; `temp` holds the short folder for sockets if `root` is too long for them."""
        self.root = root.resolve()
        self._temp = temp

    def __repr__(self) -> str:
        return f"Home({str(self.root)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    @property
    def config(self) -> Path:
        """What the person writes."""
        return self.root / "config.yml"

    @property
    def database(self) -> Path:
        return self.root / "nightcrew.db"

    @property
    def lock(self) -> Path:
        """Held by the service that runs on this home."""
        return self.root / "nightcrew.lock"

    @property
    def machine(self) -> Path:
        """The id under which this home claims tasks."""
        return self.root / "machine-id"

    @property
    def runs(self) -> Path:
        """One folder a run."""
        return self.root / "runs"

    @property
    def repos(self) -> Path:
        """The bare repositories."""
        return self.root / "repos"

    @property
    def workspaces(self) -> Path:
        return self.root / "worktrees"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def log(self) -> Path:
        """What the service said, a line of JSON each; older ones beside it end in .1, .2, …"""
        return self.logs / "nightcrew.jsonl"

    @property
    def forge(self) -> Path:
        """What the embedded local forge keeps."""
        return self.root / "forge"

    @property
    def sockets(self) -> Path:
        """The folder of the sockets: in the home, or a short one named by a hash where that would be too long."""
        if len(os.fsencode(self.root / "tmux" / "nightcrew.sock")) <= SOCKET_LIMIT:
            return self.root
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return self._temp / f"nightcrew-{os.getuid()}-{digest}"

    @property
    def socket(self) -> Path:
        """Where the service answers its clients."""
        return self.sockets / "nightcrew.sock"

    @property
    def tmux(self) -> Path:
        """The folder of our own tmux server's socket and configuration."""
        return self.sockets / "tmux"

    def ensure(self, *, uid: int | None = None) -> None:
        """Make the folders, open to `uid` only (default: this user). Raises NightcrewError, with nothing changed, for
        a home that is not a folder of that user's, or that anybody may write to."""
        owner = os.getuid() if uid is None else uid
        _refuse(self.root, owner)
        _refuse(self.sockets, owner)
        for folder in dict.fromkeys(
            (self.root, self.sockets, self.runs, self.repos, self.workspaces, self.logs, self.forge, self.tmux)
        ):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _refuse(folder, owner)
                folder.chmod(0o700)
            except OSError as error:
                raise _error(f"{folder} cannot be made: {error.strerror or error}") from error


def find_home(environ: Mapping[str, str]) -> Home:
    """The home that these variables name. Raises NightcrewError for one that would take over a folder of others'."""
    person = Path(environ.get("HOME") or _account_folder())
    named = environ.get("NIGHTCREW_HOME", "").strip()
    if not named:
        return Home(person / ".nightcrew")
    home = Home(expand_path(named, environ))
    if home.root in (Path(home.root.anchor), person.resolve()):
        raise _error(f"NIGHTCREW_HOME is {home.root}, which is no folder of its own: name one such as ~/.nightcrew")
    return home


def expand_path(text: str, environ: Mapping[str, str]) -> Path:
    """`~` and `~/…` stand for the person's own folder; `~other` stays as it is."""
    if text == "~" or text.startswith("~/"):
        return Path(environ.get("HOME") or _account_folder()) / text[2:]
    return Path(text)


def _account_folder() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def _refuse(folder: Path, owner: int) -> None:
    try:
        facts = folder.lstat()  # the root is resolved already; no other folder may be a link
    except FileNotFoundError:
        return
    except OSError as error:
        raise _error(f"{folder} cannot be used as home: {error.strerror or error}") from error
    if not stat.S_ISDIR(facts.st_mode):
        raise _error(f"{folder} is not a folder: move it away, or set NIGHTCREW_HOME to another place")
    if facts.st_uid != owner:
        raise _error(f"{folder} belongs to another user (uid {facts.st_uid}): set NIGHTCREW_HOME to a folder of yours")
    if facts.st_mode & stat.S_IWOTH:
        raise _error(f"anybody may write to {folder}: look what is in it, then `chmod 700` it")


def _error(words: str) -> Exception:
    from nightcrew.core.errors import NightcrewError

    return NightcrewError(words)

"""What the operating system is told to run: the command, its PATH, and the name under which this home is known to it.
How launchd and systemd want that written is not known here."""

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.core.errors import NightcrewError
from nightcrew.process import NotFound, TimedOut, clean_environment, run_process

SHELL_TIMEOUT_S = 15.0
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")


@dataclass(frozen=True, slots=True)
class Plan:
    """The service of one home. `name` is unique to it (`nightcrew` for the usual home); `argv` starts with an absolute
    path; `path` is the PATH that it is started with; `person` is the home folder of whoever installs it."""

    home: Home
    name: str
    argv: tuple[str, ...]
    path: str
    language: str
    person: Path


async def draw_plan(home: Home, environ: Mapping[str, str], *, programs: Iterable[str]) -> Plan:
    """The plan, with the PATH of the login shell. `programs` are those that must be found on it: the folder of one
    that only the PATH of here has is added."""
    person = Path(environ.get("HOME") or "~").expanduser().resolve()
    return Plan(
        home=home,
        name=find_name(home, person),
        argv=(*_program(), "serve", "--home", _plain(str(home.root)), "--background"),
        path=_plain(os.pathsep.join(await _capture_path(environ, programs=programs))),
        language=_plain(_language(environ)),
        person=person,
    )


def find_name(home: Home, person: Path) -> str:
    """`nightcrew` for `~/.nightcrew`; for any other home with a digest of its path, so that two do not collide."""
    if home == Home(person / ".nightcrew"):
        return "nightcrew"
    return f"nightcrew-{hashlib.sha256(os.fsencode(home.root)).hexdigest()[:8]}"


def _program() -> tuple[str, ...]:
    """The command beside this interpreter, else this interpreter with the module. Links are kept: the folder of a
    virtual environment is what makes its interpreter see the packages."""
    here = Path(sys.executable).absolute()
    script = here.with_name("nightcrew")
    if script.is_file() and os.access(script, os.X_OK):
        return (_plain(str(script)),)
    return (_plain(str(here)), "-m", "nightcrew.cli.main")


async def _capture_path(environ: Mapping[str, str], *, programs: Iterable[str]) -> list[str]:
    """The folders of the login shell's PATH, in order; then those of here that alone have one of the programs."""
    here = _folders(environ.get("PATH", ""))
    login = _folders(await _ask_shell(environ)) or here or list(SYSTEM_PATH)
    for program in programs:
        if not _find(program, login):
            login += _find(program, here)[:1]
    return list(dict.fromkeys(login))


async def _ask_shell(environ: Mapping[str, str]) -> str:
    """The PATH of the person's login shell; empty if it does not say. Interactive too, as many set it only there."""
    shell = environ.get("SHELL", "")
    if not Path(shell).is_absolute():
        return ""
    variables = clean_environment(extra={name: environ[name] for name in ("HOME", "USER", "SHELL") if name in environ})
    for flags in (("-l", "-i"), ("-l",)):
        try:
            done = await run_process([shell, *flags, "-c", "env"], env=variables, timeout_s=SHELL_TIMEOUT_S)
        except (NotFound, TimedOut):
            continue
        # The last one: whatever a profile prints comes before.
        found = [line[5:] for line in done.text.splitlines() if line.startswith("PATH=")]
        if done.ok and found:
            return found[-1]
    return ""


def _folders(path: str) -> list[str]:
    """Absolute folders alone: a relative one would mean another folder under launchd."""
    return [folder for folder in path.split(os.pathsep) if folder.startswith("/") and folder.isprintable()]


def _find(program: str, folders: Iterable[str]) -> list[str]:
    return [folder for folder in folders if os.access(Path(folder, program), os.X_OK)]


def _language(environ: Mapping[str, str]) -> str:
    """One with UTF-8, as nothing is set under a service manager."""
    named = environ.get("LC_ALL") or environ.get("LANG", "")
    usual = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    return named if named.lower().replace("-", "").endswith("utf8") else usual


def _plain(text: str) -> str:
    """Text that fits into one line of a file that others parse."""
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise NightcrewError(f"{text!r} holds control characters, with which no service can be installed")
    return text

"""The programs that Nightcrew itself needs, with their versions."""

import platform
import re
import shutil
from collections.abc import AsyncIterator

from nightcrew.core.errors import PortError
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.git import SignKind
from nightcrew.core.model.settings import Settings
from nightcrew.core.neutral import one_line
from nightcrew.engine.doctor.ward import Found
from nightcrew.process import run_process
from nightcrew.service.tool import TOOLS, install_command
from nightcrew.version import VERSION

VERSION_TIMEOUT_S = 15.0
LEAST_VERSION = {"git": (2, 38), "tmux": (3, 2)}
"""git merge-tree --write-tree came with 2.38, tmux's read-only flag of attach with 3.2."""
SIGNERS = {SignKind.SSH: "ssh-keygen", SignKind.GPG: "gpg"}


async def look_at_programs() -> AsyncIterator[Found]:
    """What is needed whatever the settings say."""
    here = f"{VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Found(Diagnosis("nightcrew", Level.OK, here))
    for tool in TOOLS:
        yield Found(await _tool(tool))


async def _tool(tool: str) -> Diagnosis:
    if shutil.which(tool) is None:
        return Diagnosis(tool, Level.ERROR, "cannot be found", install_command((tool,)))
    try:
        done = await run_process([tool, "-V" if tool == "tmux" else "--version"], timeout_s=VERSION_TIMEOUT_S)
    except PortError as error:
        return Diagnosis(tool, Level.UNKNOWN, f"does not tell its version: {error}")
    words = one_line(done.text.strip() or done.complaint, 200)
    if not done.ok or parse_version(words, parts=2) < LEAST_VERSION[tool]:
        least = ".".join(map(str, LEAST_VERSION[tool]))
        return Diagnosis(tool, Level.ERROR, f"{words} is too old", f"{least} or newer is needed")
    return Diagnosis(tool, Level.OK, words)


def parse_version(words: str, *, parts: int = 3) -> tuple[int, ...]:
    """The first numbers of a version; a development build without any counts as new."""
    found = re.search(r"\d+(?:\.\d+)+", words)
    return tuple(int(part) for part in found[0].split(".")[:parts]) if found else (99,)


def look_at_signer(settings: Settings) -> Diagnosis | None:
    """What signs, where something is to be signed."""
    program = SIGNERS.get(settings.git.sign)
    if program is None or shutil.which(program) is not None:
        return None
    words = f"{program} cannot be found, and git.sign is {settings.git.sign.value}: nothing could be published"
    return Diagnosis("git.sign", Level.ERROR, words, f"install {program}, or set `git: {{sign: off}}`")

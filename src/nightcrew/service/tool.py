"""The programs that Nightcrew itself needs, and how to get the ones that are missing."""

import platform
import shutil

from nightcrew.core.errors import Missing

TOOLS = ("git", "tmux")


def missing_tools() -> tuple[str, ...]:
    return tuple(tool for tool in TOOLS if shutil.which(tool) is None)


def install_command(tools: tuple[str, ...]) -> str:
    """The command that installs them on this kind of machine."""
    names = " ".join(tools)
    if platform.system() == "Darwin":
        return f"brew install {names}"
    for program, command in (("apt-get", "apt-get install"), ("dnf", "dnf install"), ("pacman", "pacman -S")):
        if shutil.which(program):
            return f"sudo {command} {names}"
    return f"install {names} with your package manager"


def require_tools() -> None:
    """Missing, with the command that installs them, if any is not there."""
    tools = missing_tools()
    if tools:
        raise Missing(f"{' and '.join(tools)} cannot be found; get them with: {install_command(tools)}")

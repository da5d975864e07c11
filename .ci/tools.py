"""Says which of the programs that Nightcrew needs are missing, and the command that installs them. Runs on any Python 3
before anything is installed, so it imports nothing of the project."""

import platform
import shutil
import sys

NEEDED = ("git", "tmux")


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this very check is for older ones
        sys.stderr.write(f"Nightcrew needs Python 3.11 or newer; {sys.executable} is {platform.python_version()}.\n")
        sys.stderr.write("Install a newer one, and say which: make PYTHON=python3.11 ...\n")
        return 1
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if not missing:
        return 0
    names = " ".join(missing)
    for manager, command in (
        ("brew", "brew install"),
        ("apt-get", "sudo apt-get install -y"),
        ("dnf", "sudo dnf install"),
        ("pacman", "sudo pacman -S"),
        ("apk", "sudo apk add"),
    ):
        if shutil.which(manager):
            sys.stderr.write(f"missing: {names}. Install with: {command} {names}\n")
            return 1
    sys.stderr.write(f"missing: {names}. Install with your package manager.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

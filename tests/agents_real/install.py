"""The real CLIs, versions pinned, in a cached scratch folder: `python -m tests.agents_real.install`.

`NIGHTCREW_AGENT_CLIS` names another folder. Nothing is installed again that is there in the right version.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {"@anthropic-ai/claude-code": "2.1.197", "@openai/codex": "0.171.0"}
FOLDER = Path(os.environ.get("NIGHTCREW_AGENT_CLIS") or Path(__file__).parents[2] / ".cache" / "agents").absolute()
TIME_LIMIT_S = 900


def find_version(package: str) -> str:
    """The installed version of a package, empty if there is none."""
    try:
        manifest = json.loads((FOLDER / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(manifest.get("version", ""))


def find_problem() -> str:
    """Why the CLIs cannot be used, empty if they can."""
    missing = [f"{name}@{version}" for name, version in PACKAGES.items() if find_version(name) != version]
    if not missing:
        return ""
    if shutil.which("npm") is None:
        return (
            f"{', '.join(missing)} not installed, and there is no npm to install them with (install Node 20 or newer)"
        )
    return f"{', '.join(missing)} not installed: run `python -m tests.agents_real.install`"


def main() -> int:
    """Install what is missing; 0 also without npm, since the tests then say that they were skipped and why."""
    if not find_problem():
        return 0
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write(f"SKIPPED: {find_problem()}\n")
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    argv = [npm, "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--loglevel=error", *wanted]
    done = subprocess.run(argv, check=False, timeout=TIME_LIMIT_S)
    if done.returncode != 0 or find_problem():
        sys.stderr.write(f"the agent CLIs could not be installed into {FOLDER}: {find_problem()}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

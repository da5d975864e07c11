"""The contracts between packages hold, and each is proven by breaking it in a copy of the house."""

import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from nightcrew.process import Completed, run_process

ROOT = Path(__file__).parents[2]
LINT = (sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
CONTRACTS = tuple(
    contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
)


@dataclass(frozen=True)
class Breach:
    """A module with an import that breaks exactly the contracts named."""

    module: str
    line: str
    contracts: tuple[str, ...]


BREACHES = (
    Breach("ports/intruder.py", "import nightcrew.process", ("Layers of the house",)),
    Breach("store/intruder.py", "import nightcrew.engine.act", ("Layers of the house",)),
    Breach("intruder/__init__.py", "", ("Layers of the house",)),
    Breach("core/intruder.py", "import random", ("The core is pure",)),
    Breach("runtimes/shim_intruder.py", "import nightcrew.core.ids", ("The shim is standard library only",)),
    Breach("agents/gemini_intruder.py", "import nightcrew.agents.codex", ("Agents do not know each other",)),
    Breach("forges/github/intruder.py", "import nightcrew.forges.local", ("Forges do not know each other",)),
    Breach("engine/intruder.py", "import httpx", ("httpx only in forges",)),
    Breach("engine/intruder.py", "import fastapi", ("FastAPI only in the API",)),
    Breach("engine/intruder.py", "import aiosqlite", ("SQLite only in the store and the local forge",)),
)

# Some contracts are about one module, so it is that one which has to import the intruder.
LED_IN_BY = {
    "runtimes/shim_intruder.py": "runtimes/shim.py",
    "agents/gemini_intruder.py": "agents/gemini.py",
}


async def lint(folder: Path, cache: Path) -> Completed:
    """Run import-linter on the house in `folder`, and on no other that may be installed."""
    argv = (*LINT, "--config", str(folder / "pyproject.toml"), "--cache-dir", str(cache))
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return await run_process(argv, cwd=folder, env=env, timeout_s=110)


def broken(done: Completed) -> set[str]:
    answers = dict(re.findall(r"^(.+?) (KEPT|BROKEN)$", re.sub(r"\x1b\[[0-9;]*m", "", done.text), re.MULTILINE))
    if not answers and done.returncode == 1:
        # A package that nobody has placed stops the check of its contract.
        return {name for name in CONTRACTS if f"{name}" in done.text} or {"?"}
    assert set(answers) == set(CONTRACTS), done.text + done.complaint
    return {name for name, answer in answers.items() if answer == "BROKEN"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the house to break things in."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


async def test_the_contracts_hold(house, cache):
    done = await lint(house, cache)
    assert broken(done) == set(), done.text
    assert done.ok


@pytest.mark.parametrize("breach", BREACHES, ids=lambda b: f"{b.module}: {b.line}")
async def test_a_breach_is_seen(house, cache, breach):
    path = house / "src/nightcrew" / breach.module
    led_in_by = house / "src/nightcrew" / LED_IN_BY.get(breach.module, breach.module)
    before = led_in_by.read_text() if led_in_by != path else ""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'"""Somebody who should not be here."""\n{breach.line}\n')
    if led_in_by != path:
        name = "nightcrew." + breach.module.removesuffix(".py").replace("/", ".")
        led_in_by.write_text(f"{before}\nimport {name}\n")
    try:
        done = await lint(house, cache)
    finally:
        path.unlink()
        if led_in_by != path:
            led_in_by.write_text(before)
        if path.name == "__init__.py":
            path.parent.rmdir()
    assert not done.ok
    assert broken(done) == set(breach.contracts), done.text


def test_every_contract_is_proven():
    """A contract added to pyproject.toml needs a breach here."""
    assert {name for breach in BREACHES for name in breach.contracts} == set(CONTRACTS)

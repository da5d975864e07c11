"""Completion scripts: real shells take them, and they offer what there is."""

import shutil
from pathlib import Path

import pytest

from nightcrew.process import run_process
from tests.adapters.cli.command import Shell

_ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_nightcrew
printf '%s\\n' "${COMPREPLY[@]}"
"""


async def _script(folder: Path, shell: str) -> Path:
    path = folder / f"completion.{shell}"
    path.write_text(await Shell(folder / "home").said("completions", shell), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
async def test_a_shell_can_read_its_script(tmp_path, name):
    script = await _script(tmp_path, name)
    assert "needs_review" not in script.read_text(encoding="utf-8")
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = await run_process([name, "-n", str(script)], timeout_s=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["nightcrew", "ta"], {"task"}),
        (["nightcrew", "task", "s"], {"say", "show", "start", "stop"}),
        (["nightcrew", "--json", "task", "b"], {"block"}),
        (["nightcrew", "task", "list", "--p"], {"--project"}),
        (["nightcrew", "run", "logs", "task", "--f"], {"--follow"}),
        (["nightcrew", "completions", ""], {"bash", "zsh", "fish", "--help", "--home"}),
        (["nightcrew", "nonsense"], set()),
    ],
)
async def test_bash_is_offered_what_there_is(tmp_path, words, offered):
    script = await _script(tmp_path, "bash")
    done = await run_process(["bash", "-c", _ASK, "bash", str(script), *words], timeout_s=60)
    assert done.stderr == b""
    assert set(done.text.split()) == offered


async def test_zsh_and_fish_know_every_command(tmp_path):
    for name in ("zsh", "fish"):
        script = (await _script(tmp_path, name)).read_text(encoding="utf-8")
        for command in ("unblock", "schema", "--follow" if name == "zsh" else "-l follow"):
            assert command in script

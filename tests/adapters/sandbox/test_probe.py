"""Whether a sandbox works here, asked of this machine and of stand-ins for programs that do not work."""

from pathlib import Path

import pytest

from nightcrew.sandbox import Kind, Unusable, Usable, find_sandbox
from nightcrew.sandbox.bubblewrap import Bubblewrap
from tests.adapters.sandbox.cell import get_sandbox


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


async def test_none_is_always_usable():
    assert await find_sandbox(Kind.NONE, search="") == Usable(Kind.NONE)


async def test_auto_is_the_one_of_the_system():
    found = await get_sandbox()
    assert await find_sandbox(Kind.AUTO, platform="linux") == found
    assert isinstance(found.means, Bubblewrap)
    assert found.means.program.endswith("bwrap")
    assert isinstance(missing := await find_sandbox(Kind.AUTO, platform="darwin", search=""), Unusable)
    assert missing.kind is Kind.SEATBELT


async def test_what_is_not_installed_says_how_to():
    found = await find_sandbox(Kind.BWRAP, search="")
    assert isinstance(found, Unusable)
    assert (found.reason, "install bubblewrap" in found.hint) == ("bwrap is not installed", True)


@pytest.mark.parametrize(("complaint", "hint"), [
    ("bwrap: No permissions to create new namespace, likely because the kernel does not allow it", "sysctl"),
    ("bwrap: setting up uid map: Permission denied", "AppArmor"),
    ("bwrap: Creating new namespace failed: Operation not permitted", "seccomp"),
    ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths"),
    ("bwrap: Unknown option --unshare-cgroup-try", "documentation"),
])  # fmt: skip
async def test_what_is_forbidden_says_why_and_what_to_do(tmp_path, complaint, hint):
    program(tmp_path, "bwrap", f'echo "{complaint}" >&2; exit 1')
    found = await find_sandbox(Kind.BWRAP, search=str(tmp_path))
    assert isinstance(found, Unusable)
    assert complaint in found.reason
    assert hint in found.hint


async def test_a_bwrap_without_network_namespaces_does_not_do(tmp_path):
    program(tmp_path, "bwrap", 'case "$*" in *--unshare-net*) echo "loopback: Failed RTM_NEWADDR" >&2; exit 1;; esac')
    found = await find_sandbox(Kind.BWRAP, search=str(tmp_path))
    assert isinstance(found, Unusable)
    assert "RTM_NEWADDR" in found.reason


async def test_an_env_that_knows_no_signals_is_not_used(tmp_path):
    program(tmp_path, "bwrap", "")
    program(tmp_path, "env", "echo unrecognized option >&2; exit 125")
    assert await find_sandbox(Kind.BWRAP, search=str(tmp_path), uid=1) == Usable(
        Kind.BWRAP, Bubblewrap(str(tmp_path / "bwrap"))
    )


async def test_seatbelt_is_tried(tmp_path):
    program(tmp_path, "sandbox-exec", "echo sandbox_apply: Operation not permitted >&2; exit 71")
    found = await find_sandbox(Kind.SEATBELT, search=str(tmp_path))
    assert isinstance(found, Unusable)
    assert "sandbox_apply" in found.reason
    program(tmp_path, "sandbox-exec", '[ "$1" = -p ]')
    assert isinstance(await find_sandbox(Kind.SEATBELT, search=str(tmp_path)), Usable)

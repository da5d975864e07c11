"""Reading recorded runs, and building outputs of runs for adapters."""

import re
from collections.abc import Mapping
from pathlib import Path

from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.ports.agent import RunOutput

DATA = Path(__file__).parents[2] / "data"
TRANSCRIPTS = DATA / "transcripts"

DONE = '{"outcome": "done", "summary": "Wrote hello.txt."}'
APPROVE = '{"decision": "approve", "summary": "It is right.", "findings": []}'

_HEAD = re.compile(r"rc=(-?\d+)( \(killed by harness)?")
_STAMP = re.compile(r"^\[ *\d+\.\d+\] ?")


def load_recording(name: str, *, role: Role = Role.AUTHOR, report: str | None = None) -> RunOutput:
    """A recorded run as the shim would leave it: `cli/case`. What the harness killed had run into its deadline."""
    text = (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8")
    head, _, rest = text.partition("\n--- stdout (seconds since start in brackets)\n")
    stdout, _, stderr = rest.partition("--- stderr\n")
    found = _HEAD.search(head)
    assert found is not None, name
    code = int(found[1])
    return RunOutput(
        role=role,
        stdout=_strip(stdout),
        stderr=_strip(stderr),
        exit_code=code if code >= 0 else 128 - code,
        timed_out=found[2] is not None,
        report=report,
    )


def list_recordings(cli: str) -> list[str]:
    """Every recorded run of a CLI that is no screen."""
    return sorted(
        f"{cli}/{path.stem}" for path in (TRANSCRIPTS / cli).glob("*.txt") if not path.stem.startswith("tui-")
    )


def make_output(
    stdout: str | bytes = "",
    *,
    stderr: str | bytes = "",
    exit_code: int = 0,
    timed_out: bool = False,
    report: str | None = None,
    role: Role = Role.AUTHOR,
    error: str = "",
) -> RunOutput:
    out = stdout.encode() if isinstance(stdout, str) else stdout
    err = stderr.encode() if isinstance(stderr, str) else stderr
    return RunOutput(role, out, err, exit_code, timed_out, report, error)


def make_settings(
    adapter: str, *, name: str = "", command: tuple[str, ...] = (), options: Mapping[str, object] | None = None
) -> AgentSettings:
    return AgentSettings(name=name or adapter, adapter=adapter, command=command, options=options or {})


def _strip(text: str) -> bytes:
    return "\n".join(_STAMP.sub("", line) for line in text.split("\n")).encode()

"""The files that the runtime and the shim share in a run folder. What an agent leaves there is not known here."""

import contextlib
import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from nightcrew.core.errors import Invalid, Unavailable
from nightcrew.ports.runtime import Progress, SessionResult, SessionSpec

RESULT = "result.json"
OUTPUT, ERRORS = "stdout.log", "stderr.log"


def write_spec(spec: SessionSpec, *, installation: str, output_cap: int | None = None) -> Path:
    """The spec file for the shim, under a new name and for its owner's eyes only: it holds the agent's environment."""
    content = {
        "name": spec.name,
        "installation": installation,
        "argv": list(spec.argv),
        "cwd": str(spec.cwd),
        "env": dict(spec.env),
        "stdin": str(spec.stdin) if spec.stdin is not None else "",
        "deadline_s": spec.deadline_s,
        "show": [{"match": dict(rule.match), "show": rule.show, "prefix": rule.prefix} for rule in spec.show],
        "output_cap": output_cap,
    }
    try:
        spec.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, path = tempfile.mkstemp(prefix="spec-", suffix=".json", dir=spec.folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
    except OSError as error:
        raise Unavailable(f"cannot write to the run folder {spec.folder}: {error.strerror}") from error
    return Path(path)


def look(folder: Path) -> Progress:
    """Three stats. What is only whitespace to a reader counts as well: it is a sign of life."""
    found = [stat for name in (OUTPUT, ERRORS) if (stat := _stat(folder / name)) is not None]
    size = found[0].st_size if found else 0
    last = max((stat.st_mtime for stat in found if stat.st_size), default=None)
    output_at = datetime.fromtimestamp(last, UTC) if last is not None else None
    return Progress((folder / RESULT).exists(), size, output_at)


def _stat(path: Path) -> os.stat_result | None:
    with contextlib.suppress(OSError):
        return path.stat()
    return None


def load_result(folder: Path) -> SessionResult | None:
    """The result, None if there is none yet, Invalid if the file is not one."""
    path = folder / RESULT
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}") from error
    try:
        data = json.loads(content)
        times = [datetime.fromisoformat(data[key]) for key in ("started_at", "ended_at")]
        if any(moment.tzinfo is None for moment in times):
            raise Invalid(f"{path} is not the result of a session: its times have no zone")
        return SessionResult(int(data["exit_code"]), bool(data["timed_out"]), times[0], times[1], str(data["error"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Invalid(f"{path} is not the result of a session: {error!r}") from error

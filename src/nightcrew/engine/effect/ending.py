"""How a run ended: what its adapter reads from what it left, and whether it was interrupted. Nothing is taken on trust
from the run folder, where an agent may have put anything; that Nightcrew ended it stands in the store."""

import re
from dataclasses import replace
from pathlib import Path

from nightcrew.core.errors import Invalid
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.model.report import Usage
from nightcrew.core.model.run import Interruption, InterruptionKind, Run, StopCause
from nightcrew.core.report_shape import clean_text
from nightcrew.engine.effect.brief import ANSWER_FILE, REPORT_FILE
from nightcrew.engine.effect.means import Means
from nightcrew.ports.agent import Reading, RunOutput
from nightcrew.ports.runtime import SessionResult

OUTPUT_CAP = 64_000_000
REPORT_CAP = 1_000_000
ANSWER_CAP = 100_000
KILLED = 137
"""The exit code of what was killed (128 + SIGKILL), for a session that could not say how its agent ended."""

_STOPS = {StopCause.SILENT: FailureKind.HANG, StopCause.OVERDUE: FailureKind.TIMEOUT}

_FULL = re.compile(r"No space left on device|\bENOSPC\b|Disk quota exceeded", re.IGNORECASE)


def read_end(means: Means, run: Run, *, has_commits: bool) -> tuple[Reading, Interruption | None]:
    """The reading, and the interruption that takes the place of its failure."""
    try:
        result = means.ports.runtime.load_result(means.folder(run))
    except Invalid as error:
        return Reading(None, Failure(FailureKind.CRASH, str(error))), None
    output = _output(means.folder(run), run, result)
    reading = _read(means, run, output)
    ended_from_outside = result is None or result.error.startswith("stopped by")
    if run.stop is not None and ended_from_outside:
        why = f"it was ended: {run.stop.why}"
        if run.stop.cause is StopCause.LIMITED:
            return _limited(means, run, output, why), None
        if run.stop.cause in _STOPS:
            return replace(reading, report=None, failure=Failure(_STOPS[run.stop.cause], why)), None
        return _interrupted(reading, InterruptionKind.STOPPED, why)
    if reading.report is not None and (output.report is not None or not ended_from_outside):
        return reading, None  # what it reported before its session was ended is its last word
    if result is None:
        return _interrupted(reading, InterruptionKind.LOST, "its session was lost before it could write a result")
    if ended_from_outside:
        return _interrupted(reading, InterruptionKind.LOST, f"its session was ended from outside ({result.error})")
    if (full := _no_room(reading, result)) is not None:
        return _interrupted(reading, InterruptionKind.LOST, f"it had no room on the disk ({full})")
    if run.resumes and not has_commits and _cannot_go_on(reading):
        why = f"its earlier session could not be resumed: {reading.failure.detail if reading.failure else ''}"
        return _interrupted(reading, InterruptionKind.NOT_RESUMED, why)
    return reading, None


def _limited(means: Means, run: Run, output: RunOutput, why: str) -> Reading:
    """A run that was ended for repeating that a limit is reached: as its adapter names what it printed."""
    reading = _read(means, run, replace(output, error="", report=None))
    named = reading.failure is not None and reading.failure.kind is not FailureKind.CRASH
    return replace(reading, report=None, failure=reading.failure if named else Failure(FailureKind.USAGE_WINDOW, why))


def _no_room(reading: Reading, result: SessionResult) -> str | None:
    """What was said of a disk that was full while it ran, if it failed by that. The agent is not to blame, and none
    would do better."""
    failure = reading.failure
    if failure is None or failure.kind is not FailureKind.CRASH:
        return None
    return next((words for words in (result.error, failure.detail) if _FULL.search(words)), None)


def _interrupted(reading: Reading, kind: InterruptionKind, why: str) -> tuple[Reading, Interruption]:
    return replace(reading, report=None, failure=None), Interruption(kind, why)


def _cannot_go_on(reading: Reading) -> bool:
    """Whether a run that resumed a session ended as one whose session is gone, or has grown too long."""
    kinds = (FailureKind.CRASH, FailureKind.CONTEXT_TOO_LONG)
    return reading.failure is not None and reading.failure.kind in kinds


def can_resume(means: Means, run: Run, reading: Reading) -> bool:
    """Whether a later run may go on with the session of this one: its CLI can, and has said which one it is."""
    adapter = means.find_adapter(run)
    return adapter is not None and adapter.can_resume and bool(reading.session)


async def own_usage(means: Means, run: Run, reading: Reading) -> Usage:
    """What this run itself used: some CLIs count a session from its beginning, with what earlier runs used in it."""
    if not (reading.usage_of_session and run.resumes):
        return reading.usage
    runs = await means.ports.store.load_runs(task=run.task)
    session = reading.session or run.resumes
    before = [one.outcome.usage for one in runs if one.outcome is not None and one.outcome.agent_session == session]
    return replace(
        reading.usage,
        input_tokens=_less(reading.usage.input_tokens, [usage.input_tokens for usage in before]),
        output_tokens=_less(reading.usage.output_tokens, [usage.output_tokens for usage in before]),
    )


def _less(total: int | None, parts: list[int | None]) -> int | None:
    return None if total is None else max(0, total - sum(part or 0 for part in parts))


def _read(means: Means, run: Run, output: RunOutput) -> Reading:
    adapter = means.find_adapter(run)
    if adapter is None:
        return Reading(None, Failure(FailureKind.CRASH, f"there is no agent {run.agent} in the settings any more"))
    return adapter.read(output)


def _output(folder: Path, run: Run, result: SessionResult | None) -> RunOutput:
    """What is there. Of a session that was lost only the streams and the report say anything."""
    return RunOutput(
        role=run.role,
        stdout=_tail(folder / "stdout.log"),
        stderr=_tail(folder / "stderr.log"),
        exit_code=result.exit_code if result is not None else KILLED,
        timed_out=result.timed_out if result is not None else False,
        report=_report(folder / REPORT_FILE),
        error=result.error if result is not None else "",
        ended_at=result.ended_at if result is not None else None,
    )


def _tail(path: Path) -> bytes:
    """The last bytes of a stream: what matters stands at its end."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - OUTPUT_CAP))
        return stream.read()


def read_answer(folder: Path) -> str:
    """What the author of a report wrote for people, empty if it wrote nothing."""
    return clean_text(_report(folder / ANSWER_FILE) or "", limit=ANSWER_CAP).strip()


def _report(path: Path) -> str | None:
    """The report file, if it is a plain file: an agent may have put anything there."""
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as stream:
        return stream.read(REPORT_CAP).decode("utf-8", "replace")

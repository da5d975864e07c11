"""What the last runs of a job came to, for the next one."""

from datetime import datetime

from nightcrew.core.model.job import JobRun
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.retrying import describe_end
from nightcrew.engine.effect.means import Means

_RUNS = 3
_RESULT = 2_000


async def describe_last_runs(
    means: Means, project: str, name: str, *, before: datetime, short: bool = False
) -> tuple[str, ...]:
    """The last few starts before a due time, the newest first, one text each. `short`: for where all may read it."""
    runs = await means.ports.store.load_job_runs(project=project, name=name, each=_RUNS + 1, started=True)
    return tuple([await _describe(means, run, short=short) for run in runs if run.due_at < before][:_RUNS])


async def _describe(means: Means, run: JobRun, *, short: bool) -> str:
    head = f"{run.due_at:%Y-%m-%d %H:%M} UTC"
    if run.task is None:
        return f"{head}: {run.state.value}. {one_line(run.words, 300)}".rstrip()
    store = means.ports.store
    task = await store.find_task(run.task)
    if task is None:
        return f"{head}: {run.task} was asked for"
    text = f"{head}: {run.task} is {task.status.value}"
    if task.pull is not None:
        text += f", pull request #{task.pull}" + (" merged" if task.merge_sha is not None else "")
    if short:
        return text
    if task.block is not None:
        text += f". It waits for a person: {one_line(task.block.words, 300)}"
    internal = await store.find_internal(run.task)
    if internal is not None and internal.result:
        return f"{text}. It reported:\n{internal.result[:_RESULT]}"
    ended = [one for one in await store.load_runs(task=run.task) if one.role is Role.AUTHOR and one.outcome is not None]
    if not ended:
        return text
    report = ended[-1].outcome.report if ended[-1].outcome is not None else None
    said = report.summary if isinstance(report, AuthorReport) else describe_end(ended[-1])
    return f"{text}. {one_line(said, 600)}"

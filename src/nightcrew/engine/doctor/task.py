"""Tasks: what the store says against what the labels and the pull request say."""

from collections.abc import AsyncIterator

from nightcrew.core.actions import AcceptPerson, Action, Done, SettleLabels
from nightcrew.core.errors import Conflict, Missing, PortError
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.policy.diagnosing import Misfit, find_misfits
from nightcrew.engine.doctor.ward import Found, Mend, Ward

START = "the service puts that right by itself once it runs: nightcrew serve"
LOOK = "the service puts that right by itself; nightcrew doctor --fix has it look now"


async def look_at_tasks(ward: Ward, slug: str) -> AsyncIterator[Found]:
    """All that are not done, and those done ones whose issue is open. What is under way just now is left out."""
    open_issues = {issue.number: issue for issue in await ward.forge(slug).tracker.list_open_issues(slug)}
    tasks = await ward.means.ports.store.load_tasks(project=slug, include_done=True)
    for task in tasks:
        is_over = task.status is Status.DONE and task.moving_to is None and task.key.number not in open_issues
        if is_over or task.key in ward.busy():
            continue
        for misfit in await _misfits(ward, task, open_issues.get(task.key.number)):
            yield _found(ward, task, misfit)
    known = {task.key.number for task in tasks}
    for other in open_issues.values():
        statuses = parse_status_labels(other.labels)
        if other.number not in known and any(status is not Status.NEW for status in statuses):
            words = f"has {statuses[0].label}, and is no task of this home: another machine may have it"
            hint = f"if none has, set {Status.NEW.label} on it"
            yield Found(Diagnosis(f"issue {slug}#{other.number}", Level.UNKNOWN, words, hint))


async def _misfits(ward: Ward, task: Task, listed: Issue | None) -> tuple[Misfit, ...]:
    """What does not fit is looked at once more, row and issue anew: lists lag, and the loop is at work meanwhile."""
    found = find_misfits(task, issue=await _issue(ward, task, listed), pull=await _pull(ward, task))
    if not found:
        return ()
    now = await ward.means.ports.store.find_task(task.key)
    if now is None or now.key in ward.busy():
        return ()
    return find_misfits(now, issue=await _issue(ward, now, None), pull=await _pull(ward, now))


async def _issue(ward: Ward, task: Task, listed: Issue | None) -> Observed[Issue | None]:
    if listed is not None:
        return Known(listed)
    try:
        return Known(await ward.means.forge(task.key).tracker.fetch_issue(task.key.project, task.key.number))
    except Missing as error:
        # One 404 says nothing for certain; the loop looks for it once more.
        return Known(None) if error.gone else Unknown("it was not found")
    except PortError as error:
        return Unknown(str(error))


async def _pull(ward: Ward, task: Task) -> Observed[Pull | None]:
    if task.pull is None or task.status is Status.DONE:
        return Known(None)
    try:
        return Known(await ward.means.forge(task.key).scm.fetch_pull(task.key.project, task.pull))
    except Missing as error:
        return Known(None) if error.gone else Unknown("it was not found")
    except PortError as error:
        return Unknown(str(error))


def _found(ward: Ward, task: Task, misfit: Misfit) -> Found:
    if misfit.hint:
        return Found(Diagnosis(f"task {task.key}", Level.WARNING, misfit.words, misfit.hint))
    hint = LOOK if ward.is_running else START
    return Found(Diagnosis(f"task {task.key}", Level.WARNING, misfit.words, hint), _mend(ward, task, misfit.action))


def _mend(ward: Ward, task: Task, action: Action | None) -> Mend | None:
    """Nothing is done here that the loop would not do: labels are put right, or a person's is taken over, by its own
    action, which reads the issue again first; all else is left to its next look."""
    submit, look = ward.submit, ward.look
    if submit is None or look is None:
        return None
    if not isinstance(action, SettleLabels | AcceptPerson):

        async def look_again() -> str:
            look(task.key)
            return "the service was told to look again"

        return look_again
    chosen = action

    async def act() -> str:
        outcome = await submit(chosen)
        if not isinstance(outcome, Done):
            raise Conflict(outcome.why)
        if isinstance(chosen, AcceptPerson):
            return f"the label counts: it is {chosen.target.value} in the store as well"
        return f"its label is {chosen.status.label}"

    return act

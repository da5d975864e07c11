"""Having a failed check run again: the failed jobs of a workflow run, or a check run of another App.

Facts (docs: "Re-run failed jobs from a workflow run", "Rerequest a check run"): a workflow run can only run again once
it has completed, keeps its number, and counts its attempts; a re-request sets the check suite back to queued, and the
App decides what it does about it.
"""

from nightcrew.core.errors import Conflict, Denied, Invalid
from nightcrew.core.model.pull import Check
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.classify import is_limited, parse_complaint, parse_error
from nightcrew.forges.github.client import Answer
from nightcrew.forges.github.field import Json

_ALREADY = "already running"


async def rerun(api: Api, project: str, check: Check) -> RerunAnswer:
    """Ask for it, unless it runs or ran again already."""
    if check.job_id is not None:
        return await _rerun_jobs(api, project, check.job_id)
    if check.run_id is None:
        raise Invalid(f"{check.name} is a commit status: only who posted it can run it again")
    suite = await api.get(api.of(project, f"/check-runs/{check.run_id}"), _suite_of)
    status = await api.get(api.of(project, f"/check-suites/{suite}"), lambda raw: field.text(raw, "status"))
    if status != "completed":
        return RerunAnswer.RUNNING
    return await _post(api, api.of(project, f"/check-runs/{check.run_id}/rerequest"))


async def _rerun_jobs(api: Api, project: str, job: int) -> RerunAnswer:
    number = await api.get(api.of(project, f"/actions/jobs/{job}"), lambda raw: field.number(raw, "run_id"))
    url = api.of(project, f"/actions/runs/{number}")
    status, attempt = await api.get(url, lambda raw: (field.text(raw, "status"), field.number(raw, "run_attempt")))
    if attempt > 1:
        return RerunAnswer.SPENT if status == "completed" else RerunAnswer.RUNNING
    if status != "completed":
        raise Conflict("its workflow run is not finished, and cannot run again before")
    return await _post(api, f"{url}/rerun-failed-jobs")


async def _post(api: Api, url: str) -> RerunAnswer:
    """The write. 403 stands for a missing permission, and for one that runs already."""
    answer = await api.write("POST", url, repeatable=False, accept=frozenset({403}))
    if answer.status != 403:
        return RerunAnswer.ASKED
    if parse_complaint(answer).says(_ALREADY):
        return RerunAnswer.RUNNING
    raise _denied(api, url, answer)


def _denied(api: Api, url: str, answer: Answer) -> Exception:
    error = parse_error(answer, what=f"POST {url.removeprefix(api.base_url)}", mask=api.transport.mask)
    if is_limited(answer) or not isinstance(error, Denied):
        return error
    return Denied(f"{error}; running checks again takes actions=write (and checks=write)", needed=error.needed)


def _suite_of(raw: Json) -> int:
    return field.number(field.child(raw, "check_suite"), "id")

"""Logs of checks as text."""

from nightcrew.core.errors import Missing
from nightcrew.core.model.pull import Check
from nightcrew.forges.github.api import Api

LOG_AT_MOST = 200_000
"""Characters kept: the last ones, since a failing log says why near its end."""


async def fetch(api: Api, project: str, check: Check) -> str:
    """The log of the job; what the check itself says where it has no job, or its log is not there (yet, or any more).
    The forge answers with a redirect to a signed address that is good for a minute and refuses credentials."""
    if check.job_id is not None:
        try:
            answer = await api.requester.read(api.of(project, f"/actions/jobs/{check.job_id}/logs"), tail=True)
        except Missing:
            return check.summary
        return answer.content.decode("utf-8", "replace").lstrip("\ufeff")[-LOG_AT_MOST:]
    return check.summary

"""Logs of checks as text."""

from nightcrew.core.errors import Missing
from nightcrew.core.model.pull import Check
from nightcrew.forges.github.api import Api

LOG_AT_MOST = 200_000
"""Characters kept: the last ones, since a failing log says why near its end."""


async def fetch(api: Api, project: str, check: Check, *, hosts: tuple[str, ...]) -> str:
    """The log of the job, or the text at the address of a status, where that is on the forge or one of `hosts`; what
    the check itself says where there is none (yet, or any more). The forge answers with a redirect to a signed address
    that is good for a minute and refuses credentials."""
    if check.job_id is not None:
        try:
            answer = await api.requester.read(api.of(project, f"/actions/jobs/{check.job_id}/logs"), tail=True)
        except Missing:
            return check.summary
        return answer.content.decode("utf-8", "replace").lstrip("\ufeff")[-LOG_AT_MOST:]
    if check.source == "status" and check.url:
        found = await api.transport.fetch_foreign(check.url, hosts=hosts)
        return found[-LOG_AT_MOST:] or check.summary
    return check.summary

"""Which machine took the last due time of a job, as a ref of the forge's repository, `refs/nightcrew/jobs/<name>`. It
is made like a claim (`claim.py`), but never expires: each due time has one machine, and the next one replaces it."""

import json
from datetime import UTC, datetime

from nightcrew.core.model.claim import Due, DueNote
from nightcrew.core.neutral import one_line
from nightcrew.ports.scm import Remote
from nightcrew.workspaces.exchange import TIMEOUT_S
from nightcrew.workspaces.push import check_address
from nightcrew.workspaces.ref import parse_object_id
from nightcrew.workspaces.repository import Repository

DUES = "refs/nightcrew/jobs/"
_MARK = "nightcrew-due "
_LONGEST = 2_000


async def fetch_due(repository: Repository, remote: Remote, job: str) -> Due | None:
    """What stands there now."""
    await repository.run(
        "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=",
        "--end-of-options", check_address(remote.url), f"+{DUES}*:{DUES}*",
        doing=f"reading the turns of the jobs of {repository.project}", env=dict(remote.env), timeout_s=TIMEOUT_S,
    )  # fmt: skip
    listed = await repository.run("for-each-ref", "--format=%(objectname) %(refname) %(contents:subject)", DUES)
    for line in listed.text.split("\n"):
        sha, _, rest = line.partition(" ")
        name, _, subject = rest.partition(" ")
        known = parse_object_id(sha) if sha else None
        if known is not None and name == f"{DUES}{job}":
            return Due(known, parse_due(subject))
    return None


def render_due(note: DueNote) -> str:
    """The first line of the commit."""
    due = note.due_at.astimezone(UTC).isoformat(timespec="microseconds")
    return f"{_MARK}{json.dumps({'holder': note.holder, 'host': note.host, 'due': due})}\n"


def parse_due(line: str) -> DueNote | None:
    """What it says, as far as it is one: anybody with write access can put anything there."""
    if not line.startswith(_MARK) or len(line) > _LONGEST:
        return None
    try:
        content = json.loads(line.removeprefix(_MARK))
        due_at = datetime.fromisoformat(content["due"])
        holder, host = str(content.get("holder", "")), str(content.get("host", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return None if due_at.tzinfo is None else DueNote(one_line(holder, 80), one_line(host, 80), due_at)

"""Whether a pull request may be merged now, apart from conflicts: required checks, reviews, being up to date.

The wording of the refusals is what people reported from github.com; GitHub documents none of it.
"""

from dataclasses import dataclass

from nightcrew.forges.local.call import Call, rank
from nightcrew.forges.local.rule import Requirements, requirements
from nightcrew.forges.local.store import Row

PASSED = frozenset({"success", "neutral", "skipped"})


@dataclass(frozen=True, slots=True)
class CheckStates:
    """The newest statuses by context and check runs by name of one commit; None is a run not yet completed."""

    statuses: dict[str, str]
    runs: dict[str, str | None]

    def of(self, context: str) -> str:
        """`success`, `failing`, `in progress` or `expected` (none). The same name in both must pass in both."""
        found: list[str] = []
        if context in self.statuses:
            state = self.statuses[context]
            found.append({"success": "success", "pending": "in progress"}.get(state, "failing"))
        if context in self.runs:
            run = self.runs[context]
            found.append("in progress" if run is None else "success" if run in PASSED else "failing")
        for worst in ("failing", "in progress", "success"):
            if worst in found:
                return worst
        return "expected"

    @property
    def unstable(self) -> bool:
        return any(self.of(name) != "success" for name in {*self.statuses, *self.runs})


def check_states(call: Call, sha: str) -> CheckStates:
    statuses = call.store.all(
        "SELECT context, state FROM status WHERE repository_id = ? AND sha = ? ORDER BY id", call.repo["id"], sha
    )
    runs = call.store.all(
        "SELECT check_run.name, check_run.status, conclusion FROM check_run"
        " JOIN check_suite ON suite_id = check_suite.id WHERE repository_id = ? AND sha = ? ORDER BY check_run.id",
        call.repo["id"],
        sha,
    )
    return CheckStates(
        {row["context"]: row["state"] for row in statuses},
        {row["name"]: row["conclusion"] if row["status"] == "completed" else None for row in runs},
    )


def latest_verdicts(call: Call, issue_id: int) -> dict[int, str]:
    """Each reviewer's newest review that says something about merging; a dismissed one counts as none."""
    rows = call.store.all("SELECT * FROM review WHERE issue_id = ? AND submitted_at IS NOT NULL ORDER BY id", issue_id)
    verdicts = {}
    for row in rows:
        if row["state"] in {"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}:
            verdicts[int(row["user_id"])] = str(row["state"])
    return verdicts


async def merge_blocks(call: Call, pull: Row) -> list[str]:
    """Why the rules of the base branch do not allow the merge; empty when they do."""
    needs = requirements(call, pull["base_ref"])
    if not needs.binds_admins and call.may("admin"):
        return []
    reasons = _review_blocks(call, pull, needs) + _check_blocks(call, pull, needs)
    if needs.strict and needs.contexts and not await call.git.is_ancestor(pull["base_sha"], pull["head_sha"]):
        reasons.append("Head branch is out of date. Review and try the merge again.")
    if needs.signatures and await call.git.unsigned(f"{pull['base_sha']}..{pull['head_sha']}"):
        reasons.append("Commits must have verified signatures.")
    return reasons


def method_block(call: Call, pull: Row, method: str) -> str:
    """Why the rules of the base branch do not allow this way of merging; empty when they do."""
    needs = requirements(call, pull["base_ref"])
    if method in needs.methods or (not needs.binds_admins and call.may("admin")):
        return ""
    return f"Merge method {method} merging is not allowed on this branch."


def _review_blocks(call: Call, pull: Row, needs: Requirements) -> list[str]:
    if not needs.approvals:
        return []
    verdicts = latest_verdicts(call, pull["issue_id"])
    heard = [verdict for user, verdict in verdicts.items() if rank(call.permission_of(user)) >= rank("write")]
    if "CHANGES_REQUESTED" in heard:
        return ["Changes have been requested by reviewers with write access."]
    if heard.count("APPROVED") < needs.approvals:
        noun = "review is" if needs.approvals == 1 else "reviews are"
        return [f"At least {needs.approvals} approving {noun} required by reviewers with write access."]
    return []


def _check_blocks(call: Call, pull: Row, needs: Requirements) -> list[str]:
    states = check_states(call, pull["head_sha"])
    bad = {name: states.of(name) for name in needs.contexts if states.of(name) != "success"}
    if len(bad) == 1:
        ((name, state),) = bad.items()
        return [f'Required status check "{name}" is {state}.']
    if bad:
        kinds = ", ".join(f"{list(bad.values()).count(kind)} {kind}" for kind in dict.fromkeys(bad.values()))
        return [f"{len(bad)} of {len(needs.contexts)} required status checks have not succeeded: {kinds}."]
    return []

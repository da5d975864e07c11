"""The merge queue that a ruleset can demand: each pull request in its turn is merged on a branch of the queue's own
(`gh-readonly-queue/<base>/pr-<number>-<base sha>`), on which CI answers; then the base moves to that, or it is out.

One at a time, with merge commits: GitHub also builds groups, and other ways of merging, which nothing here needs.
"""

from nightcrew.forges.local.call import Call
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.gate import check_states, merge_blocks
from nightcrew.forges.local.mergeability import forge_signature, try_merge
from nightcrew.forges.local.pull_view import PULL
from nightcrew.forges.local.rule import requirements
from nightcrew.forges.local.store import Row

DEMANDED = "Changes must be made through the merge queue"
PREFIX = "gh-readonly-queue/"
_ENTRIES = "SELECT * FROM queue_entry WHERE repository_id = ? ORDER BY id"


def entries(call: Call) -> list[Row]:
    """Who is in the queues of a repository, in order."""
    return call.live.all(_ENTRIES, call.repo["id"])


def find_entry(call: Call, pull: Row) -> tuple[int, Row] | None:
    """The place of a pull request, from 1, and its entry."""
    there = [entry for entry in entries(call) if entry["base_ref"] == pull["base_ref"]]
    return next(((place, one) for place, one in enumerate(there, 1) if one["issue_id"] == pull["issue_id"]), None)


async def enqueue(call: Call, pull: Row, expected: str | None) -> str:
    """Put it at the end; why not, else."""
    if not requirements(call, pull["base_ref"]).merge_queue:
        return "Merge queue is not enabled for this branch"
    if pull["state"] != "open" or pull["draft"] or not await try_merge(call, pull):
        return "Pull request is not in a mergeable state"
    if expected is not None and expected != pull["head_sha"]:
        return "Head branch was modified. Review and try again."
    if find_entry(call, pull) is not None:
        return "Pull request is already queued"
    blocks = await merge_blocks(call, pull)
    if blocks:
        return " ".join(blocks)
    call.store.insert(
        "queue_entry", repository_id=call.repo["id"], issue_id=pull["issue_id"], base_ref=pull["base_ref"],
        head_sha=pull["head_sha"], base_sha="", sha="", created_at=call.at,
    )  # fmt: skip
    touch(call, pull["issue_id"])
    return ""


async def drop(call: Call, entry: Row) -> None:
    """Take it out, with the branch that was made for it."""
    if entry["sha"]:
        await call.git.delete_ref(f"refs/heads/{_branch(call, entry)}", old=entry["sha"])
    call.live.run("DELETE FROM queue_entry WHERE id = ?", entry["id"])
    touch(call, entry["issue_id"])


async def advance_queues(call: Call) -> None:
    """Go on as far as it goes now."""
    for base in dict.fromkeys(entry["base_ref"] for entry in entries(call)):
        while await _advance(call, base):
            pass


async def _advance(call: Call, base_ref: str) -> bool:
    """One step for a base; whether there may be another."""
    entry = next((one for one in entries(call) if one["base_ref"] == base_ref), None)
    base = await call.git.branch(base_ref)
    if entry is None or base is None:
        return False
    pull = call.live.get(f"{PULL} WHERE pull.issue_id = ?", entry["issue_id"])
    if pull["state"] != "open" or (pull["head_sha"], pull["base_ref"]) != (entry["head_sha"], base_ref):
        await drop(call, entry)
        return True
    if entry["base_sha"] != base:
        return await _build(call, entry, pull, base)
    needed, states = requirements(call, base_ref).contexts, check_states(call, entry["sha"])
    said = {states.of(name) for name in needed}
    if "failing" in said:
        await drop(call, entry)
        return True
    return said <= {"success"} and await _land(call, entry, pull, base)


async def _build(call: Call, entry: Row, pull: Row, base: str) -> bool:
    """The merge on a branch of its own; the one before goes, since the base has moved."""
    if entry["sha"]:
        await call.git.delete_ref(f"refs/heads/{_branch(call, entry)}", old=entry["sha"])
    tree = await call.git.merge_tree(base, pull["head_sha"])
    if tree is None:
        await drop(call, entry)
        return True
    stamp = forge_signature(call)
    message = f"Merge pull request #{pull['number']} from {call.repo['owner']}/{pull['head_ref']}\n\n{pull['title']}\n"
    sha = await call.git.commit_tree(tree, [base, pull["head_sha"]], message=message, author=stamp, committer=stamp)
    call.live.update("queue_entry", entry["id"], base_sha=base, sha=sha)
    made = call.live.get("SELECT * FROM queue_entry WHERE id = ?", entry["id"])
    await call.git.set_ref(f"refs/heads/{_branch(call, made)}", sha)
    # What demands no check at all lands at the next look, so that it can be seen in the queue.
    return False


async def _land(call: Call, entry: Row, pull: Row, base: str) -> bool:
    sha = entry["sha"]
    if not await call.git.move_ref(f"refs/heads/{entry['base_ref']}", new=sha, old=base):
        return False
    await call.git.delete_ref(f"refs/heads/{_branch(call, entry)}", old=sha)
    with call.live.transaction():
        call.live.run("DELETE FROM queue_entry WHERE id = ?", entry["id"])
        call.live.update("pull", pull["id"], merged_at=call.at, merge_commit_sha=sha)
        call.live.update("issue", pull["issue_id"], state="closed", closed_at=call.at, updated_at=call.at)
        record_event(call, pull["issue_id"], "merged", commit_id=sha)
        record_event(call, pull["issue_id"], "closed")
    return True


def _branch(call: Call, entry: Row) -> str:
    number = call.live.get("SELECT number FROM issue WHERE id = ?", entry["issue_id"])["number"]
    return f"{PREFIX}{entry['base_ref']}/pr-{number}-{entry['base_sha']}"

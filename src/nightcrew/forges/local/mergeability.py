"""Whether head and base merge without conflict, as git itself says it, and the test merge in `refs/pull/N/merge`."""

from nightcrew.forges.local.call import Call
from nightcrew.forges.local.fault import FaultKind
from nightcrew.forges.local.gate import check_states, merge_blocks
from nightcrew.forges.local.git import Signature
from nightcrew.forges.local.rule import requirements
from nightcrew.forges.local.store import Row

COMMITTER = ("Nightcrew forge", "noreply@localhost")


def forge_signature(call: Call) -> Signature:
    """The forge as committer of what it writes itself."""
    return Signature(*COMMITTER, call.now.isoformat())


async def try_merge(call: Call, pull: Row) -> bool:
    """Merge in memory unless this very pair was tried; keeps the test merge commit of a clean one."""
    if (pull["tried_head"], pull["tried_base"]) == (pull["head_sha"], pull["base_sha"]):
        return bool(pull["clean"])
    tree = await call.git.merge_tree(pull["base_sha"], pull["head_sha"])
    sha = pull["merge_commit_sha"]
    if tree is not None:
        sha = await call.git.commit_tree(
            tree,
            [pull["base_sha"], pull["head_sha"]],
            message=f"Merge {pull['head_sha']} into {pull['base_sha']}",
            author=forge_signature(call),
            committer=forge_signature(call),
        )
        await call.git.set_ref(f"refs/pull/{pull['number']}/merge", sha)
    call.store.update(
        "pull",
        pull["id"],
        tried_head=pull["head_sha"],
        tried_base=pull["base_sha"],
        clean=tree is not None,
        merge_commit_sha=sha,
    )
    return tree is not None


async def fetch_mergeable(call: Call, pull: Row) -> tuple[bool | None, str]:
    """`mergeable` and `mergeable_state` of a single pull request. The second is undocumented."""
    if pull["state"] == "closed":
        return (None, "unknown")
    if call.faults.take(FaultKind.MERGEABLE_UNKNOWN, call.method, call.path):
        return (None, "unknown")
    if not await try_merge(call, pull):
        return (False, "dirty")
    return (True, await _state(call, pull))


async def _state(call: Call, pull: Row) -> str:
    if pull["draft"]:
        return "draft"
    if requirements(call, pull["base_ref"]).strict and not await call.git.is_ancestor(
        pull["base_sha"], pull["head_sha"]
    ):
        return "behind"
    if await merge_blocks(call, pull):
        return "blocked"
    return "unstable" if check_states(call, pull["head_sha"]).unstable else "clean"

"""The forge's own merge queue, which only GraphQL knows (enqueuePullRequest, dequeuePullRequest, mergeQueueEntry)."""

from nightcrew.core.errors import Denied, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import ForgeEntry
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Unreadable, child
from nightcrew.forges.github.graphql import ask_query, run_query
from nightcrew.forges.github.pull import fetch_facts

FIND = """
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { isInMergeQueue mergeQueueEntry { position state } }
  }
}"""
ENQUEUE = """
mutation($id: ID!, $sha: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $sha}) { mergeQueueEntry { position } }
}"""
DEQUEUE = """
mutation($id: ID!) {
  dequeuePullRequest(input: {id: $id}) { mergeQueueEntry { position } }
}"""


async def find_entry(api: Api, project: str, number: int) -> ForgeEntry | None:
    owner, _, name = project.partition("/")
    data = (await ask_query(api, FIND, {"owner": owner, "name": name, "number": number})).get()
    try:
        pull = child(child(data, "repository"), "pullRequest")
        if pull.get("isInMergeQueue") is not True:
            return None
        entry = child(pull, "mergeQueueEntry")
        return ForgeEntry(field.count(entry, "position"), field.text(entry, "state"))
    except Unreadable as error:
        raise Unavailable(f"the merge queue of {project} is not understood: {error}") from error


async def enqueue(api: Api, project: str, number: int, *, sha: Sha) -> None:
    await run_query(api, ENQUEUE, {"id": await _node_id(api, project, number), "sha": str(sha)}, repeatable=False)


async def dequeue(api: Api, project: str, number: int) -> None:
    if await find_entry(api, project, number) is not None:
        await run_query(api, DEQUEUE, {"id": await _node_id(api, project, number)})


async def _node_id(api: Api, project: str, number: int) -> str:
    facts = await fetch_facts(api, project, number)
    if not facts.node_id:
        raise Denied(f"{project}#{number} cannot be put into a merge queue: the forge gives no node id")
    return facts.node_id

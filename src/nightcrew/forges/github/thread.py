"""Review threads, which only GraphQL knows: what was said in each, answering, and settling it."""

from nightcrew.core.errors import Unavailable
from nightcrew.core.model.issue import GHOST
from nightcrew.core.model.pull import Remark
from nightcrew.core.model.thread import Thread
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import fit_body
from nightcrew.forges.github.field import Json, Unreadable, as_object, child, children
from nightcrew.forges.github.graphql import ask_query, run_query

_REMARKS = """
    pageInfo { hasNextPage endCursor }
    nodes { databaseId author { __typename login } body createdAt diffHunk pullRequestReview { databaseId } }
"""
LIST = (
    """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved isOutdated path line comments(first: 50) {"""
    + _REMARKS
    + """} }
      }
    }
  }
}"""
)
MORE = (
    """
query($id: ID!, $after: String) {
  node(id: $id) { ... on PullRequestReviewThread { comments(first: 100, after: $after) {"""
    + _REMARKS
    + """} } }
}"""
)
REPLY = """
mutation($thread: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $thread, body: $body}) { comment { databaseId } }
}"""
RESOLVE = "mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { isResolved } } }"


async def list_all(api: Api, project: str, number: int) -> tuple[Thread, ...]:
    owner, _, name = project.partition("/")
    found: list[Thread] = []
    after: str | None = None
    while True:
        variables = {"owner": owner, "name": name, "number": number, "after": after}
        data = (await ask_query(api, LIST, variables)).get()
        page = child(child(child(data, "repository"), "pullRequest"), "reviewThreads")
        if "nodes" not in page:
            raise Unavailable(f"the answer about {project}#{number} has no threads in it")
        try:
            for raw in children(page, "nodes"):
                found.append(await _read(api, raw))
            after = _next(page)
        except Unreadable as error:
            raise Unavailable(f"the threads of {project}#{number} are not understood: {error}") from error
        if after is None:
            return api.memory.settle(api.of(project, f"/pulls/{number}#threads"), tuple(found))


async def reply(api: Api, thread: Thread, *, body: str) -> int:
    sent = {"thread": thread.id, "body": fit_body(body)}
    data = await run_query(api, REPLY, sent, repeatable=False)
    try:
        return field.number(child(child(data, "addPullRequestReviewThreadReply"), "comment"), "databaseId")
    except Unreadable as error:
        raise Unavailable(f"the answer to a reply is not understood: {error}") from error


async def resolve(api: Api, thread: Thread) -> None:
    await run_query(api, RESOLVE, {"thread": thread.id})


async def _read(api: Api, raw: Json) -> Thread:
    path, line = field.text(raw, "path"), raw.get("line")
    place = line if isinstance(line, int) else None
    identity, page = field.text(raw, "id"), child(raw, "comments")
    said = children(page, "nodes")
    while (after := _next(page)) is not None:
        data = (await ask_query(api, MORE, {"id": identity, "after": after})).get()
        page = child(child(data, "node"), "comments")
        said += children(page, "nodes")
    return Thread(
        id=identity,
        path=path,
        line=place,
        is_resolved=raw.get("isResolved") is True,
        is_outdated=raw.get("isOutdated") is True,
        hunk=field.text(said[0], "diffHunk") if said else "",
        remarks=tuple(_remark(one, path, place) for one in said),
    )


def _next(page: Json) -> str | None:
    """Where the next page begins, None after the last."""
    info = child(page, "pageInfo")
    cursor = info.get("endCursor")
    return cursor if info.get("hasNextPage") is True and isinstance(cursor, str) else None


def _remark(raw: Json, path: str, line: int | None) -> Remark:
    author, review = raw.get("author"), raw.get("pullRequestReview")
    who = as_object(author) if author is not None else {}
    is_bot = who.get("__typename") == "Bot"
    login = str(who.get("login") or GHOST)
    return Remark(
        id=field.number(raw, "databaseId"),
        review=field.number(as_object(review), "databaseId") if review is not None else None,
        # REST names bots with a suffix, GraphQL without.
        author=f"{login}[bot]" if is_bot and not login.endswith("[bot]") else login,
        path=path,
        line=line,
        body=field.text(raw, "body"),
        created_at=field.moment(raw, "createdAt"),
        is_bot=is_bot,
    )

"""Where queries and mutations begin: finding the repository or node that is meant, who may, and changing it."""

from collections.abc import Callable
from typing import Any

from graphql import GraphQLError

from nightcrew.forges.local.access import check_permission
from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.comment import check_body
from nightcrew.forges.local.error import Refusal
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.graphql.board import BOARD, find_item, get_board, show_board, show_owner
from nightcrew.forges.local.graphql.board_change import board_changes
from nightcrew.forges.local.graphql.connection import Shown
from nightcrew.forges.local.graphql.view import (
    THREAD,
    moved_paths,
    names,
    not_resolved,
    parse_node_id,
    show_comment,
    show_entry,
    show_pull,
    show_repository,
    show_thread,
)
from nightcrew.forges.local.merge_queue import advance_queues, drop, enqueue, find_entry
from nightcrew.forges.local.pull_view import PULL
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row


def make_root(call: Call, rate_limit: Callable[[Any], Shown]) -> Shown:
    """The fields of Query and Mutation, for who asks."""

    async def repository(_info: Any, owner: str, name: str, **_more: Any) -> Shown:
        here = await _find_repository(call, owner, name)
        _allow(here, "metadata=read")
        return show_repository(here)

    async def node(_info: Any, id: str) -> Shown:  # noqa: A002 - the name is the schema's
        if names(id, BOARD):
            return show_board(call, get_board(call, id, "read"))
        here, first, pull = await _find_thread(call, id)
        _allow(here, "pull_requests=read")
        return show_thread(here, first, await moved_paths(here, first["commit_id"], pull["head_sha"]))

    def nodes(_info: Any, ids: list[str]) -> list[Any]:
        return [_item_or_error(call, text) for text in ids]

    def owner(_info: Any, login: str) -> Shown | None:
        return show_owner(call, login)

    def viewer(_info: Any) -> Shown:
        return {"login": call.user.login}

    async def resolve(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        here, first, pull = await _find_thread(call, input["threadId"])
        _allow(here, "pull_requests=write", role="write", unless=pull["user_id"])
        call.store.run(
            "INSERT OR IGNORE INTO resolved_thread (comment_id, user_id, at) VALUES (?, ?, ?)",
            first["id"], call.user.id, call.at,
        )  # fmt: skip
        touch(here, pull["issue_id"])
        return {"thread": show_thread(here, first, frozenset())}

    async def reply(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        here, first, pull = await _find_thread(call, input["pullRequestReviewThreadId"])
        _allow(here, "pull_requests=write")
        columns = {name: first[name] for name in first.keys() if name != "id"}  # noqa: SIM118 - a Row iterates its values
        columns |= {"user_id": call.user.id, "body": _body(input["body"]), "in_reply_to": first["id"]}
        key = call.store.insert("review_comment", **{**columns, "created_at": call.at, "updated_at": call.at})
        touch(here, pull["issue_id"])
        return {"comment": show_comment(here, call.store.get("SELECT * FROM review_comment WHERE id = ?", key))}

    async def mark_ready(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        pull = call.store.find(f"{PULL} WHERE pull.issue_id = ?", parse_node_id(input["pullRequestId"], "PullRequest"))
        here, row = await _of_pull(call, pull)
        _allow(here, "pull_requests=write", role="write", unless=row["user_id"])
        if row["draft"]:
            call.store.update("pull", row["id"], draft=0)
            record_event(here, row["issue_id"], "ready_for_review")
            touch(here, row["issue_id"])
        return {"pullRequest": show_pull(here, here.store.get(f"{PULL} WHERE pull.id = ?", row["id"]))}

    return {
        "repository": repository,
        "node": node,
        "nodes": nodes,
        "repositoryOwner": owner,
        "viewer": viewer,
        "rateLimit": rate_limit,
        "resolveReviewThread": resolve,
        "addPullRequestReviewThreadReply": reply,
        "markPullRequestReadyForReview": mark_ready,
        **queue_changes(call),
        **board_changes(call),
    }


def queue_changes(call: Call) -> Shown:
    """Into the merge queue, and out of it."""

    async def into(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        here, row = await _get_pull(call, input["pullRequestId"])
        refusal = await enqueue(here, row, input.get("expectedHeadOid"))
        if refusal:
            raise GraphQLError(refusal, extensions={"type": "UNPROCESSABLE"})
        shown = show_entry(here, row)
        await advance_queues(here)
        return {"mergeQueueEntry": shown}

    async def out(_info: Any, input: Shown) -> Shown:  # noqa: A002 - the name is the schema's
        here, row = await _get_pull(call, input["id"])
        found, shown = find_entry(here, row), show_entry(here, row)
        if found is None:
            raise GraphQLError("Pull request is not in the merge queue", extensions={"type": "UNPROCESSABLE"})
        await drop(here, found[1])
        return {"mergeQueueEntry": shown}

    return {"enqueuePullRequest": into, "dequeuePullRequest": out}


async def _get_pull(call: Call, text: str) -> tuple[Call, Row]:
    """A pull request that who asks may merge."""
    pull = call.store.find(f"{PULL} WHERE pull.issue_id = ?", parse_node_id(text, "PullRequest"))
    here, row = await _of_pull(call, pull)
    _allow(here, "pull_requests=write", role="write")
    return here, row


def _item_or_error(call: Call, text: str) -> Shown | GraphQLError:
    """What is found, or the error in its place: the others of the list are shown all the same."""
    try:
        return find_item(call, text)
    except GraphQLError as error:
        return error


async def _find_repository(call: Call, owner: str, name: str) -> Call:
    """The repository, by its name or by one that it had."""
    row = call.store.find(f"{REPOSITORY} WHERE login = ? AND repository.name = ?", owner, name) or call.store.find(
        f"{REPOSITORY} JOIN former_name ON repository_id = repository.id"
        " WHERE former_name.owner = ? AND former_name.name = ?",
        owner,
        name,
    )
    here = await call.visit(row) if row is not None and call.visit is not None else None
    if here is None:
        raise not_resolved(f"a Repository with the name '{owner}/{name}'")
    return here


async def _find_thread(call: Call, text: str) -> tuple[Call, Row, Row]:
    """Its repository, its first comment and its pull request."""
    first = call.store.find(
        "SELECT * FROM review_comment WHERE id = ? AND in_reply_to IS NULL", parse_node_id(text, THREAD)
    )
    if first is None:
        raise not_resolved(f"a node with the global id of '{text[:80]}'")
    here, pull = await _of_pull(call, call.store.find(f"{PULL} WHERE pull.issue_id = ?", first["issue_id"]))
    return here, first, pull


async def _of_pull(call: Call, pull: Row | None) -> tuple[Call, Row]:
    row = call.store.find(f"{REPOSITORY} WHERE repository.id = ?", pull["repository_id"]) if pull is not None else None
    here = await call.visit(row) if row is not None and call.visit is not None else None
    if here is None or pull is None:
        raise not_resolved("a node that you may see")
    return here, pull


def _allow(call: Call, needs: str, *, role: str = "read", unless: int | None = None) -> None:
    """FORBIDDEN for a token or person that may not; `unless` is who may in any case."""
    asked = "read" if call.user.id == unless else role
    try:
        check_permission(call, Route("POST", "~", _unused, needs=needs, role=asked))
    except Refusal as refusal:
        raise GraphQLError(str(refusal), extensions={"type": "FORBIDDEN"}) from refusal


async def _unused(_call: Call) -> Answer:
    return Answer(500)


def _body(text: str) -> str:
    try:
        return check_body(text)
    except Refusal as refusal:
        raise GraphQLError(str(refusal), extensions={"type": "UNPROCESSABLE"}) from refusal

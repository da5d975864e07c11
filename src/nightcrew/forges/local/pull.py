"""Pull requests: list, show, create, change; their commits and files. Merging is in `merge`."""

from nightcrew.forges.local.call import Answer, Call, Route, text_of
from nightcrew.forges.local.commit import render_commit, render_file
from nightcrew.forges.local.diff import diff_files
from nightcrew.forges.local.error import Refusal, flaw, forbidden, invalid, not_found
from nightcrew.forges.local.event import record_event, touch
from nightcrew.forges.local.issue import change_issue, check_text, insert_issue
from nightcrew.forges.local.issue_list import parse_order
from nightcrew.forges.local.page import page_of, page_of_rows
from nightcrew.forges.local.pull_view import PULL, render_pull, render_single
from nightcrew.forges.local.store import Row, Value

FILES_LISTED = 3000
COMMITS_LISTED = 250
_SORTS = {
    "created": "issue.created_at",
    "updated": "issue.updated_at",
    "popularity": "issue.number",
    "long-running": "issue.created_at",
}


def get_pull(call: Call) -> Row:
    row = call.store.find(
        f"{PULL} WHERE repository_id = ? AND number = ? AND deleted = 0", call.repo["id"], call.params["number"]
    )
    if row is None:
        raise not_found()
    return row


def reload_pull(call: Call, row: Row) -> Row:
    return call.store.get(f"{PULL} WHERE pull.id = ?", row["id"])


async def list_pulls(call: Call) -> Answer:
    """`state`, `head` (`owner:branch`), `base`; newest first unless sorted otherwise."""
    state = call.query.get("state") or "open"
    if state not in {"open", "closed", "all"}:
        raise invalid(flaw("PullRequest", "invalid", "state"))
    where, values = ["repository_id = ?", "deleted = 0"], list[Value]([call.repo["id"]])
    if state != "all":
        where.append("issue.state = ?")
        values.append(state)
    if base := call.query.get("base"):
        where.append("base_ref = ?")
        values.append(base)
    owner, colon, branch = call.query.get("head", "").partition(":")
    if colon:
        # Without an owner GitHub takes no notice of the filter; another owner's branch is never here.
        where.append("head_ref = ?" if owner.lower() == call.repo["owner"].lower() else "head_ref = ? AND 0")
        values.append(branch)
    plain = call.query.get("sort", "created") == "created"
    order = parse_order(call, _SORTS, direction="desc" if plain else "asc", resource="PullRequest")
    sql = f"{PULL} WHERE {' AND '.join(where)} {order}"
    return page_of_rows(call, sql, *values, render=lambda row: render_pull(call, row))


async def show_pull(call: Call) -> Answer:
    return Answer(200, await render_single(call, get_pull(call)))


async def create_pull(call: Call) -> Answer:
    """Refuses what git says is no pull request: no such branch, no common history, no commits."""
    body = call.body()
    head_name = text_of(body, "head").removeprefix(f"{call.repo['owner']}:")
    base_name = text_of(body, "base")
    title, text = text_of(body, "title"), body.get("body")
    check_text("PullRequest", title, text)
    head, base = await call.git.branch(head_name), await call.git.branch(base_name)
    if head is None:
        raise invalid(flaw("PullRequest", "invalid", "head"))
    if base is None:
        raise invalid(flaw("PullRequest", "invalid", "base"))
    _refuse_duplicate(call, head_name, base_name)
    if await call.git.merge_base(base, head) is None:
        text = f"The {head_name} branch has no history in common with {base_name}"
        raise invalid(flaw("PullRequest", "custom", "", text))
    if await call.git.count(f"{base}..{head}") == 0:
        raise invalid(flaw("PullRequest", "custom", "", f"No commits between {base_name} and {head_name}"))
    with call.store.transaction():
        issue_id = insert_issue(call, title, text, is_pull=True)
        key = call.store.insert(
            "pull",
            issue_id=issue_id,
            head_ref=head_name,
            head_sha=head,
            base_ref=base_name,
            base_sha=base,
            draft=bool(body.get("draft")),
        )
    row = call.store.get(f"{PULL} WHERE pull.id = ?", key)
    await call.git.set_ref(f"refs/pull/{row['number']}/head", head)
    shown = await render_single(call, row)
    return Answer(201, shown, {"Location": shown["url"]})


def _refuse_duplicate(call: Call, head: str, base: str) -> None:
    same = call.store.find(
        f"{PULL} WHERE repository_id = ? AND issue.state = 'open' AND head_ref = ? AND base_ref = ?",
        call.repo["id"],
        head,
        base,
    )
    if same is not None:
        text = f"A pull request already exists for {call.repo['owner']}:{head}."
        raise invalid(flaw("PullRequest", "custom", "", text))


async def update_pull(call: Call) -> Answer:
    row, body = get_pull(call), call.body()
    if not call.may("write") and row["user_id"] != call.user.id:
        raise forbidden("Must have admin rights to Repository.")
    state = body.get("state")
    if state == "open" and row["state"] == "closed":
        await _reopen(call, row)
    new_base = body.get("base")
    if new_base and new_base != row["base_ref"]:
        await _retarget(call, row, str(new_base))
    change_issue(call, call.store.get("SELECT * FROM issue WHERE id = ?", row["issue_id"]), body)
    return Answer(200, await render_single(call, reload_pull(call, row)))


async def _reopen(call: Call, row: Row) -> None:
    if row["merged_at"]:
        raise _state_flaw("state cannot be changed. The pull request cannot be reopened.")
    head, base = await call.git.branch(row["head_ref"]), await call.git.branch(row["base_ref"])
    if head is None or base is None:
        gone = row["head_ref"] if head is None else row["base_ref"]
        raise _state_flaw(f"state cannot be changed. The {gone} branch has been deleted.")
    if head != row["head_sha"] and not await call.git.is_ancestor(row["head_sha"], head):
        raise _state_flaw(f"state cannot be changed. The {row['head_ref']} branch was force-pushed or recreated.")
    if await call.git.count(f"{base}..{head}") == 0:
        raise _state_flaw(f"state cannot be changed. There are no new commits on the {row['head_ref']} branch.")
    await call.git.set_ref(f"refs/pull/{row['number']}/head", head)
    call.store.update("pull", row["id"], head_sha=head, base_sha=base)


def _state_flaw(message: str) -> Refusal:
    return invalid(flaw("PullRequest", "invalid", "state", message))


async def _retarget(call: Call, row: Row, base_name: str) -> None:
    base = await call.git.branch(base_name)
    if base is None:
        text = f"Proposed base branch '{base_name}' was not found"
        raise invalid(flaw("PullRequest", "invalid", "base", text))
    if row["state"] == "closed":
        raise invalid(flaw("PullRequest", "invalid", "base", "Cannot change the base branch of a closed pull request."))
    if await call.git.count(f"{base}..{row['head_sha']}") == 0:
        text = f"There are no new commits between base branch '{base_name}' and head branch '{row['head_ref']}'"
        raise invalid(flaw("PullRequest", "custom", "base", text))
    _refuse_duplicate(call, row["head_ref"], base_name)
    with call.store.transaction():
        call.store.update("pull", row["id"], base_ref=base_name, base_sha=base)
        record_event(call, row["issue_id"], "base_ref_changed")
        touch(call, row["issue_id"])


async def list_files(call: Call) -> Answer:
    row = get_pull(call)
    fork = await call.git.merge_base(row["base_sha"], row["head_sha"])
    changes = await diff_files(call.git, fork, row["head_sha"]) if fork else []
    return page_of(call, [render_file(call, change, at_sha=row["head_sha"]) for change in changes[:FILES_LISTED]])


async def list_pull_commits(call: Call) -> Answer:
    row = get_pull(call)
    commits = await call.git.commits(f"{row['base_sha']}..{row['head_sha']}")
    return page_of(call, [render_commit(call, commit) for commit in commits[:COMMITS_LISTED]])


_READ, _WRITE = "pull_requests=read", "pull_requests=write"

ROUTES = [
    Route("GET", "~/pulls", list_pulls, needs=_READ),
    Route("POST", "~/pulls", create_pull, needs=_WRITE, role="write"),
    Route("GET", "~/pulls/{number:int}", show_pull, needs=_READ),
    Route("PATCH", "~/pulls/{number:int}", update_pull, needs=_WRITE),
    Route("GET", "~/pulls/{number:int}/files", list_files, needs=_READ),
    Route("GET", "~/pulls/{number:int}/commits", list_pull_commits, needs=_READ),
]

"""Comments on issues and pull requests (the conversation, not remarks on lines)."""

from datetime import datetime

from nightcrew.core.model.issue import Comment
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import fit_body
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing, walk


def parse_comment(raw: Json) -> Comment:
    return Comment(
        id=field.number(raw, "id"),
        author=field.login(raw),
        body=field.text(raw, "body"),
        created_at=field.moment(raw, "created_at"),
        updated_at=field.moment(raw, "updated_at"),
        is_bot=field.is_bot(raw),
        thread=_thread(raw),
    )


def _thread(raw: Json) -> int:
    """The number at the end of the address of its issue; 0 if it has none."""
    digits = field.text(raw, "issue_url").rpartition("/")[2]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


async def list_all(api: Api, project: str, number: int) -> tuple[Comment, ...]:
    """GitHub lists them by ascending id."""
    url = api.of(project, f"/issues/{number}/comments", per_page=PER_PAGE)
    return await api.list(Listing(url, parse_comment, key=lambda raw: field.number(raw, "id")))


async def list_updated(api: Api, project: str, *, known_at: datetime) -> tuple[Comment, ...]:
    """Of the whole repository: the first page, and further ones only until what is known. The address has no moving
    `since`, so that a quiet list is answered by 304."""
    url = api.of(project, "/issues/comments", sort="updated", direction="desc", per_page=PER_PAGE)
    listing = Listing(
        url,
        parse_comment,
        key=lambda raw: field.moment(raw, "updated_at"),
        stop=lambda updated_at: updated_at < known_at,
    )
    # A comment that is edited while pages are read is seen twice; the one further in front is newer.
    newest: dict[int, Comment] = {}
    for page in await walk(api, listing):
        for comment in page.items:
            if comment.updated_at >= known_at:
                newest.setdefault(comment.id, comment)
    return api.memory.settle(url, tuple(newest.values()))


async def create(api: Api, project: str, number: int, *, body: str) -> Comment:
    url = api.of(project, f"/issues/{number}/comments")
    answer = await api.write("POST", url, {"body": fit_body(body)}, repeatable=False)
    return api.parse(answer, parse_comment)


async def update(api: Api, project: str, comment_id: int, *, body: str) -> None:
    url = api.of(project, f"/issues/comments/{comment_id}")
    await api.write("PATCH", url, {"body": fit_body(body)}, repeatable=True)

"""Comments on issues and pull requests (the conversation, not remarks on lines)."""

from nightcrew.core.model.issue import Comment
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import fit_body
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing


def parse_comment(raw: Json) -> Comment:
    return Comment(
        id=field.number(raw, "id"),
        author=field.login(raw),
        body=field.text(raw, "body"),
        created_at=field.moment(raw, "created_at"),
        updated_at=field.moment(raw, "updated_at"),
        is_bot=field.is_bot(raw),
    )


async def list_all(api: Api, project: str, number: int) -> tuple[Comment, ...]:
    """GitHub lists them by ascending id."""
    url = api.of(project, f"/issues/{number}/comments", per_page=PER_PAGE)
    return await api.list(Listing(url, parse_comment, key=lambda raw: field.number(raw, "id")))


async def create(api: Api, project: str, number: int, *, body: str) -> Comment:
    url = api.of(project, f"/issues/{number}/comments")
    answer = await api.write("POST", url, {"body": fit_body(body)}, repeatable=False)
    return api.parse(answer, parse_comment)


async def update(api: Api, project: str, comment_id: int, *, body: str) -> None:
    url = api.of(project, f"/issues/comments/{comment_id}")
    await api.write("PATCH", url, {"body": fit_body(body)}, repeatable=True)

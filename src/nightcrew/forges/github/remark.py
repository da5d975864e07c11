"""Review comments on lines, and how two commits stand to each other."""

from urllib.parse import quote

from nightcrew.core.model.pull import Comparison, Remark
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing

HUNK_AT_MOST = 8000


def parse_remark(raw: Json) -> Remark:
    """`line` is null where the diff has moved on; the old place is not of use to anybody then."""
    line = raw.get("line")
    review = raw.get("pull_request_review_id")
    reply_to = raw.get("in_reply_to_id")
    return Remark(
        id=field.number(raw, "id"),
        review=review if isinstance(review, int) else None,
        author=field.login(raw),
        path=field.text(raw, "path"),
        line=line if isinstance(line, int) else None,
        body=field.text(raw, "body"),
        created_at=field.moment(raw, "created_at"),
        is_bot=field.is_bot(raw),
        reply_to=reply_to if isinstance(reply_to, int) else None,
        hunk=field.text(raw, "diff_hunk")[:HUNK_AT_MOST],
    )


async def list_all(api: Api, project: str, number: int) -> tuple[Remark, ...]:
    url = api.of(project, f"/pulls/{number}/comments", per_page=PER_PAGE)
    return await api.list(Listing(url, parse_remark, key=lambda raw: field.number(raw, "id")))


def parse_comparison(raw: Json) -> Comparison:
    return Comparison(
        ahead=field.number(raw, "ahead_by"),
        behind=field.number(raw, "behind_by"),
        merge_base=field.sha(field.child(raw, "merge_base_commit"), "sha"),
    )


async def compare(api: Api, project: str, *, base: str, head: str) -> Comparison:
    """One page of one commit: only the counts are of use."""
    span = f"{quote(base, safe='')}...{quote(head, safe='')}"
    return await api.get(api.of(project, f"/compare/{span}", per_page=1), parse_comparison)

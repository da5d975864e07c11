"""Markdown of an agent as a message: fenced code is code, all else is text as it stands. Nothing in it becomes a link,
a mention or any other markup."""

from nightcrew.core.chat.message import Span, Style
from nightcrew.core.fence import closes, find_opening


def spans_of(text: str) -> tuple[Span, ...]:
    """The pieces, in order. A block that is left open goes to the end."""
    spans: list[Span] = []
    plain: list[str] = []
    code: list[str] = []
    fence = ""
    for line in text.splitlines():
        if fence and closes(line, fence):
            spans += _block(code)
            code, fence = [], ""
        elif fence:
            code.append(line)
        elif opening := find_opening(line):
            spans += _plain(plain)
            plain, fence = [], opening
        else:
            plain.append(line)
    return (*spans, *(_block(code) if fence else _plain(plain)))


def _plain(lines: list[str]) -> list[Span]:
    text = "\n".join(lines)
    return [Span(text + "\n")] if text.strip() else []


def _block(lines: list[str]) -> list[Span]:
    text = "\n".join(lines)
    return [Span(text, Style.BLOCK), Span("\n")] if text.strip() else []

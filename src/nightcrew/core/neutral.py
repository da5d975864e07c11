"""Making text from outside harmless where the forge, git or a terminal would act on it; the words stay readable.

Facts: GitHub notifies for `@name` and `@org/team`, and closes issues for its closing keywords before `#n` or a link
(docs: "Linking a pull request to an issue"); git reads trailers from the last paragraph of a message.
"""

import re

from nightcrew.core.hidden import strip_comments

_WORD_JOINER = "\u2060"
_MENTION = re.compile(r"@(?=[A-Za-z0-9])")
_CLOSING = re.compile(
    r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b(:?\s+)(?=(?:[\w.-]+/[\w.-]+)?#\d|https?://|GH-\d)", re.IGNORECASE
)
# What begins an element, a comment or a declaration (CommonMark 0.31, section 6.6), but for links in angle brackets.
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!https?://[^\s<>]*>)")
_TARGET = re.compile(r"\](?=[(\[:])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
_PICTURE = r"[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f]"
# A joiner between two pictures makes one of them, which a reader does see.
_INVISIBLE = re.compile(
    rf"[\u200b\u200c\u2060\ufeff\u00ad\u180e\U000e0000-\U000e007f]|(?<!{_PICTURE})\u200d|\u200d(?!{_PICTURE})"
)


def neutralise_mentions(text: str) -> str:
    """Put a word joiner behind each @ that would notify somebody; the text looks the same."""
    return _MENTION.sub("@" + _WORD_JOINER, text)


def neutralise_closing(text: str) -> str:
    """Keep closing keywords from closing issues: a word joiner goes into the reference that follows."""
    return _CLOSING.sub(lambda match: match[1] + match[2] + _WORD_JOINER, text)


def neutralise_comments(text: str) -> str:
    """Keep text from hiding what follows it in an HTML comment: a word joiner goes into each opening."""
    return text.replace("<!--", "<" + _WORD_JOINER + "!--")


def neutralise_markup(text: str) -> str:
    """Keep text from becoming elements of a page, and pictures that a reader's browser would fetch: a word joiner goes
    behind each `<` of a tag (comments too), and between `!` and `[`."""
    return _TAG.sub("<" + _WORD_JOINER, text).replace("![", "!" + _WORD_JOINER + "[")


def strip_controls(text: str) -> str:
    """Without control and bidirectional characters; line ends and tabs stay (CRLF becomes LF)."""
    if text.isprintable():
        return text  # nothing of the kind is printable, and most text is
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _BIDI.sub("", _CONTROL.sub("", unified))


def one_line(text: str, limit: int = 200) -> str:
    """Text as one harmless line of at most `limit` characters, for logs, titles and commit subjects."""
    flat = " ".join(strip_controls(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def forge_text(text: str) -> str:
    """Text of agents or issues as it may stand in a commit or a title, which nobody renders."""
    return neutralise_comments(neutralise_closing(neutralise_mentions(strip_controls(text))))


def page_text(text: str) -> str:
    """Text of agents or issues as a part of a page in Markdown: pull request, comment, report."""
    return neutralise_markup(neutralise_closing(neutralise_mentions(strip_controls(text))))


def page_line(text: str, limit: int = 200) -> str:
    """A title, name or reason in one line of such a page. It makes no links either, since nobody who writes a title
    should say where a click on a page of ours leads."""
    return one_line(_TARGET.sub("]" + _WORD_JOINER, page_text(text)), limit)


def strip_hidden(text: str) -> tuple[str, int]:
    """Take out what a reader of the rendered page would not see: HTML comments outside code, zero-width and
    bidirectional characters. Returns the text and how many pieces were taken out."""
    visible, comments = strip_comments(text.replace("\r\n", "\n").replace("\r", "\n"))
    visible, invisible = strip_invisible(visible)
    return visible, comments + invisible


def strip_invisible(text: str) -> tuple[str, int]:
    """Take out zero-width and bidirectional characters, and controls; for texts that are shown as they are, like titles
    and logs. Returns the text and how many of the first two were taken out."""
    visible, invisible = _INVISIBLE.subn("", text)
    bidi = len(_BIDI.findall(visible))
    return strip_controls(visible), invisible + bidi

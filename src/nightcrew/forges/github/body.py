"""Fitting text into what GitHub takes: 65,536 characters for a body, 256 for a title, 140 for a status."""

BODY_AT_MOST = 65_536
TITLE_AT_MOST = 256
STATUS_AT_MOST = 140
NOTICE = "\n\n*(cut: the text is longer than the forge takes)*"
_FENCE = "`" * 3


def fit_body(text: str, *, at_most: int = BODY_AT_MOST) -> str:
    """`text`, cut at a line where it is too long, with an open code fence closed and a notice at the end."""
    whole = clean_text(text)
    if len(whole) <= at_most:
        return whole
    cut = whole[: at_most - len(NOTICE) - 80]
    line_end = cut.rfind("\n")
    cut = cut[:line_end] if line_end > len(cut) // 2 else cut
    return cut + _closing_fence(cut) + NOTICE


def fit_title(text: str, *, at_most: int = TITLE_AT_MOST) -> str:
    """`text` on one line, cut with an ellipsis."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= at_most else line[: at_most - 1].rstrip() + "…"


def clean_text(text: str) -> str:
    """`text` without what cannot be sent: lone surrogates become question marks, NUL goes."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _closing_fence(text: str) -> str:
    """What closes the code fence that is still open at the end of `text`."""
    opened = ""
    for line in text.split("\n"):
        mark = line.strip()
        if opened:
            if mark.startswith(opened) and not mark.strip(opened[0]):
                opened = ""
        elif mark.startswith((_FENCE, "~~~")):
            opened = mark[: len(mark) - len(mark.lstrip(mark[0]))][:60]
    return f"\n{opened}" if opened else ""

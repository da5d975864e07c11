"""The lines of a text on the forge as its reader sees them, each told apart: words, or code. What people quote, show as
code, strike out or hide, they do not say."""

import re
from collections.abc import Iterator

from nightcrew.core.neutral import strip_hidden

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|~~.*?~~")
_QUOTE = re.compile(r" {0,3}>")


def read_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line that a reader sees, with whether it is words (True) or code."""
    visible, _hidden = strip_hidden(text)
    fence = ""
    after_blank = True
    for line in visible.splitlines():
        mark = _FENCE.match(line)
        if fence:
            # Whatever stands behind an open fence is code, even if it is never closed: a reader sees it so.
            if mark and mark[1].startswith(fence) and not line.strip().strip(mark[1][0]):
                fence = ""
            yield line, False
            continue
        if mark:
            fence = mark[1]
            yield line, False
            continue
        is_code = line.startswith(("    ", "\t")) and after_blank
        after_blank = not line.strip()
        yield line, not is_code


def said_lines(text: str) -> Iterator[str]:
    """The lines that whoever wrote the text says themselves: without quotes, code, and what is struck out."""
    for line, is_words in read_lines(text):
        if is_words and not _QUOTE.match(line):
            yield _SPAN.sub(" ", line)

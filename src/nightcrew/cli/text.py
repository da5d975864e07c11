"""Text from outside, made safe for a terminal, and how wide text is on one.

Titles, comments, logs and diffs are written by strangers. Nothing of theirs may move the cursor, set the clipboard,
change colours, forge a line of output or reverse the order of what is read.
"""

import re

# Strings that a terminal takes in up to their end (OSC, DCS, SOS, PM, APC), then CSI sequences, then other escapes.
# Both the two-byte and the one-character (C1) forms; an open string ends with the line at the latest.
_SEQUENCE = re.compile(
    "(?:\x1b[\\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
)
# Controls; marks and overrides of direction; what is not shown but can hide or forge text; halves of surrogate pairs.
# Joiners (U+200C, U+200D) stay: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAK = re.compile("\r\n?|\n|\x0b|\x0c|\x1c|\x1d|\x1e|\x85|\u2028|\u2029")
_SPACE = re.compile(r"\s+")


def clean(text: object) -> str:
    """One line: breaks and runs of white space become one space, everything that a terminal obeys is gone."""
    line = str(text)
    if line.isascii() and line.isprintable():
        return line
    return _SPACE.sub(" ", _strip(_BREAK.sub(" ", line))).strip()


def clean_lines(text: str) -> str:
    """Many lines: line breaks and tabs stay, everything else that a terminal obeys is gone."""
    return _strip(_BREAK.sub("\n", text))


def reveal(text: str) -> str:
    """Many lines, for reading code: what a terminal would obey or hide is shown as `<U+202E>`, not dropped."""
    return _HIDDEN.sub(lambda match: f"<U+{ord(match.group()):04X}>", text.replace("\r\n", "\n"))


def width(text: str) -> int:
    """Columns that cleaned text takes."""
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def cut(text: str, columns: int) -> str:
    """Text of at most so many columns; a cut is marked."""
    if width(text) <= columns:
        return text
    kept: list[str] = []
    room = columns - 1
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…" if columns > 0 else ""


def pad(text: str, columns: int) -> str:
    """Text filled up with spaces to so many columns."""
    return text + " " * max(0, columns - width(text))


def _strip(text: str) -> str:
    return _HIDDEN.sub("", _SEQUENCE.sub("", text))


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    import unicodedata

    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1

"""Linking a board to a project in a config.yml that a person wrote: one line is put in, changed or taken out, and the
rest stays as it is. Where that cannot be done for sure, nothing is written, and the message says what to write."""

import yaml

from nightcrew.config.document import compose_node, parse_document
from nightcrew.config.template import render_scalar
from nightcrew.core.errors import ConfigError, Problem

_KEY, _INNER = "board", "project"


def set_board(text: str, name: str, *, slug: str, place: str) -> str:
    """The text with that board linked to the project; `name` is how problems call the file."""
    lines, item = _split(text), _item(text, name, slug)
    value = render_scalar(place)
    if isinstance(item, yaml.ScalarNode):
        start, mark = item.start_mark, item.end_mark
        line = lines[start.line]
        first = f"{line[: start.column]}slug: {line[start.column : mark.column]}{line[mark.column :]}"
        lines[start.line : start.line + 1] = [first, f"{' ' * start.column}{_KEY}: {value}"]
        return _verified(text, lines, name=name, slug=slug, place=place)
    board = _pair(item, _KEY)
    if board is None:
        key = item.value[-1][0].start_mark
        after = _last_line(item.value[-1][1], lines) + 1
        lines.insert(after, f"{' ' * key.column}{_KEY}: {value}")
        return _verified(text, lines, name=name, slug=slug, place=place)
    known, node = board
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        inner = _pair(node, _INNER)
        if inner is None:
            mark = node.value[0][0].start_mark
            lines.insert(mark.line, f"{' ' * mark.column}{_INNER}: {value}")
            return _verified(text, lines, name=name, slug=slug, place=place)
        known, node = inner
    if not isinstance(node, yaml.ScalarNode) or node.end_mark.line != known.start_mark.line:
        raise _by_hand(name, slug)
    line = lines[known.start_mark.line]
    lines[known.start_mark.line] = f"{line[: known.end_mark.column]}: {value}{line[node.end_mark.column :]}"
    return _verified(text, lines, name=name, slug=slug, place=place)


def unset_board(text: str, name: str, *, slug: str) -> str:
    """The text with no board at the project. What else is said about boards there stays for the next one."""
    lines, item = _split(text), _item(text, name, slug)
    board = _pair(item, _KEY) if isinstance(item, yaml.MappingNode) else None
    if board is None:
        raise ConfigError([Problem(name, f"{slug} has no board", "it may be linked under `defaults`")])
    known, node = board
    if isinstance(node, yaml.MappingNode) and not node.flow_style and len(node.value) > 1:
        inner = _pair(node, _INNER)
        if inner is None:
            raise ConfigError([Problem(name, f"{slug} has no board")])
        known, node = inner
    first, last = known.start_mark.line, _last_line(node, lines)
    if lines[first][: known.start_mark.column].strip():  # the line begins the item
        raise _by_hand(name, slug)
    del lines[first : last + 1]
    return _verified(text, lines, name=name, slug=slug, place="")


def _item(text: str, name: str, slug: str) -> yaml.ScalarNode | yaml.MappingNode:
    root = compose_node(text)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    projects = next((value for key, value in pairs if key.value == "projects"), None)
    if not isinstance(projects, yaml.SequenceNode):
        raise ConfigError([Problem(name, f"{slug} is not there")])
    for item in projects.value:
        found = item if isinstance(item, yaml.ScalarNode) else (_pair(item, "slug") or (None, None))[1]
        if isinstance(found, yaml.ScalarNode) and found.value.lower() == slug.lower():
            if projects.flow_style or getattr(item, "flow_style", None) is True:
                raise _by_hand(name, slug)
            return item if isinstance(item, yaml.MappingNode) else found
    raise ConfigError([Problem(name, f"{slug} is not there")])


def _pair(node: yaml.Node, key: str) -> tuple[yaml.ScalarNode, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next(((known, value) for known, value in node.value if known.value == key), None)


def _last_line(node: yaml.Node, lines: list[str]) -> int:
    """The last line that a node's own text stands on."""
    if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
        return max(_last_line(value, lines) for _, value in node.value)
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        return max(_last_line(value, lines) for value in node.value)
    end = node.end_mark
    line = end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
    while line > node.start_mark.line and not lines[min(line, len(lines) - 1)].strip():
        line -= 1
    return int(min(line, len(lines) - 1))


def _verified(before: str, lines: list[str], *, name: str, slug: str, place: str) -> str:
    """The lines as text, if they say what was wanted and everything else as before."""
    newline = "\r\n" if "\r\n" in before else "\n"
    text = "".join(line + newline for line in lines)
    try:
        was, now = parse_document(before, name).value, parse_document(text, name).value
    except ConfigError:
        raise _by_hand(name, slug) from None
    if _without(was, slug) != _without(now, slug) or _board_of(now, slug) != place:
        raise _by_hand(name, slug)
    return text


def _without(document: object, slug: str) -> object:
    """The document but for which board the project has."""
    if not isinstance(document, dict):
        return document
    return {**document, "projects": [_plain(item, slug) for item in document.get("projects") or ()]}


def _plain(item: object, slug: str) -> object:
    entry = {"slug": item} if isinstance(item, str) else item
    if not isinstance(entry, dict) or str(entry.get("slug")).lower() != slug.lower():
        return item
    board = entry.get(_KEY)
    rest = {key: value for key, value in board.items() if key != _INNER} if isinstance(board, dict) else {}
    return {**{key: value for key, value in entry.items() if key != _KEY}, _KEY: rest}


def _board_of(document: object, slug: str) -> str:
    items = document.get("projects") or () if isinstance(document, dict) else ()
    for item in items:
        if isinstance(item, dict) and str(item.get("slug")).lower() == slug.lower():
            board = item.get(_KEY)
            return str((board.get(_INNER) if isinstance(board, dict) else board) or "")
    return ""


def _by_hand(name: str, slug: str) -> ConfigError:
    words = f"the entry of {slug} is written in a way that cannot be changed without touching the rest"
    return ConfigError([Problem(name, words, "write `board: …` there by hand; nothing was written")])


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines

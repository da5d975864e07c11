"""Changes to a config.yml that a person wrote: their comments, their order and their other text stay as they are.

Lines are put in or taken out, then the result is read again and compared with what was wanted. Where that cannot be
done for sure, nothing is written and the message says what to write by hand.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import yaml

from nightcrew.config.document import Document, compose_node, parse_document
from nightcrew.config.layer import parse_file_layer
from nightcrew.config.load import read_text
from nightcrew.config.template import ProjectLine, render_item
from nightcrew.core.errors import ConfigError, Problem

_EMPTY = re.compile(r"projects:[ ]*(?:\[[ ]*\]|~|null)?(?P<comment>[ ]+#.*|)[ ]*")


def add_project(text: str, name: str, *, project: ProjectLine) -> str:
    """The text with one more project. Raises ConfigError if it is there already, or cannot be put in safely; `name`
    is how problems call the file."""
    document = parse_document(text, name)
    projects = _written_projects(document)
    index = _find(projects, project.slug)
    if index is not None:
        raise ConfigError([Problem(document.where(("projects", index)), f"{project.slug} is there already")])
    lines = _split(text)
    place = _place(text, lines, document=document)
    values = project.values()
    item = [*place.heading, *render_item(project, indent=place.indent)]
    changed = _joined(lines[: place.first], item, lines[place.next :], newline=_newline(text))
    return _verified(document, changed, projects=[*projects, values if len(values) > 1 else project.slug])


def remove_project(text: str, name: str, *, slug: str) -> str:
    """The text without this project. Raises ConfigError if it is not there, or cannot be taken out safely."""
    document = parse_document(text, name)
    projects = _written_projects(document)
    index = _find(projects, slug)
    if index is None:
        raise ConfigError([Problem(document.where(("projects",)), f"{slug} is not there")])
    node = _projects_node(text)
    if not isinstance(node, yaml.SequenceNode) or node.flow_style:
        raise _by_hand(document, f"take {slug} out")
    lines = _split(text)
    item = node.value[index]
    changed = _joined(lines[: item.start_mark.line], [], lines[_next_line(item, lines) :], newline=_newline(text))
    return _verified(document, changed, projects=[*projects[:index], *projects[index + 1 :]])


def edit_file(path: Path, change: Callable[[str], str]) -> None:
    """Change a configuration file whole or not at all. Raises ConfigError, with the file as it was, if the result
    would not load or somebody else wrote the file meanwhile."""
    before = read_text(path)
    after = change(before)
    parse_file_layer(after, str(path))
    write_file(path, after, expected=before)


def write_file(path: Path, text: str, *, expected: str | None) -> None:
    """Put `text` in place of a file at once, readable by its owner only. `expected` is what must be there now; None:
    nothing. Raises ConfigError if something else is."""
    now = read_text(path) if path.exists() else None
    if now != expected:
        words = "is there already" if expected is None else "was changed by somebody else meanwhile"
        raise ConfigError([Problem(str(path), words, "nothing was written")])
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError([Problem(str(path), f"cannot be written: {error.strerror or error}")]) from None


class _Place(NamedTuple):
    """Where a new item goes: instead of the lines from `first` to before `next`, after `heading`."""

    first: int
    next: int
    indent: str
    heading: tuple[str, ...] = ()


def _place(text: str, lines: list[str], *, document: Document) -> _Place:
    values = _mapping(document)
    if "projects" not in values:
        root = compose_node(text)
        if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
            raise _by_hand(document, "add the project")
        return _Place(len(lines), len(lines), "  ", ("projects:",))
    node = _projects_node(text)
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        after = _next_line(node, lines)
        return _Place(after, after, " " * node.start_mark.column)
    line = document.places[("projects",)][0] - 1
    match = _EMPTY.fullmatch(lines[line])
    if values["projects"] or match is None:
        raise _by_hand(document, "add the project")
    return _Place(line, line + 1, "  ", (f"projects:{match['comment']}",))


def _projects_node(text: str) -> yaml.Node | None:
    root = compose_node(text)
    if not isinstance(root, yaml.MappingNode):
        return None
    return next((value for key, value in root.value if key.value == "projects"), None)


def _next_line(node: yaml.Node, lines: list[str]) -> int:
    """The line behind a node; blank lines at its end belong to what follows."""
    line = min(_last_line(node), len(lines) - 1)
    while line > node.start_mark.line and not lines[line].strip():
        line -= 1
    return line + 1


def _last_line(node: yaml.Node) -> int:
    """The last line that a node's own text stands on; marks of blocks reach on to what follows them."""
    if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
        return max(_last_line(part) for pair in node.value for part in pair)
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        return max(_last_line(part) for part in node.value)
    end = node.end_mark
    return int(end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line)


def _verified(document: Document, text: str, *, projects: list[object]) -> str:
    wanted = {**_mapping(document), "projects": projects}
    try:
        found = _mapping(parse_document(text, document.name))
    except ConfigError:
        found = {}
    if {**found, "projects": found.get("projects") or []} != wanted:
        raise _by_hand(document, "change the projects")
    return text


def _written_projects(document: Document) -> list[object]:
    projects = _mapping(document).get("projects")
    if projects is not None and not isinstance(projects, list):
        raise ConfigError([Problem(document.where(("projects",)), "must be a list, one `- item` a line")])
    return projects or []


def _mapping(document: Document) -> dict[str, object]:
    if not isinstance(document.value, dict):
        raise ConfigError([Problem(document.where(()), "must be a mapping, one `key: value` a line")])
    return document.value


def _find(projects: list[object], slug: str) -> int | None:
    written = [str(item.get("slug") if isinstance(item, dict) else item).lower() for item in projects]
    return written.index(slug.lower()) if slug.lower() in written else None


def _by_hand(document: Document, what: str) -> ConfigError:
    where = document.where(("projects",))
    words = "is written in a way that cannot be changed without touching the rest"
    return ConfigError([Problem(where, words, f"{what} by hand; nothing was written")])


def _split(text: str) -> list[str]:
    """Lines as YAML counts them, without their ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _joined(before: list[str], middle: list[str], after: list[str], *, newline: str) -> str:
    return "".join(line + newline for line in (*before, *middle, *after))

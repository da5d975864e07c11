"""YAML text as plain values, with the place of every key. What the keys mean is not known here.

Read is the part of YAML that people write by hand: mappings, lists, text, whole and broken numbers, true, false and
null (as in YAML 1.2: `yes`, `no`, `on` and dates are text). Tags and merge keys are refused, and aliases are counted,
since a few of them nested can stand for billions of values.
"""

import math
import re
from dataclasses import dataclass, field

import yaml

from nightcrew.core.errors import ConfigError, Problem

Path = tuple[str | int, ...]

MAX_CHARACTERS = 256_000
MAX_DEPTH = 40
MAX_ALIASES = 100
MAX_NODES = 20_000

_CORE = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Document:
    """The values of one file; `places` has (line, column), counted from 1, of each key and list item."""

    name: str
    value: object
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def where(self, path: Path) -> str:
        """`file:line:key`, with the line of the nearest key above where this one is not written down."""
        known = (self.places[path[:length]] for length in range(len(path), 0, -1) if path[:length] in self.places)
        line, _ = next(known, (1, 1))
        return f"{self.name}:{line}:{render_path(path) or '1'}"


def render_path(path: Path) -> str:
    """A key as people write it: `projects[0].merge.mode`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            shown = part if part.isprintable() and part else ascii(part)
            text += f".{shown}" if text else shown
    return text


def parse_document(text: str, name: str) -> Document:
    """Read one YAML document. Raises ConfigError with `file:line:column` for what is not YAML or not of our part of
    it, and with `file:line:key` for every key that is given twice."""
    if len(text) > MAX_CHARACTERS:
        raise ConfigError([Problem(f"{name}:1:1", f"is longer than {MAX_CHARACTERS:,} characters")])
    root = _compose(text, name)
    reading = _Reading(name)
    value = {} if root is None else reading.value(root, ())
    if reading.problems:
        raise ConfigError(reading.problems)
    return Document(name, {} if value is None else value, reading.places)


def compose_node(text: str) -> yaml.Node | None:
    """The tree of nodes with their marks, for edits that keep the text. Raises yaml.YAMLError."""
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._aliases = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # the stubs have no types for it
        if self.check_event(yaml.AliasEvent):
            self._aliases += 1
            if self._aliases > MAX_ALIASES:
                raise yaml.composer.ComposerError(None, None, f"more than {MAX_ALIASES} aliases", mark)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise yaml.composer.ComposerError(None, None, f"nested deeper than {MAX_DEPTH} levels", mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


_RESOLVERS = (
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("int", re.compile(r"[-+]?[0-9]{1,18}$"), list("-+0123456789")),
    (
        "float",
        re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?$"),
        list("-+.0123456789"),
    ),
)


def copy_resolvers(target: type[yaml.SafeLoader] | type[yaml.SafeDumper]) -> None:
    """Make a loader or dumper tell text from other values as this package does."""
    target.yaml_implicit_resolvers = {}
    for tag, pattern, first in _RESOLVERS:
        target.add_implicit_resolver(_CORE + tag, pattern, first)


copy_resolvers(_Loader)


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        return compose_node(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
        raise ConfigError([Problem(f"{name}:{place}", _words(error), _hint(error, text))]) from None
    except yaml.reader.ReaderError as error:
        before = text[: int(error.position)]
        place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        words = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise ConfigError([Problem(f"{name}:{place}", words)]) from None


def _words(error: yaml.MarkedYAMLError) -> str:
    said = " ".join(part for part in (error.problem, error.context) if part)
    return f"is not YAML: {said}" if said else "is not YAML"


def _hint(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark
    lines = text.splitlines()
    if mark and mark.line < len(lines) and "\t" in lines[mark.line]:
        return "indent with spaces, not with tabs"
    if isinstance(error, yaml.composer.ComposerError) and "single document" in str(error.context):
        return "one file holds one document: remove the `---` between them"
    return ""


class _Reading:
    """Turns nodes into values, noting places and problems."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[Path, tuple[int, int]] = {}
        self.problems: list[Problem] = []
        self._nodes = 0
        self._open: set[int] = set()

    def value(self, node: yaml.Node, path: Path) -> object:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise ConfigError([self._at(node, f"stands for more than {MAX_NODES:,} values; use fewer aliases")])
        if id(node) in self._open:
            raise ConfigError([self._at(node, "contains itself by an alias")])
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
                return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
                return self._mapping(node, path)
        finally:
            self._open.discard(id(node))
        self.problems.append(self._at(node, f"the tag {node.tag!r} is not used here"))
        return None

    def _item(self, node: yaml.Node, path: Path) -> object:
        self._note(node, path)
        return self.value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or key == "":
                self.problems.append(self._at(key_node, "a key must be a word"))
                continue
            if key == "<<":
                self.problems.append(self._at(key_node, "merge keys (`<<`) are not used here"))
                continue
            here = (*path, key)
            if key in found:
                first = self.places[here][0]
                where = f"{self.name}:{key_node.start_mark.line + 1}:{render_path(here)}"
                self.problems.append(Problem(where, f"is given twice, first in line {first}"))
                continue
            self._note(key_node, here)
            found[key] = self.value(value_node, here)
        return found

    def _scalar(self, node: yaml.ScalarNode) -> object:
        text: str = node.value
        match node.tag.removeprefix(_CORE):
            case "str":
                return text
            case "null" if text.lower() in ("", "~", "null"):
                return None
            case "bool" if text.lower() in ("true", "false"):
                return text.lower() == "true"
            case "int" if re.fullmatch(r"[-+]?[0-9]{1,18}", text):
                return int(text)
            case "float" if re.fullmatch(r"[-+0-9.eE]{1,400}", text) and _is_finite(text):
                return float(text)
            case _:
                pass
        shown = node.tag.removeprefix(_CORE)
        self.problems.append(self._at(node, f"{text[:40]!r} is not a usable {shown!r}"))
        return None

    def _note(self, node: yaml.Node, path: Path) -> None:
        self.places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)

    def _at(self, node: yaml.Node, words: str) -> Problem:
        return Problem(f"{self.name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}", words)


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

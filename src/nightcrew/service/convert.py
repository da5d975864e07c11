"""`nightcrew import orch|ao`: another tool's configuration as a config.yml. Its files are only read."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from nightcrew.config.document import parse_document
from nightcrew.config.edit import write_file
from nightcrew.config.environment import load_environment
from nightcrew.config.foreign.ao import convert_ao
from nightcrew.config.foreign.conversion import Conversion, Source
from nightcrew.config.foreign.orch import convert_orch
from nightcrew.config.home import Home
from nightcrew.config.load import parse_configuration
from nightcrew.config.render import render_yaml
from nightcrew.core.errors import ConfigError, Invalid, Missing
from nightcrew.core.neutral import one_line
from nightcrew.service.compose import home_of

_HEAD = "# Made of another tool's configuration. Every key is explained in docs/config.md.\n"


def run_import(home: Path, tool: str, paths: list[Path], *, write: bool, as_json: bool = False) -> int:
    """Print what config.yml would hold and what has no counterpart; with `write`, write it where there is none yet.
    Exit code 1 if the result is not a valid configuration yet, which is said."""
    sources = [Source(str(path.name), _read(path)) for path in paths]
    result = convert_orch(*_split(sources)) if tool == "orch" else _convert_all_ao(sources)
    if not result.values.get("projects"):
        result.remark("projects", "none was found; add each with: nightcrew project add owner/name")
    text = _HEAD + render_yaml(result.values)
    problems = _problems(text)
    place = Home(home)
    if write and not problems:
        home_of(home)
        write_file(place.config, text, expected=None)
    _tell(result, text, problems, written=place.config if write and not problems else None, as_json=as_json)
    return 1 if problems else 0


def _read(path: Path) -> object:
    if not path.is_file():
        raise Missing(f"there is no file {path}")
    try:
        found = parse_document(path.read_text(encoding="utf-8"), path.name).value
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not text in UTF-8") from error
    if not isinstance(found, Mapping) or not found:
        raise Invalid(f"{path} is no configuration: it holds no keys")
    return found


def _split(sources: list[Source]) -> tuple[Source, list[Source]]:
    """The global file of orch, which names projects or none of their keys, and the projects' own."""
    own = [source for source in sources if source.name.startswith(".orch")]
    shared = [source for source in sources if not source.name.startswith(".orch")]
    if len(shared) > 1:
        raise Invalid("give one global config.yml, and the .orch.yml of each repository")
    return (shared[0] if shared else Source("config.yml", {})), own


def _convert_all_ao(sources: list[Source]) -> Conversion:
    if len(sources) != 1:
        raise Invalid("give one agent-orchestrator.yaml")
    return convert_ao(sources[0])


def _problems(text: str) -> tuple[str, ...]:
    try:
        parse_configuration(text, "config.yml", environ=load_environment())
    except ConfigError as error:
        return tuple(str(problem) for problem in error.problems)
    return ()


def _tell(result: Conversion, text: str, problems: tuple[str, ...], *, written: Path | None, as_json: bool) -> None:
    if as_json:
        shown = {
            "config": result.values,
            "remarks": [{"key": remark.where, "words": remark.words} for remark in result.remarks],
            "problems": list(problems),
            "written": str(written) if written else None,
        }
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
        return
    sys.stdout.write(text if written is None else f"{written} was written.\n")
    for remark in result.remarks:
        sys.stderr.write(f"{one_line(remark.where, 200)}: {one_line(remark.words, 300)}\n")
    for problem in problems:
        sys.stderr.write(f"still to be put right: {one_line(problem, 400)}\n")
    if written is not None:
        sys.stdout.write("Next: nightcrew doctor\n")

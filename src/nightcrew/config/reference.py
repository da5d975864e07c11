"""The generated parts of the documentation: `python -m nightcrew.config.reference docs` writes them anew."""

import sys
from pathlib import Path

from nightcrew.config.file import ConfigFile
from nightcrew.config.repository import ProjectFile
from nightcrew.config.schema import Key, list_keys, render_schema_text
from nightcrew.config.section import Section

SECTIONS: tuple[tuple[str, type[Section]], ...] = (("config.yml", ConfigFile), (".nightcrew.yml", ProjectFile))
_BEGIN, _END = "<!-- keys of {}: generated -->", "<!-- end -->"


def render_table(section: type[Section]) -> str:
    """A Markdown table with one row a key. What `defaults` shares with `projects[]` is listed once."""
    rows = ["| key | takes | default | change | what it does |", "|---|---|---|---|---|"]
    rows.extend(_row(key) for key in list_keys(section) if not key.path.startswith("defaults."))
    return "\n".join(rows)


def replace_tables(text: str) -> str:
    """The text with the table between each pair of marks made anew. ValueError if a mark is missing."""
    for name, section in SECTIONS:
        begin = _BEGIN.format(name)
        before, mark, rest = text.partition(begin + "\n")
        _, end, after = rest.partition(_END)
        if not mark or not end:
            raise ValueError(f"the marks {begin} and {_END} are missing")
        text = f"{before}{mark}\n{render_table(section)}\n\n{end}{after}"
    return text


def write_reference(docs: Path) -> None:
    """Write config.schema.json and the tables of config.md in this folder."""
    (docs / "config.schema.json").write_text(render_schema_text(), encoding="utf-8")
    page = docs / "config.md"
    page.write_text(replace_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def _row(key: Key) -> str:
    return f"| `{key.path}` | {key.takes} | {key.default} | {key.reload} | {key.words} |"


if __name__ == "__main__":
    write_reference(Path(sys.argv[1]))

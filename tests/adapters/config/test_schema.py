"""Schema, reference and sections say the same."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from nightcrew.config.file import ConfigFile
from nightcrew.config.reference import SECTIONS, replace_tables, write_reference
from nightcrew.config.repository import ProjectFile
from nightcrew.config.schema import list_keys, render_schema, render_schema_text

DOCS = Path(__file__).parents[3] / "docs"
ANEW = "python -m nightcrew.config.reference docs"


def keys_of_schema(definition: dict[str, Any], schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The keys that a JSON schema knows, found without the code that made it."""
    # A section that may be left out is `anyOf` the section and null.
    definition = next((one for one in definition.get("anyOf", ()) if "$ref" in one), definition)
    if "$ref" in definition:
        definition = schema["$defs"][definition["$ref"].rpartition("/")[2]]
    for name, value in definition.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        yield path
        inner = value
        if "items" in inner:
            inner, path = inner["items"], path + "[]"
        elif isinstance(inner.get("additionalProperties"), dict):
            inner, path = inner["additionalProperties"], path + ".NAME"
        yield from keys_of_schema(inner, schema, path)


def keys_of_page(text: str, name: str) -> set[str]:
    part = text.partition(f"<!-- keys of {name}: generated -->")[2].partition("<!-- end -->")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE))


def test_the_schema_in_the_repository_is_the_generated_one():
    assert (DOCS / "config.schema.json").read_text(encoding="utf-8") == render_schema_text(), ANEW


def test_the_schema_is_one():
    jsonschema_rs.meta.validate(render_schema())


def test_the_reference_in_the_repository_is_the_generated_one():
    page = (DOCS / "config.md").read_text(encoding="utf-8")
    assert replace_tables(page) == page, ANEW


def test_a_page_without_its_marks_is_not_overwritten():
    with pytest.raises(ValueError, match="marks"):
        replace_tables("# nothing here")


def test_writing_anew_changes_nothing(tmp_path):
    page = (DOCS / "config.md").read_text(encoding="utf-8")
    (tmp_path / "config.md").write_text(page, encoding="utf-8")
    write_reference(tmp_path)
    assert (tmp_path / "config.md").read_text(encoding="utf-8") == page
    assert json.loads((tmp_path / "config.schema.json").read_text(encoding="utf-8")) == render_schema()


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_schema_and_reference_have_the_same_keys(name, section):
    schema = render_schema()
    in_schema = set(keys_of_schema(schema["$defs"][section.__name__], schema))
    in_schema = {path for path in in_schema if not path.startswith("defaults.")}
    assert in_schema == keys_of_page((DOCS / "config.md").read_text(encoding="utf-8"), name)
    assert len(in_schema) > 15


def test_the_defaults_section_takes_what_the_page_says():
    schema = render_schema()
    all_keys = set(keys_of_schema(schema["$defs"]["ConfigFile"], schema))
    of_defaults = {path.removeprefix("defaults.") for path in all_keys if path.startswith("defaults.")}
    of_project = {path.removeprefix("projects[].") for path in all_keys if path.startswith("projects[].")}
    assert of_project - of_defaults == {"slug", "source"}
    assert not of_defaults - of_project


@pytest.mark.parametrize("section", [ConfigFile, ProjectFile])
def test_each_key_says_what_it_does_and_when_a_change_is_taken_up(section):
    for key in list_keys(section):
        assert key.words.endswith("."), key
        assert key.reload in ("live", "restart"), key


def test_the_schema_says_so_too():
    sections = render_schema()["$defs"]
    for definition in sections.values():
        for name, value in definition.get("properties", {}).items():
            section = sections.get(value.get("$ref", "").rpartition("/")[2], {})
            assert value.get("description") or section["description"], name
            assert value["x-reload"] in ("live", "restart"), name
            assert "default" in value or name in definition["required"], name

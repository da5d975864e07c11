"""Adding and removing projects changes these lines and no others, or nothing at all."""
# ruff: noqa: E501, RUF005 - one row a case reads best

import re
import stat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightcrew.config.document import parse_document
from nightcrew.config.edit import add_project, edit_file, remove_project, write_file
from nightcrew.config.template import Answers, ProjectLine, render_scalar, render_template
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.merge import MergeMode
from tests.adapters.config.reading import read

WRITTEN = """\
# mine
interval: 30s   # often

projects:
  # the first
  - acme/one  # keep this
  - slug: acme/two
    merge:
      mode: ask   # careful
    instructions: |
      Be kind.

      Be brief.

  # nothing below yet

agents:
  claude:   # mine too
"""


def add(text: str, slug: str = "new/one", **more: Any) -> str:
    return add_project(text, "config.yml", project=ProjectLine(slug, **more))


def remove(text: str, slug: str) -> str:
    return remove_project(text, "config.yml", slug=slug)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "projects:\n  - new/one\n"),
        ("# only words\n", "# only words\nprojects:\n  - new/one\n"),
        ("interval: 3", "interval: 3\nprojects:\n  - new/one\n"),
        ("projects:\nagents: {}\n", "projects:\n  - new/one\nagents: {}\n"),
        ("projects: []  # none\nagents: {}\n", "projects:  # none\n  - new/one\nagents: {}\n"),
        ("projects: null\n", "projects:\n  - new/one\n"),
        ("projects:\n- a/b\nagents: {}\n", "projects:\n- a/b\n- new/one\nagents: {}\n"),
        ("projects:\n    - a/b # x\n\n# end\n", "projects:\n    - a/b # x\n    - new/one\n\n# end\n"),
        ("projects:\r\n  - a/b\r\n", "projects:\r\n  - a/b\r\n  - new/one\r\n"),
        ("projects:\n  - {slug: a/b,\n     forge: local}\n", "projects:\n  - {slug: a/b,\n     forge: local}\n  - new/one\n"),
    ],
)  # fmt: skip
def test_a_project_is_put_behind_the_others(before, after):
    assert add(before) == after


def test_everything_a_person_wrote_stays():
    after = add(WRITTEN, forge="local", source="/home/me/a b")
    item = '  - slug: new/one\n    forge: local\n    source: "/home/me/a b"\n'
    assert after == WRITTEN.replace("      Be brief.\n", "      Be brief.\n" + item)
    assert remove(after, "NEW/One") == WRITTEN


def test_the_right_lines_are_taken_out():
    assert remove(WRITTEN, "acme/one") == WRITTEN.replace("  - acme/one  # keep this\n", "")
    after = remove(WRITTEN, "acme/two")
    assert "acme/two" not in after
    assert "Be brief" not in after
    assert "# nothing below yet\n\nagents:\n  claude:   # mine too\n" in after
    assert read(remove(after, "acme/one")).projects == {}


@pytest.mark.parametrize(
    "text",
    [
        "projects: [a/b]\n",
        "projects: [\n  a/b,\n]\n",
        "{projects: []}\n",
        "{}\n",
        "interval: 3\n...\n",
        "projects: &p\n",
        '"projects": []\n',
    ],
)
def test_what_cannot_be_changed_safely_is_refused_with_advice(text):
    with pytest.raises(ConfigError, match=r"config\.yml:1:projects: .*by hand; nothing was written"):
        add(text)


def test_an_item_in_a_list_on_one_line_is_taken_out_by_hand():
    with pytest.raises(ConfigError, match="take a/b out by hand"):
        remove("projects: [a/b]\n", "a/b")
    with pytest.raises(ConfigError, match="by hand"):
        remove("projects:\n  - &q a/b\nx: *q\n", "a/b")


def test_what_is_there_or_not_there_already_is_said_with_its_line():
    with pytest.raises(ConfigError, match=r"config\.yml:6:projects\[0\]: ACME/One is there already"):
        add(WRITTEN, "ACME/One")
    with pytest.raises(ConfigError, match=r"config\.yml:4:projects: acme/three is not there"):
        remove(WRITTEN, "acme/three")
    with pytest.raises(ConfigError, match="must be a list"):
        add("projects: 3\n")
    with pytest.raises(ConfigError, match="must be a mapping"):
        add("- a\n")


slugs = st.lists(
    st.from_regex(r"[a-z][a-z0-9-]{0,6}/[a-z0-9][a-z0-9_]{0,6}", fullmatch=True), unique=True, min_size=1, max_size=5
)


@settings(deadline=None, max_examples=30)
@given(slugs, st.data())
def test_added_and_removed_in_any_order_leaves_the_text_as_it_was(names, data):
    text = WRITTEN
    for slug in names:
        text = add(text, slug)
        assert slug in read(text).projects
    for slug in data.draw(st.permutations(names)):
        text = remove(text, slug)
    assert text == WRITTEN


lines = st.lists(
    st.sampled_from(
        [
            "projects:",
            "projects: []",
            "  - a/b",
            "- a/b",
            "  - slug: c/d",
            "    forge: local",
            "# words",
            "",
            "  # deep",
        ]
        + ["interval: 3", "agents:", "  claude:", "defaults:", "  instructions: |", "    projects:", "    - a/b", "---"]
    ),
    max_size=9,
)


@settings(deadline=None, max_examples=200)
@given(lines)
def test_whatever_the_text_an_edit_is_right_or_refused(written):
    text = "\n".join(written)
    try:
        before = parse_document(text, "f").value
        after = parse_document(add(text), "f").value
    except ConfigError:
        return
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert after == {**before, "projects": [*(before.get("projects") or []), "new/one"]}
    comments = [line for line in written if line.lstrip().startswith("#")]
    assert [line for line in add(text).splitlines() if line.lstrip().startswith("#")] == comments


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_any_text_is_written_as_one_word_on_one_line(text):
    printable = "".join(c for c in text if c.isprintable()) or "x"
    written = render_scalar(printable)
    assert "\n" not in written
    assert read(f"projects: [a/b]\ndefaults:\n  instructions: {written}\n").projects["a/b"].instructions == printable


def test_a_file_is_replaced_whole_for_its_owner_only(tmp_path):
    path = tmp_path / "config.yml"
    write_file(path, "projects: []\n", expected=None)
    edit_file(path, add)
    assert path.read_text() == "projects:\n  - new/one\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.yml"]


def test_a_link_to_the_file_stays_a_link(tmp_path):
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles" / "nightcrew.yml", tmp_path / "config.yml"
    real.write_text("projects: []\n")
    link.symlink_to(real)
    edit_file(link, add)
    assert link.is_symlink()
    assert "new/one" in real.read_text()


def test_a_file_that_would_not_load_or_that_changed_meanwhile_stays_as_it_is(tmp_path):
    path = tmp_path / "config.yml"
    path.write_text("projects: []\n")
    with pytest.raises(ConfigError, match="is not a repository"):
        edit_file(path, lambda text: add(text, "nonsense"))
    with pytest.raises(ConfigError, match="changed by somebody else"):
        write_file(path, "x", expected="y")
    with pytest.raises(ConfigError, match="is there already"):
        write_file(path, "x", expected=None)
    assert path.read_text() == "projects: []\n"


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be written"):
        write_file(tmp_path / "no" / "config.yml", "x", expected=None)


def test_what_init_writes_loads_and_says_what_was_answered():
    answers = Answers(
        projects=[ProjectLine("acme/one"), ProjectLine("acme/two", "local", '/home/me/two: #1 "x" {y}')],
        agents={"claude": "claude", "glm": "claude"},
        merge=MergeMode.ASK,
        github_token="file:~/my token",
        github_url="https://ghe.example.com/api/v3",
    )
    settings = read(render_template(answers), adapters=["claude"])
    assert list(settings.projects) == ["acme/one", "acme/two"]
    assert settings.projects["acme/two"].source == '/home/me/two: #1 "x" {y}'
    assert settings.projects["acme/one"].merge.mode is MergeMode.ASK
    assert settings.agents["glm"].adapter == "claude"
    assert settings.forges["github"].token == "file:~/my token"
    assert settings.forges["github"].base_url == "https://ghe.example.com/api/v3"


def test_what_init_writes_without_answers_takes_projects_and_is_commented():
    text = render_template(Answers())
    assert read(text).projects == {}
    assert "new/one" in read(add(text)).projects
    keys = re.findall(r"^([a-z]+):", text, re.MULTILINE)
    assert keys == ["projects", "defaults", "agents", "limits"]


def test_an_answer_that_is_no_project_never_becomes_other_keys():
    text = render_template(Answers(projects=[ProjectLine("a/b\nagents: {}"), ProjectLine("true"), ProjectLine("x: y")]))
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert [problem.where.rpartition(":")[2] for problem in caught.value.problems] == [
        "projects[0].slug",
        "projects[1].slug",
        "projects[2].slug",
    ]

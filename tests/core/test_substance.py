"""What counts as work, and what is only a note about it."""

import pytest

from nightcrew.core.policy.substance import find_notes, is_asked_for


def a_file(path: str, *lines: str) -> str:
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n{body}"


@pytest.mark.parametrize(
    "path",
    [
        "SUMMARY.md",
        "summary.txt",
        "IMPLEMENTATION_SUMMARY.md",
        "REPORT",
        "fix-notes.md",
        "TASK_REPORT_42.md",
        "plan.md",
        "report.json",
    ],
)
def test_a_note_by_its_name(path):
    assert find_notes(a_file(path, "I did it.")) == (path,)


@pytest.mark.parametrize(
    "path",
    [
        "src/summary.py",
        "docs/SUMMARY.md",
        "README.md",
        "widget.py",
        "summary.py",
        "reporter.md",
        "CHANGELOG.md",
        "x/notes",
    ],
)
def test_anything_else_counts(path):
    assert find_notes(a_file(path, "x = 1")) is None
    assert find_notes(a_file("SUMMARY.md", "x") + a_file(path, "x = 1")) is None


def test_nothing_at_all_is_nothing():
    assert find_notes("") == ()


@pytest.mark.parametrize(
    "diff",
    [
        "diff --git a/x.png b/x.png\nnew file mode 100644\nBinary files /dev/null and b/x.png differ\n",
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
        "diff --git a/SUMMARY.md b/SUMMARY.md\nold mode 100644\nnew mode 100755\n",
        "diff --git a/a.py b/SUMMARY.md\nsimilarity index 100%\nrename from a.py\nrename to SUMMARY.md\n",
        'diff --git "a/\\303\\244.md" "b/\\303\\244.md"\n+++ "b/\\303\\244.md"\n',
        a_file("SUMMARY.md", "++ b/widget.py"),
        "something that is no diff",
    ],
)
def test_what_is_not_plainly_a_note_counts(diff):
    assert find_notes(diff) is None


def test_a_file_that_the_issue_names_is_asked_for():
    assert is_asked_for("SUMMARY.md", "Write a summary.md for the book", "")
    assert not is_asked_for("SUMMARY.md", "Summarise", "the book")

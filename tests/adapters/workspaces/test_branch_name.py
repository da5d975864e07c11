"""Our rules for branch names against those of git itself."""

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from nightcrew.core.branch import is_branch_name

AWKWARD = st.text(st.sampled_from("ab/.-@{}~^:?*[\\ \t\x7f\x01lockéHEAD"), min_size=1, max_size=9)


@given(AWKWARD | st.sampled_from(["HEAD", "@", "a.lock", "a.lock/b", "a/", "/a", "a//b", ".a", "a/.b", "a@{b", "a."]))
@settings(max_examples=120, deadline=None)
def test_git_agrees_about_names(text):
    """Whatever we take git takes; beyond git we refuse only HEAD and @, which mean something else elsewhere."""
    said = subprocess.run(["git", "check-ref-format", "--branch", text], capture_output=True, check=False)
    takes = said.returncode == 0 and said.stdout.decode("utf-8", "replace").rstrip("\n") == text
    assert is_branch_name(text) == (takes and text not in ("HEAD", "@"))

"""What is told about a change: every key, no secret."""

import pytest

from nightcrew.config.change import find_changes
from tests.adapters.config.reading import read

TWO = "projects: [a/b, {slug: c/d, merge: ask}]\nagents: {a: {adapter: custom, command: x, env: {API_KEY: hunter2}}}\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (TWO, []),
        ("interval: 10s\n" + TWO, ["interval: 45s → 10s"]),
        (TWO.replace("a/b, ", ""), ["projects[a/b]: removed"]),
        (TWO.replace("a/b,", "a/b, e/f,"), ["projects[e/f]: added"]),
        (TWO.replace("merge: ask", "merge: auto"), ["projects[c/d].merge.mode: ask → auto"]),
        (TWO.replace("command: x", "command: [x, y]"), ["agents.a.command: changed"]),
        (TWO.replace("adapter: custom, ", "adapter: custom, enabled: false, "), ["agents.a.enabled: true → false"]),
        (TWO.replace("hunter2", "hunter3"), ["config.yml: a value that is not shown was changed"]),
        (
            "defaults: {base_ref: next}\n" + TWO,
            ["projects[a/b].base_ref: none → next", "projects[c/d].base_ref: none → next"],
        ),
        (TWO + "limits: {timeouts: {simple: 5m}}\n", ["limits.timeouts.simple: 30m → 5m"]),
    ],
)
def test_each_key_is_named_with_what_it_was_and_is(text, lines):
    assert [str(change) for change in find_changes(read(TWO), read(text))] == lines

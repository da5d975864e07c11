"""Commands in comments: which lines are one, and which only look like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.command import Command, Verb, parse_commands


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/retry", (Command(Verb.RETRY),)),
        ("Thanks!\r\n\r\n/retry\r\n", (Command(Verb.RETRY),)),
        ("/block waits for the design", (Command(Verb.BLOCK, "waits for the design"),)),
        ("/agent codex\n/model o-5.1", (Command(Verb.AGENT, "codex"), Command(Verb.MODEL, "o-5.1"))),
        ("  /stop  ", (Command(Verb.STOP),)),
        ("/unblock\n/unblock", (Command(Verb.UNBLOCK), Command(Verb.UNBLOCK))),
    ],
)
def test_a_line_of_its_own_is_a_command(body, expected):
    assert parse_commands(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "> /retry",
        "```\n/retry\n```",
        "~~~~\n/retry\n~~~\n/close\n~~~~",
        "```\n/retry",
        "an example:\n\n    /retry",
        "<!-- /close -->",
        "say /retry to start anew",
        "/retry please",
        "/RETRY",
        "/agent",
        "/agent two words",
        "/agent --help",
        "/etc/passwd",
        "`/retry`",
        "/retry\u200b/close",
    ],
)
def test_quotes_code_hidden_and_half_commands_are_text(body):
    assert parse_commands(body) == ()


def test_text_behind_a_closed_fence_counts_again():
    assert parse_commands("```sh\n/close\n```\n/retry") == (Command(Verb.RETRY),)


@given(st.text(max_size=300))
def test_any_text_is_read_without_a_fault(body):
    for command in parse_commands(body):
        assert "\n" not in command.words


@given(st.lists(st.sampled_from([verb for verb in Verb if verb not in (Verb.AGENT, Verb.MODEL)]), max_size=6))
def test_what_is_written_is_read(verbs):
    assert [command.verb for command in parse_commands("\n".join(f"/{verb.value}" for verb in verbs))] == verbs

"""Commands in comments: which lines are one, and which only look like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.command import Command, Verb, is_only_commands, parse_commands


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
        assert "\n" not in command.words or command.verb is Verb.SAY


NAMED = (Verb.AGENT, Verb.MODEL, Verb.SAY, Verb.DELEGATE)


@given(st.lists(st.sampled_from([verb for verb in Verb if verb not in NAMED]), max_size=6))
def test_what_is_written_is_read(verbs):
    assert [command.verb for command in parse_commands("\n".join(f"/{verb.value}" for verb in verbs))] == verbs


@pytest.mark.parametrize(
    ("body", "commands"),
    [
        ("/say use a lock", (Command(Verb.SAY, "use a lock"),)),
        (
            "/say use a lock\n\nand `x`:\n```\n/close\n```",
            (Command(Verb.SAY, "use a lock\n\nand `x`:\n```\n/close\n```"),),
        ),
        ("/say\nuse a lock\n/retry", (Command(Verb.SAY, "use a lock"), Command(Verb.RETRY))),
        ("/say one\n/say two", (Command(Verb.SAY, "one"), Command(Verb.SAY, "two"))),
        ("/say", ()),
        ("> /say no", ()),
    ],
)
def test_what_is_said_goes_on_to_the_next_command(body, commands):
    assert parse_commands(body) == commands


def test_a_message_answers_no_question_by_itself():
    assert is_only_commands("/say use a lock\nand a test")
    assert not is_only_commands("Left.\n/say use a lock")


def test_what_is_said_of_sub_tasks_is_one_of_two_words():
    assert parse_commands("/delegate accept\n/delegate refuse") == (
        Command(Verb.DELEGATE, "accept"),
        Command(Verb.DELEGATE, "refuse"),
    )
    assert parse_commands("/delegate\n/delegate all\n/delegate accept now") == ()

"""Which memories are about what is worked on."""

from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.ids import RunId
from nightcrew.core.model.memory import Memory
from nightcrew.core.policy.recalling import MOST, rank_memories
from tests.core.build import NOW, a_key


def a_memory(text: str, *, number: int = 1, title: str = "") -> Memory:
    return Memory(RunId(f"run-{number}"), a_key(number), "ann", NOW, title, text)


def texts(memories) -> list[str]:
    return [memory.text for memory in memories]


def test_rare_words_in_common_come_before_common_ones():
    known = [
        a_memory("The server needs npm ci before the tests.", number=1),
        a_memory("The parser keeps offsets in UTF-16.", number=2),
        a_memory("The server logs to stderr.", number=3),
        a_memory("The server is started twice.", number=4),
    ]
    assert texts(rank_memories(known, "Offsets of the server are wrong"))[0] == "The parser keeps offsets in UTF-16."


def test_what_shares_no_word_is_not_shown():
    assert rank_memories([a_memory("The parser keeps offsets.")], "Colours of the door") == ()
    assert rank_memories([a_memory("the and for")], "the and for") == ()
    assert rank_memories([], "offsets") == ()


def test_of_two_that_say_the_same_the_newer_is_taken():
    known = [a_memory("Run the parser with -j 1.", number=1), a_memory("Run the parser with -j 1!", number=2)]
    assert [memory.run for memory in rank_memories(known, "the parser crashes")] == ["run-2"]


@given(st.lists(st.text(max_size=40), max_size=30), st.text(max_size=80))
def test_it_is_bounded_and_takes_each_once(lines, about):
    known = [a_memory(text, number=number) for number, text in enumerate(lines, 1)]
    found = rank_memories(known, about)
    assert len(found) <= MOST
    assert len({memory.run for memory in found}) == len(found)
    assert rank_memories(known, about) == found

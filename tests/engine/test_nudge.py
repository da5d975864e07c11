"""Hints from outside: however many come, and whenever, each is followed by a look, and there are few looks."""

import asyncio
from collections import Counter

from nightcrew.engine.nudge import Nudges
from tests.waiting import eventually


async def test_a_hint_is_followed_by_a_look_at_once_and_by_one_when_lists_have_caught_up():
    looks: list[str] = []
    nudges = Nudges(looks.append, window_s=0.02)
    nudges.nudge("octo/demo")
    assert looks == ["octo/demo"]
    await eventually(lambda: len(looks) == 2, what="the second look")


async def test_a_storm_of_hints_comes_to_one_look_a_window():
    looks: list[str] = []
    nudges = Nudges(looks.append, window_s=0.05)
    for _ in range(500):
        nudges.nudge("octo/demo")
        nudges.nudge("octo/other")
    assert Counter(looks) == {"octo/demo": 1, "octo/other": 1}
    await eventually(lambda: len(looks) == 6, what="one more for the storm, and one after it")
    assert Counter(looks) == {"octo/demo": 3, "octo/other": 3}


async def test_a_hint_within_the_window_has_a_look_that_begins_after_it():
    happened, seen = 0, 0

    def look(_project: str) -> None:
        nonlocal seen
        seen = happened

    nudges = Nudges(look, window_s=0.01)
    for _ in range(20):
        happened += 1
        nudges.nudge("octo/demo")
        await asyncio.sleep(0)
    await eventually(lambda: seen == happened, what="the last hint to be seen")

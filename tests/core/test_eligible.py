"""Who may be used now, and the slots."""

import pytest

from nightcrew.core.known import Known
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.policy.eligible import Choice, Pool, Slots, usable
from tests.core.build import UNKNOWN, a_settings, a_world, an_agent, at, cooled

SIMPLE, MEDIUM, COMPLEX = Complexity.SIMPLE, Complexity.MEDIUM, Complexity.COMPLEX


def pool_of(role: Role, *agents, complexity: Complexity = MEDIUM, exclude=None, avoid=frozenset(), pinned="", **world):
    world_now = a_world(settings=a_settings(agents=agents), **world)
    return usable(world_now, role, complexity, exclude=exclude, avoid=avoid, pinned=pinned)


def why(pool: Pool) -> str:
    assert not pool.choices
    return pool.words


@pytest.mark.parametrize(
    ("role", "fields", "words"),
    [
        (Role.AUTHOR, {"enabled": False}, "switched off"),
        (Role.AUTHOR, {"can_author": False}, "not set up to write"),
        (Role.REVIEWER, {"can_review": False}, "not set up to review"),
        (Role.REVIEWER, {"enabled": False}, "switched off"),
    ],
)
def test_settings_keep_an_agent_out(role, fields, words):
    pool = pool_of(role, an_agent("ann", **fields))
    assert words in why(pool)
    assert pool.exclusions[0].is_lasting


def test_a_role_is_its_own():
    assert pool_of(Role.REVIEWER, an_agent("ann", can_author=False)).find("ann") == Choice("ann", "")
    assert pool_of(Role.AUTHOR, an_agent("ann", can_review=False)).find("ann") == Choice("ann", "")


@pytest.mark.parametrize(
    ("seen", "words", "lasting"),
    [
        ({"ann": Known(False)}, "not installed", True),
        ({"ann": UNKNOWN}, "could not be found out", False),
        ({}, "could not be found out", False),
    ],
)
def test_a_program_that_is_not_known_to_be_there(seen, words, lasting):
    pool = pool_of(Role.AUTHOR, an_agent("ann"), agents=seen)
    assert words in why(pool)
    assert pool.exclusions[0].is_lasting is lasting


def test_what_the_caller_excludes_says_why():
    pool = pool_of(Role.REVIEWER, an_agent("ann"), an_agent("bob"), exclude={"ann": "it wrote part of this"})
    assert pool.words == "ann: it wrote part of this"
    assert pool.find("ann") is None
    assert pool.find("bob") is not None


def test_choices_keep_the_order_of_the_settings():
    pool = pool_of(Role.AUTHOR, an_agent("zoe"), an_agent("ann"))
    assert [choice.agent for choice in pool.choices] == ["zoe", "ann"]


@pytest.mark.parametrize(
    ("models", "complexity", "model"),
    [
        ({}, MEDIUM, ""),
        ({MEDIUM: ("m", "n")}, MEDIUM, "m"),
        ({MEDIUM: ()}, MEDIUM, ""),
        ({COMPLEX: ("c",), SIMPLE: ("s",)}, MEDIUM, "c"),
        ({SIMPLE: ("s",)}, MEDIUM, "s"),
        ({SIMPLE: ("s",), MEDIUM: ("m",)}, COMPLEX, "m"),
        ({MEDIUM: (), COMPLEX: ("c",)}, SIMPLE, "c"),
    ],
)
def test_the_model_of_a_complexity_or_the_nearest(models, complexity, model):
    pool = pool_of(Role.AUTHOR, an_agent("ann", models=models), complexity=complexity)
    assert pool.choices == (Choice("ann", model),)


def test_reviewers_may_have_models_of_their_own():
    ann = an_agent("ann", models={MEDIUM: ("m",)}, review_models=("r",))
    assert pool_of(Role.REVIEWER, ann).choices == (Choice("ann", "r"),)
    assert pool_of(Role.AUTHOR, ann).choices == (Choice("ann", "m"),)


def test_a_pinned_model_is_demanded_of_all():
    ann = an_agent("ann", models={MEDIUM: ("m",)})
    assert pool_of(Role.AUTHOR, ann, pinned="p").choices == (Choice("ann", "p"),)
    assert not pool_of(Role.AUTHOR, ann, pinned="p", cooldowns=(cooled("ann", model="p"),)).choices


@pytest.mark.case("C124")
def test_a_cooled_model_leaves_the_others():
    ann = an_agent("ann", models={MEDIUM: ("a", "b", "c")})
    assert pool_of(Role.AUTHOR, ann, cooldowns=(cooled("ann", model="a"),)).choices == (Choice("ann", "b"),)
    assert pool_of(Role.AUTHOR, ann, avoid=frozenset({("ann", "a"), ("bob", "b")})).choices == (Choice("ann", "b"),)


@pytest.mark.case("C129")
def test_a_cooled_agent_has_no_model():
    ann = an_agent("ann", models={MEDIUM: ("a", "b")})
    pool = pool_of(Role.AUTHOR, ann, cooldowns=(cooled("ann", 30),))
    assert "usage_window" in why(pool)
    assert pool.until_at == at(30)


def test_the_first_model_back_says_when():
    ann = an_agent("ann", models={MEDIUM: ("a", "b", "c")})
    cool = (cooled("ann", 30, model="a"), cooled("ann", 10, model="b"), cooled("ann", 20, model="c"))
    pool = pool_of(Role.AUTHOR, ann, cooldowns=cool)
    assert pool.until_at == at(10)
    assert "ann: b is cooling down" in pool.words


def test_a_cooldown_that_is_over_keeps_nobody_out():
    assert pool_of(Role.AUTHOR, an_agent("ann"), cooldowns=(cooled("ann", 0), cooled("ann", -5))).choices


@pytest.mark.case("C151")
def test_without_a_model_left_it_says_so():
    pool = pool_of(Role.REVIEWER, an_agent("ann", review_models=("r",)), avoid=frozenset({("ann", "r")}))
    assert "no model for this" in why(pool)
    assert pool.until_at is None


def test_nobody_is_nobody():
    assert Pool().until_at is None
    assert Pool().words == ""
    assert Pool().find("ann") is None


class TestSlots:
    full = Slots(2, {"p/q": 1}, {"ann": 1})

    def test_in_all(self):
        assert Slots(0).why_full("p/q", "ann") == "all run slots are taken"
        assert Slots(-1).why_full("p/q", "ann")

    def test_by_project_and_agent(self):
        left = self.full.take("p/q", "bob")
        assert left.why_full("p/q", "ann") == "all run slots of p/q are taken"
        assert left.why_full("x/y", "ann") == ""
        left = self.full.take("x/y", "ann")
        assert left.why_full("p/q", "ann") == "all run slots of ann are taken"
        assert left.why_full("p/q", "bob") == ""

    def test_what_is_not_limited_has_room(self):
        assert Slots(1).why_full("new/one", "new") == ""

    def test_the_last_one_in_all(self):
        assert self.full.take("a/b", "x").take("c/d", "y").why_full("e/f", "z") == "all run slots are taken"

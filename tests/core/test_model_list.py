"""`opencode:free`: what it stands for, who needs it, and how it is chosen from."""

from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.actions import RecordRoute, StartRun
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import RouterMode, RouterSettings
from nightcrew.core.model_list import FREE, expand, find_free, list_askers
from tests.core.asking import step, wait
from tests.core.build import a_settings, a_view, an_agent, at, cooled

OPEN = an_agent("open", models={Complexity.MEDIUM: ("paid/big", FREE)})
ONLY_FREE = an_agent("open", models={Complexity.MEDIUM: (FREE,)}, review_models=(FREE,))
LISTED = {"open": ("opencode/one-free", "opencode/two-free")}


def route(agent=ONLY_FREE, *, labels: tuple[str, ...] = (), **world):
    view = a_view(labels=(Status.NEW.label, *labels))
    action = step(view, settings=a_settings(agents=(agent, an_agent("bob"))), **world)
    assert isinstance(action, RecordRoute)
    return action.route


def test_only_names_with_free_in_them_each_once():
    printed = (
        "opencode/a-free",
        "opencode/b",
        " x/Free:1/ ",
        "opencode/a-free",
        "",
        "a free lunch",
        "--free",
        "free\x1b[1m",
    )
    assert find_free(printed) == ("opencode/a-free", "x/Free:1")


@given(names=st.lists(st.text()))
def test_no_name_is_an_option_or_has_blanks(names):
    for name in find_free(names):
        assert name[0].isalnum()
        assert name.split() == [name]


def test_the_entry_is_replaced_where_it_stands():
    assert expand(("a", FREE, "b"), ("x", "b")) == ("a", "x", "b")
    assert expand((FREE,), ()) == ()


def test_who_needs_the_list():
    router = RouterSettings(mode=RouterMode.MODEL, agent="bob", model=FREE)
    agents = (OPEN, ONLY_FREE, an_agent("bob"), an_agent("off", review_models=(FREE,), enabled=False))
    assert list_askers(a_settings(agents=agents)) == ("open",)
    assert list_askers(a_settings(agents=agents, router=router)) == ("open", "bob")


def test_the_first_that_is_not_cooled_is_chosen():
    assert route(free_models=LISTED).model == "opencode/one-free"
    assert route(OPEN, free_models=LISTED).model == "paid/big"
    one = cooled("open", model="opencode/one-free")
    assert route(free_models=LISTED, cooldowns=(one,)).model == "opencode/two-free"


def test_all_free_models_cooled_wait_for_the_first():
    view = a_view(labels=(Status.NEW.label, "agent:open"))
    found = wait(
        view,
        settings=a_settings(agents=(ONLY_FREE, an_agent("bob"))),
        free_models=LISTED,
        cooldowns=(cooled("open", 50, model="opencode/*free*"),),
    )
    assert found.until_at == at(50)


def test_without_a_list_the_other_models_and_agents_are_used():
    assert route(OPEN).model == "paid/big"
    assert route().agent == "bob"
    found = wait(a_view(labels=(Status.NEW.label, "agent:open")), settings=a_settings(agents=(ONLY_FREE,)))
    assert "opencode:free stands for has not been listed yet" in found.words
    assert "Take the label off" not in found.next


def test_a_label_may_ask_for_it():
    chosen = route(labels=("agent:open", f"model:{FREE}"), free_models=LISTED)
    assert (chosen.agent, chosen.model) == ("open", "opencode/one-free")


def test_the_router_may_be_one_of_them():
    router = RouterSettings(mode=RouterMode.MODEL, agent="open", model=FREE)
    settings = a_settings(agents=(ONLY_FREE, an_agent("bob")), router=router)
    action = step(a_view(), settings=settings, free_models=LISTED)
    assert isinstance(action, StartRun)
    assert (action.role, action.model) == (Role.ROUTER, "opencode/one-free")
    assert isinstance(step(a_view(), settings=settings), RecordRoute)

"""Who works on a task: labels, the router, round robin, rotation after failures."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.actions import RecordRoute, StartRun
from nightcrew.core.decide import decide
from nightcrew.core.failures import FailureKind
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import RouterReport
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import Role, RunOutcome
from nightcrew.core.model.settings import RouterMode, RouterSettings
from nightcrew.core.model.task import Block
from nightcrew.core.policy.eligible import Exclusion, Pool
from nightcrew.core.policy.routing import (
    Overrides,
    choose_route,
    parse_overrides,
    reroute,
    route_by_hand,
    wait_for_pool,
)
from nightcrew.core.reason import Wait
from tests.core.build import (
    UNKNOWN,
    a_project,
    a_route,
    a_run,
    a_settings,
    a_task,
    a_view,
    a_world,
    an_agent,
    an_issue,
    an_open_run,
    an_outcome,
    at,
    cooled,
)

M = Complexity.MEDIUM
MODEL_ROUTER = RouterSettings(RouterMode.MODEL, "ann", "judge-1")
THREE = (an_agent("ann"), an_agent("bob"), an_agent("cyd"))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((), Overrides()),
        (("bug", "agent", "agent:", "model: ", "complexity:"), Overrides()),
        (("agent:bob",), Overrides("bob")),
        (("Agent: BOB ",), Overrides("bob")),
        (("agent:bob", "agent:ann"), Overrides("bob")),
        (("model:Big-4:x",), Overrides(model="Big-4:x")),
        (("model:a", "model:b"), Overrides(model="a")),
        (("complexity:SIMPLE",), Overrides(complexity=Complexity.SIMPLE)),
        (("complexity:simple", "complexity:complex"), Overrides(complexity=Complexity.SIMPLE)),
        (("agent:ann", "model:m", "complexity:complex"), Overrides("ann", "m", Complexity.COMPLEX)),
    ],
)
def test_labels_are_read(labels, expected):
    assert parse_overrides(labels, ("ann", "bob")) == expected


@pytest.mark.parametrize(
    ("label", "words"), [("agent:zoe", "names no configured agent"), ("complexity:huge", "none of simple")]
)
def test_labels_that_name_nothing_block_with_words(label, words):
    answer = route_of(labels=(label,))
    assert isinstance(answer, Block)
    assert answer.code == "bad_label"
    assert words in answer.words and label in answer.words


def route_of(
    *, labels: tuple[str, ...] = (), after: str = "", no_slot: str = "", view: Any = None, settings: Any = None,
    **world: Any,
) -> RecordRoute | StartRun | Wait | Block:  # fmt: skip
    view = view or a_view()
    return choose_route(
        a_world(view, settings=settings, **world), view, an_issue(labels=labels), after=after, why_no_slot=no_slot
    )


def routed(answer: object) -> Route:
    assert isinstance(answer, RecordRoute), answer
    return answer.route


@pytest.mark.parametrize(
    ("after", "agent"), [("", "ann"), ("ann", "bob"), ("bob", "cyd"), ("cyd", "ann"), ("gone", "ann")]
)
def test_round_robin_goes_on_after_the_last(after, agent):
    route = routed(route_of(after=after, settings=a_settings(agents=THREE)))
    assert (route.agent, route.source, route.complexity) == (agent, RouteSource.ROUND_ROBIN, M)
    assert "next in turn" in route.why


@pytest.mark.case("C107")
def test_agents_that_may_not_be_used_are_left_out_first():
    route = routed(route_of(after="ann", settings=a_settings(agents=THREE), cooldowns=(cooled("bob"),)))
    assert route.agent == "cyd"


def test_the_agent_that_failed_last_is_left_out_of_a_new_route():
    view = a_view(task=a_task(tried=("ann", "bob")))
    assert routed(route_of(after="ann", view=view, settings=a_settings(agents=THREE))).agent == "cyd"


def test_a_label_chooses_the_agent_even_if_it_failed_before():
    view = a_view(task=a_task(tried=("bob",)))
    route = routed(route_of(labels=("agent:bob",), view=view))
    assert (route.agent, route.source) == ("bob", RouteSource.LABEL)


@pytest.mark.case("C106")
def test_an_agent_that_is_pinned_and_cooled_is_waited_for():
    answer = route_of(labels=("agent:bob",), cooldowns=(cooled("bob", 45 * 60),))
    assert isinstance(answer, Wait)
    assert (answer.code, answer.until_at) == ("agent_not_usable", at(45 * 60))
    assert "cooling down" in answer.words
    assert answer.next == "It goes on when that agent is back."


def test_an_agent_that_is_pinned_and_missing_is_said_to_be():
    answer = route_of(labels=("agent:bob",), agents={"ann": Known(True), "bob": Known(False)})
    assert isinstance(answer, Wait)
    assert "not installed" in answer.words
    assert "Take the label off" in answer.next


def test_an_agent_whose_program_is_unknown_is_neither_taken_nor_given_up():
    answer = route_of(labels=("agent:bob",), agents={"ann": Known(True), "bob": UNKNOWN})
    assert isinstance(answer, Wait)
    assert answer.next == "It goes on when that agent is back."


def test_no_agent_keeps_agents_away():
    answer = route_of(labels=("No-Agent",))
    assert isinstance(answer, Wait)
    assert answer.code == "no_agent"


def test_complexity_chooses_the_model_and_the_label_says_so():
    ann = an_agent("ann", models={M: ("mid",), Complexity.SIMPLE: ("small", "tiny")})
    settings = a_settings(agents=(ann,))
    route = routed(route_of(labels=("complexity:simple",), settings=settings))
    assert (route.model, route.complexity) == ("small", Complexity.SIMPLE)
    assert "the label says simple" in route.why
    cool = (cooled("ann", model="small"),)
    assert routed(route_of(labels=("complexity:simple",), settings=settings, cooldowns=cool)).model == "tiny"


def test_a_model_label_pins_the_model():
    assert routed(route_of(labels=("model:own-7",))).model == "own-7"
    assert routed(route_of(labels=("model:own-7", "agent:bob"))).model == "own-7"


def test_nobody_to_choose_from_waits():
    answer = route_of(cooldowns=(cooled("ann", 10), cooled("bob", 5)))
    assert isinstance(answer, Wait)
    assert (answer.code, answer.until_at) == ("cooling", at(5))


class TestRouterRun:
    settings = a_settings(router=MODEL_ROUTER, agents=THREE)

    def test_it_is_asked_first(self):
        answer = route_of(settings=self.settings)
        assert isinstance(answer, StartRun)
        assert (answer.role, answer.agent, answer.model, answer.attempt) == (Role.ROUTER, "ann", "judge-1", 1)
        assert (answer.source, answer.deadline_s) == (Status.NEW, MODEL_ROUTER.timeout_s)

    def test_it_waits_for_a_slot(self):
        answer = route_of(settings=self.settings, no_slot="all run slots are taken")
        assert isinstance(answer, Wait)
        assert answer.code == "slot"

    @pytest.mark.parametrize("labels", [("complexity:simple",), ("agent:bob",)])
    def test_labels_make_it_needless(self, labels):
        routed(route_of(settings=self.settings, labels=labels))

    @pytest.mark.case("C107")
    @pytest.mark.parametrize(
        "world",
        [
            {"cooldowns": (cooled("ann"),)},
            {"cooldowns": (cooled("ann", model="judge-1"),)},
            {"agents": {"ann": Known(False), "bob": Known(True), "cyd": Known(True)}},
            {"agents": {"ann": UNKNOWN, "bob": Known(True), "cyd": Known(True)}},
            {"agents": {"bob": Known(True), "cyd": Known(True)}},
        ],
    )
    def test_one_that_may_not_be_used_is_not_asked(self, world):
        route = routed(route_of(settings=self.settings, **world))
        assert (route.source, route.complexity) == (RouteSource.ROUND_ROBIN, M)

    def test_one_that_is_switched_off_or_not_configured_is_not_asked(self):
        off = a_settings(router=MODEL_ROUTER, agents=(an_agent("ann", enabled=False), an_agent("bob")))
        assert routed(route_of(settings=off)).agent == "bob"
        gone = a_settings(router=replace(MODEL_ROUTER, agent="zoe"))
        assert routed(route_of(settings=gone)).agent == "ann"

    def answered(self, report: Any = None, failure: FailureKind | None = None) -> Any:
        outcome = an_outcome(failure=failure) if failure else RunOutcome(report, None)
        return a_view(runs=(a_run(Role.ROUTER, agent="ann", outcome=outcome),))

    def test_its_answer_is_taken(self):
        view = self.answered(RouterReport(Complexity.COMPLEX, "cyd", "many places"))
        route = routed(route_of(settings=self.settings, view=view))
        assert (route.agent, route.complexity, route.source) == ("cyd", Complexity.COMPLEX, RouteSource.MODEL)
        assert route.why == "the router chose it: many places"

    @pytest.mark.parametrize("wanted", ["", "zoe"])
    def test_an_agent_that_it_does_not_name_comes_by_turn(self, wanted):
        view = self.answered(RouterReport(Complexity.SIMPLE, wanted))
        route = routed(route_of(settings=self.settings, view=view, after="ann"))
        assert (route.agent, route.complexity, route.source) == ("bob", Complexity.SIMPLE, RouteSource.MODEL)
        assert "the router says simple" in route.why

    def test_a_failed_one_is_not_asked_again(self):
        for view in (self.answered(failure=FailureKind.TIMEOUT), a_view(runs=(a_run(Role.ROUTER, outcome=None),))):
            route = routed(route_of(settings=self.settings, view=view))
            assert (route.source, route.complexity) == (RouteSource.ROUND_ROBIN, M)

    def test_a_reset_asks_anew(self):
        view = self.answered(RouterReport(Complexity.SIMPLE))
        view = replace(view, task=a_task(reset_at=at(-1)))
        answer = route_of(settings=self.settings, view=view)
        assert isinstance(answer, StartRun)
        assert answer.attempt == 2

    def test_one_that_is_open_is_not_its_answer(self):
        view = a_view(runs=(an_open_run(Role.ROUTER),))
        assert isinstance(route_of(settings=self.settings, view=view), StartRun)


def again(
    *, task: dict[str, Any] | None = None, labels: tuple[str, ...] = (), agents: Any = THREE, project: Any = None,
    route: Route | None = None, **world: Any,
) -> RecordRoute | Wait | None:  # fmt: skip
    route = route or a_route()
    view = a_view(task=a_task(Status.ROUTED, route=route, **(task or {})))
    settings = a_settings(project, agents=agents)
    return reroute(a_world(view, settings=settings, **world), view, an_issue(labels=labels), route)


def test_a_route_stands_while_its_agent_may_be_used():
    assert again() is None
    assert again(task={"tried": ("bob",)}) is None


@pytest.mark.case("C110")
def test_an_agent_cooled_after_routing_is_not_started():
    route = routed(again(cooldowns=(cooled("ann"),)))
    assert (route.agent, route.source) == ("bob", RouteSource.ROTATION)
    assert "may not be used now" in route.why


@pytest.mark.case("C110")
def test_the_whole_decision_looks_again_at_dispatch():
    view = a_view(Status.ROUTED)
    decision = decide(a_world(view, cooldowns=(cooled("ann"),)))
    assert [type(action) for action in decision.actions] == [RecordRoute]
    decision = decide(a_world(view, cooldowns=(cooled("ann"), cooled("bob"))))
    assert not [action for action in decision.actions if isinstance(action, StartRun)]
    assert decision.waits[view.task.key].code == "cooling"


def test_another_model_of_the_same_agent_keeps_the_agent():
    ann = an_agent("ann", models={M: ("one", "two")})
    route = a_route(model="one")
    assert (
        routed(again(agents=(ann, an_agent("bob")), route=route, cooldowns=(cooled("ann", model="one"),))).model
        == "two"
    )


@pytest.mark.case("C129")
def test_another_model_does_not_help_where_the_agent_is_cooled():
    ann = an_agent("ann", models={M: ("one", "two")})
    cool = (cooled("ann"), cooled("ann", model="one"))
    assert routed(again(agents=(ann, an_agent("bob")), route=a_route(model="one"), cooldowns=cool)).agent == "bob"


def test_after_a_failure_the_next_one_that_has_not_tried():
    assert routed(again(task={"tried": ("ann",)})).agent == "bob"
    route = routed(again(task={"tried": ("bob", "ann")}))
    assert route.agent == "cyd"
    assert "did not finish it" in route.why


def test_when_all_have_tried_it_goes_round():
    assert routed(again(task={"tried": ("bob", "cyd", "ann")})).agent == "bob"


def test_the_only_agent_tries_again():
    assert again(task={"tried": ("ann",)}, agents=(an_agent("ann"),)) is None


def test_the_only_agent_tries_again_with_a_model_that_may_be_used():
    ann = an_agent("ann", models={M: ("one", "two")})
    answer = again(
        task={"tried": ("ann",)}, agents=(ann,), route=a_route(model="one"), cooldowns=(cooled("ann", model="one"),)
    )
    assert routed(answer).model == "two"


def test_an_agent_that_was_asked_for_changes_is_waited_for_a_while():
    task = {"pull": 70, "cycles": 1}
    answer = again(task=task, cooldowns=(cooled("ann", 59),))
    assert isinstance(answer, Wait)
    assert (answer.code, answer.until_at) == ("agent_not_usable", at(59))
    assert routed(again(task=task, cooldowns=(cooled("ann", 61),))).agent == "bob"
    assert (
        routed(again(task=task, project=a_project(cycles_cooldown_s=60.0), cooldowns=(cooled("ann", 59),))).agent
        == "bob"
    )


def test_an_agent_that_is_gone_is_not_waited_for():
    assert routed(again(task={"pull": 70}, agents=(an_agent("ann", enabled=False), an_agent("bob")))).agent == "bob"


class TestLabelAfterRouting:
    def test_it_moves_the_task(self):
        route = routed(again(labels=("agent:cyd",)))
        assert (route.agent, route.source) == ("cyd", RouteSource.LABEL)

    def test_it_holds_although_the_agent_failed(self):
        assert again(labels=("agent:ann",), task={"tried": ("ann",)}) is None

    @pytest.mark.case("C106")
    @pytest.mark.parametrize("agent", ["ann", "bob"])
    def test_it_waits_for_that_agent(self, agent):
        answer = again(labels=(f"agent:{agent}",), cooldowns=(cooled(agent, 10),))
        assert isinstance(answer, Wait)
        assert (answer.code, answer.until_at) == ("agent_not_usable", at(10))

    def test_a_model_label_changes_the_model(self):
        assert routed(again(labels=("model:own",))).model == "own"


def test_nobody_left_waits_or_says_what_to_do():
    answer = again(cooldowns=(cooled("ann", 5), cooled("bob", 4), cooled("cyd", 3)))
    assert isinstance(answer, Wait)
    assert answer.until_at == at(3)


class TestRoutedByHand:
    """A person may set `status:routed` on a task that has no route."""

    def by_hand(self, *labels: str, **world: Any) -> RecordRoute | Wait:
        view = a_view(task=a_task(Status.ROUTED, route=None))
        return route_by_hand(a_world(view, **world), view, an_issue(labels=labels), after="ann")

    def test_the_next_in_turn_takes_it(self):
        route = routed(self.by_hand())
        assert (route.agent, route.source) == ("bob", RouteSource.PERSON)

    def test_the_label_says_who(self):
        assert routed(self.by_hand("agent:ann", "complexity:complex")).complexity is Complexity.COMPLEX

    def test_nobody_may(self):
        assert isinstance(self.by_hand(cooldowns=(cooled("ann"), cooled("bob"))), Wait)

    def test_it_goes_on_from_there(self):
        view = a_view(task=a_task(Status.ROUTED, route=None))
        (action,) = decide(a_world(view)).actions
        assert isinstance(action, RecordRoute)
        assert action.source is Status.ROUTED


@pytest.mark.parametrize(
    ("exclusions", "code", "until"),
    [
        ((), "no_agent_usable", None),
        ((Exclusion("a", "off", is_lasting=True),), "no_agent_usable", None),
        ((Exclusion("a", "off", is_lasting=True), Exclusion("b", "not known")), "agents_unknown", None),
        ((Exclusion("a", "cooled", at(9)), Exclusion("b", "cooled", at(3))), "cooling", at(3)),
        ((Exclusion("a", "cooled", at(9)), Exclusion("b", "not known")), "cooling", at(9)),
    ],
)
def test_waiting_for_a_pool(exclusions, code, until):
    wait = wait_for_pool(Pool((), exclusions), "author")
    assert (wait.code, wait.until_at) == (code, until)
    assert wait.next

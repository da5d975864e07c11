"""Who works on a task, with which model?

Labels decide first (`agent:`, `model:`, `complexity:`), then a router run where the settings ask for one, else round
robin over the agents that may be used now. Agents that are not usable are left out before anything is asked.
"""

from dataclasses import dataclass, field, replace

from nightcrew.core.actions import RecordRoute, StartRun
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.report import RouterReport
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import RouterMode
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.cooling import cooled_until
from nightcrew.core.policy.eligible import Choice, Pool, first_usable, usable
from nightcrew.core.policy.equipping import read_choice, why_no_choice_yet
from nightcrew.core.policy.retrying import changed_nothing, not_interrupted
from nightcrew.core.policy.sparing import spare_reviewers
from nightcrew.core.reason import Wait

NO_AGENT_LABEL = "no-agent"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the labels of an issue demand. `problems` are labels that name something that does not exist."""

    agent: str = ""
    model: str = ""
    complexity: Complexity | None = None
    problems: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Judged:
    """How hard it is, the agent wanted (or empty), why (empty where nobody was asked), and the skills named."""

    complexity: Complexity
    wanted: str = ""
    said: str = ""
    skills: tuple[str, ...] = ()


def parse_overrides(labels: tuple[str, ...], agents: tuple[str, ...]) -> Overrides:
    """Read `agent:`, `model:` and `complexity:` labels; the first of each kind counts. Names compare without case,
    but a model keeps its spelling."""
    agent, model = "", ""
    complexity: Complexity | None = None
    problems: list[str] = []
    by_name = {name.lower(): name for name in agents}
    for label in labels:
        kind, _, value = (part.strip() for part in label.partition(":"))
        match kind.lower():
            case "agent" if value and not agent:
                agent = by_name.get(value.lower(), "")
                if not agent:
                    problems.append(f"label {label!r} names no configured agent (there are: {', '.join(agents)})")
            case "model" if value and not model:
                model = value
            case "complexity" if value and complexity is None:
                complexity = next((c for c in Complexity if c.value == value.lower()), None)
                if complexity is None:
                    problems.append(f"label {label!r} is none of simple, medium, complex")
            case _:
                pass
    return Overrides(agent, model, complexity, tuple(problems))


def choose_route(
    world: World, view: TaskView, issue: Issue, *, after: str, why_no_slot: str
) -> RecordRoute | StartRun | Wait | Block:
    """The route of a new task, or what has to happen before there can be one. `after` is the agent that round robin
    chose last; `why_no_slot` says why a router run could not start now (empty: it could)."""
    overrides = parse_overrides(issue.labels, tuple(world.settings.agents))
    if overrides.problems:
        return Block("bad_label", "; ".join(overrides.problems))
    if issue.has_label(NO_AGENT_LABEL):
        return Wait("no_agent", f"the label {NO_AGENT_LABEL!r} keeps agents away", next="Take the label off.")
    stock = world.projects[view.task.key.project].skills
    judged = _judged(world, view, overrides)
    if judged is None:
        if why_no_slot:
            return Wait("slot", why_no_slot, next="The router runs when a slot is free.")
        return why_no_choice_yet(stock) or _start_router(world, view, _judge(world))
    complexity, wanted, said = judged.complexity, judged.wanted, judged.said
    pool = usable(world, Role.AUTHOR, complexity, exclude=_excluded(view, overrides), pinned=overrides.model)
    if overrides.agent:
        return _pinned(view, overrides, pool, complexity)
    pool = spare_reviewers(world, view, pool)
    if not pool.choices:
        return wait_for_pool(pool, "author")
    choice = pool.find(wanted) if wanted else None
    source = RouteSource.MODEL if said else RouteSource.ROUND_ROBIN
    why = f"the router chose it: {said}" if choice else f"next in turn after {after or 'none'}"
    if choice is None:
        choice = _next_in_turn(world, pool, after)
        if said:
            why += f"; the router says {complexity.value}: {said}"
        elif overrides.complexity is not None:
            why += f"; the label says {complexity.value}"
    skills = read_choice(judged.skills, stock)
    return _record(view, Route(choice.agent, choice.model, complexity, source, why + skills.words, skills.skills))


def route_by_hand(world: World, view: TaskView, issue: Issue, *, after: str) -> RecordRoute | Wait:
    """The route of a task that a person made `routed` before it had one: the labels decide, else the next in turn."""
    overrides = parse_overrides(issue.labels, tuple(world.settings.agents))
    complexity = overrides.complexity or Complexity.MEDIUM
    pool = usable(world, Role.AUTHOR, complexity, exclude=_excluded(view, overrides), pinned=overrides.model)
    if overrides.agent:
        return _pinned(view, overrides, pool, complexity)
    pool = spare_reviewers(world, view, pool)
    if not pool.choices:
        return wait_for_pool(pool, "author")
    choice = _next_in_turn(world, pool, after)
    why = f"a person set {Status.ROUTED.label}; next in turn after {after or 'none'}"
    return _record(view, Route(choice.agent, choice.model, complexity, RouteSource.PERSON, why))


def reroute(world: World, view: TaskView, issue: Issue, route: Route) -> RecordRoute | Wait | None:
    """Another agent for a routed task, if its own may not be used now or has just failed at it; None if the route
    stands. An agent that was asked for changes keeps its task while it is cooled for no longer than the setting. One
    that changed nothing is not taken again while another may come back."""
    task = view.task
    overrides = parse_overrides(issue.labels, tuple(world.settings.agents))
    pool = usable(world, Role.AUTHOR, overrides.complexity or route.complexity, exclude=None, pinned=overrides.model)
    keep = pool.find(route.agent)
    failed = bool(task.tried) and task.tried[-1] == route.agent
    if overrides.agent and overrides.agent != route.agent:
        return _moved_by_label(view, overrides, pool, route)
    if keep is not None and (not failed or overrides.agent):
        return None if keep.model == route.model else _record(view, _same(route, keep, "its other model is cooled"))
    if overrides.agent:
        return _wait_for(pool, route.agent)
    if not failed and task.pull is not None and _soon_back(world, route, view):
        return _wait_for(pool, route.agent)
    pool = spare_reviewers(world, view, pool)
    others = [choice for choice in pool.choices if choice.agent != route.agent]
    fresh = [choice for choice in others if choice.agent not in task.tried]
    candidates = fresh or others or list(pool.choices)
    if not others and failed and _is_worth_waiting(view, pool):
        candidates = []
    if not candidates:
        return wait_for_pool(pool, "author")
    choice = _next_in_turn(world, Pool(tuple(candidates)), route.agent)
    if choice.agent == route.agent:
        return None if choice.model == route.model else _record(view, _same(route, choice, "its other model is cooled"))
    why = f"{route.agent} {'did not finish it' if failed else 'may not be used now'}; next in turn"
    return _record(view, _same(route, choice, why))


def wait_for_pool(pool: Pool, role: str) -> Wait:
    """Nobody can take it: until when, and what to do if waiting alone will not help."""
    if pool.until_at is not None:
        return Wait(
            "cooling", f"no {role} may be used now ({pool.words})", "It goes on when the first is back.", pool.until_at
        )
    if all(exclusion.is_lasting for exclusion in pool.exclusions):
        words = pool.words or "no agent is configured"
        return Wait("no_agent_usable", f"no {role} can be used ({words})", "Add or install an agent.")
    return Wait("agents_unknown", f"no {role} is known to be usable ({pool.words})", "It is looked for again.")


def _is_worth_waiting(view: TaskView, pool: Pool) -> bool:
    """Whether the last author changed nothing, and another agent is cooled for a known time."""
    last = view.last(Role.AUTHOR)
    if last is None or not changed_nothing(last):
        return False
    return any(exclusion.until_at is not None for exclusion in pool.exclusions if exclusion.agent != last.agent)


def _judged(world: World, view: TaskView, overrides: Overrides) -> _Judged | None:
    """What is known of how hard it is; None if a router run has to be asked first."""
    if overrides.complexity is not None:
        return _Judged(overrides.complexity)
    router = world.settings.router
    if router.mode is not RouterMode.MODEL or overrides.agent:
        return _Judged(Complexity.MEDIUM)
    last = _last_router(view)
    if last is not None:
        outcome = last.outcome
        if outcome is not None and isinstance(outcome.report, RouterReport):
            report = outcome.report
            return _Judged(report.complexity, report.agent, report.why or report.complexity.value, report.skills)
        return _Judged(Complexity.MEDIUM)
    return None if _judge(world) is not None else _Judged(Complexity.MEDIUM)


def _judge(world: World) -> Choice | None:
    """The router's agent with the model that it may be asked with now; if None, nothing is lost by asking nobody."""
    router = world.settings.router
    agent = world.settings.agents.get(router.agent)
    if agent is None or not agent.enabled or world.agents.get(router.agent) != Known(True):
        return None
    found = first_usable(world, router.agent, (router.model,))
    return found if isinstance(found, Choice) else None


def _last_router(view: TaskView) -> Run | None:
    runs = not_interrupted(run for run in view.counted(Role.ROUTER) if not run.is_open)
    return runs[-1] if runs else None


def _start_router(world: World, view: TaskView, judge: Choice | None) -> StartRun:
    router = world.settings.router
    return StartRun(
        task=view.task.key,
        source=Status.NEW,
        role=Role.ROUTER,
        agent=router.agent,
        model=judge.model if judge is not None else router.model,
        attempt=len(view.runs_of(Role.ROUTER)) + 1,
        deadline_s=router.timeout_s,
        why="its complexity has to be judged",
        generation=world.settings.generation,
    )


def _excluded(view: TaskView, overrides: Overrides) -> dict[str, str]:
    return {} if overrides.agent else dict.fromkeys(view.task.tried[-1:], "it failed at this task")


def _pinned(
    view: TaskView, overrides: Overrides, pool: Pool, complexity: Complexity, *, skills: tuple[str, ...] = ()
) -> RecordRoute | Wait:
    choice = pool.find(overrides.agent)
    if choice is None:
        return _wait_for(pool, overrides.agent)
    why = f"the label agent:{choice.agent} says so"
    return _record(view, Route(choice.agent, choice.model, complexity, RouteSource.LABEL, why, skills))


def _moved_by_label(view: TaskView, overrides: Overrides, pool: Pool, route: Route) -> RecordRoute | Wait:
    return _pinned(view, overrides, pool, overrides.complexity or route.complexity, skills=route.skills)


def _wait_for(pool: Pool, agent: str) -> Wait:
    exclusion = next((e for e in pool.exclusions if e.agent == agent), None)
    words = exclusion.words if exclusion else "it is not configured"
    next_step = "Take the label off to let another agent do it." if exclusion is None or exclusion.is_lasting else ""
    return Wait(
        "agent_not_usable",
        f"{agent} is to do it, and cannot be used now ({words})",
        next_step or "It goes on when that agent is back.",
        exclusion.until_at if exclusion else None,
    )


def _soon_back(world: World, route: Route, view: TaskView) -> bool:
    cooldown = cooled_until(world.cooldowns, agent=route.agent, model=route.model, now=world.now)
    if cooldown is None:
        return False
    limit_s = world.settings.projects[view.task.key.project].cycles_cooldown_s
    return (cooldown.until_at - world.now).total_seconds() <= limit_s


def _next_in_turn(world: World, pool: Pool, after: str) -> Choice:
    order = list(world.settings.agents)
    start = order.index(after) + 1 if after in order else 0
    turn = {name: (index - start) % len(order) for index, name in enumerate(order)}
    return min(pool.choices, key=lambda choice: turn.get(choice.agent, len(order)))


def _same(route: Route, choice: Choice, why: str) -> Route:
    """The route with another agent or model: how hard it is, and what it needs, stays."""
    return replace(route, agent=choice.agent, model=choice.model, source=RouteSource.ROTATION, why=why)


def _record(view: TaskView, route: Route) -> RecordRoute:
    return RecordRoute(view.task.key, view.task.status, route, route.why)

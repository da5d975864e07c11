"""Which agents could take a run now, and why could the others not?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightcrew.core.known import Known
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.core.model.world import World
from nightcrew.core.model_list import FREE, expand
from nightcrew.core.policy.cooling import cooled_until


@dataclass(frozen=True, slots=True)
class Choice:
    """An agent that may be used now, with the model it would use (empty: the CLI's default)."""

    agent: str
    model: str


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why an agent may not be used now, and until when, if that is known. `is_lasting`: waiting alone will not help."""

    agent: str
    words: str
    until_at: datetime | None = None
    is_lasting: bool = False


@dataclass(frozen=True, slots=True)
class Pool:
    """Who may be used, in the order of the settings, and who not."""

    choices: tuple[Choice, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()

    def find(self, agent: str) -> Choice | None:
        return next((choice for choice in self.choices if choice.agent == agent), None)

    @property
    def until_at(self) -> datetime | None:
        return min((e.until_at for e in self.exclusions if e.until_at is not None), default=None)

    @property
    def words(self) -> str:
        return "; ".join(f"{exclusion.agent}: {exclusion.words}" for exclusion in self.exclusions)


@dataclass(frozen=True, slots=True)
class Slots:
    """How many runs may still start: in all, and by project and agent where limited."""

    total: int
    by_project: Mapping[str, int] = field(default_factory=dict)
    by_agent: Mapping[str, int] = field(default_factory=dict)

    def take(self, project: str, agent: str) -> "Slots":
        return Slots(
            self.total - 1,
            {**self.by_project, project: self.by_project.get(project, 0) - 1},
            {**self.by_agent, agent: self.by_agent.get(agent, 0) - 1},
        )

    def why_full(self, project: str, agent: str) -> str:
        """Why no run can start, in words; empty if one can."""
        if self.total <= 0:
            return "all run slots are taken"
        if self.by_project.get(project, 1) <= 0:
            return f"all run slots of {project} are taken"
        if self.by_agent.get(agent, 1) <= 0:
            return f"all run slots of {agent} are taken"
        return ""


def usable(
    world: World,
    role: Role,
    complexity: Complexity,
    *,
    exclude: Mapping[str, str] | None = None,
    avoid: frozenset[tuple[str, str]] = frozenset(),
    pinned: str = "",
) -> Pool:
    """An agent is usable if it is enabled and may take the role, its CLI is there, it is not excluded by the caller
    (name to why), and it has a model for this that is neither cooled nor to be avoided. `pinned` demands one model of
    all."""
    choices: list[Choice] = []
    exclusions: list[Exclusion] = []
    for name, agent in world.settings.agents.items():
        why_not = _why_not(world, agent, role) or (
            Exclusion(name, exclude[name], is_lasting=True) if exclude and name in exclude else None
        )
        if why_not is not None:
            exclusions.append(why_not)
            continue
        models = (pinned,) if pinned else _models(agent, role, complexity)
        found = first_usable(world, name, models, avoid=avoid)
        if isinstance(found, Choice):
            choices.append(found)
        else:
            exclusions.append(found)
    return Pool(tuple(choices), tuple(exclusions))


def _why_not(world: World, agent: AgentSettings, role: Role) -> Exclusion | None:
    available = world.agents.get(agent.name)
    if not agent.enabled:
        return Exclusion(agent.name, "it is switched off", is_lasting=True)
    if role is Role.AUTHOR and not agent.can_author:
        return Exclusion(agent.name, "it is not set up to write", is_lasting=True)
    if role is Role.REVIEWER and not agent.can_review:
        return Exclusion(agent.name, "it is not set up to review", is_lasting=True)
    if not isinstance(available, Known):
        return Exclusion(agent.name, "whether its program is installed could not be found out")
    if not available.value:
        return Exclusion(agent.name, "its program is not installed", is_lasting=True)
    return None


def _models(agent: AgentSettings, role: Role, complexity: Complexity) -> tuple[str, ...]:
    if role is Role.REVIEWER and agent.review_models:
        return agent.review_models
    return agent.models.get(complexity, ()) or _nearest(agent.models, complexity) or ("",)


def _nearest(models: Mapping[Complexity, Iterable[str]], complexity: Complexity) -> tuple[str, ...]:
    """The models of the next harder complexity that has any, else of the next easier one."""
    if not models:
        return ()
    order = list(Complexity)
    at = order.index(complexity)
    for candidate in [*order[at:], *reversed(order[:at])]:
        if candidate in models and tuple(models[candidate]):
            return tuple(models[candidate])
    return ()


def first_usable(
    world: World, name: str, models: tuple[str, ...], *, avoid: frozenset[tuple[str, str]] = frozenset()
) -> Choice | Exclusion:
    """The first of an agent's models that is not cooled, `opencode:free` being each of those it stands for."""
    earliest: Exclusion | None = None
    if FREE in models and name not in world.free_models:
        earliest = Exclusion(name, f"what {FREE} stands for has not been listed yet")
    for model in expand(models, world.free_models.get(name, ())):
        if (name, model) in avoid:
            continue
        cooldown = cooled_until(world.cooldowns, agent=name, model=model, now=world.now)
        if cooldown is None:
            return Choice(name, model)
        if earliest is None or earliest.until_at is None or cooldown.until_at < earliest.until_at:
            what = f"{model} is cooling down" if cooldown.model else "cooling down"
            words = f"{what} after {cooldown.kind.value}: {cooldown.why.rstrip('.')}"
            earliest = Exclusion(name, words, cooldown.until_at)
    return earliest or Exclusion(name, "it has no model for this", is_lasting=True)

"""What a run that has ended means for its agent: a cooldown, or one success more; and what nobody understood, kept.

It is written before the run's row: a crash in between comes to the same, since a run counts once.
"""

from collections.abc import Sequence

from nightcrew.core.errors import Invalid
from nightcrew.core.failures import Failure
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.policy.cooling import NEEDS_PERSON, charge, credit, find_row, is_forgiven
from nightcrew.engine.effect.alarm import cooldown_notice, tell_return, tell_standstill, tell_standstill_over
from nightcrew.engine.effect.means import Means
from nightcrew.ports.agent import Reading
from nightcrew.secret.mask import hide_addresses


async def settle_cooldowns(means: Means, run: Run, *, of_none: Sequence[Run] | None = None) -> None:
    """A failure of the agent or its vendor cools it; runs that end well end the counting. `of_none`: the run is of no
    task, and these were made for the same before it."""
    outcome = run.outcome
    if outcome is None:
        return
    known = await means.ports.store.load_cooldowns()
    if outcome.failure is None:
        await _credit(means, run, known)
        await tell_standstill_over(means, run)
    else:
        await _charge(means, run, outcome.failure, known, of_none=of_none)
        await tell_standstill(means)


async def keep_unknown(means: Means, run: Run, reading: Reading) -> None:
    """Keep a text that no pattern knows, without secrets: `nightcrew failures unknown` shows it."""
    if not reading.unknown:
        return
    try:
        result = means.ports.runtime.load_result(means.folder(run))
    except Invalid:
        return
    now = means.ports.clock.now()
    text = hide_addresses(means.ports.mask(reading.unknown))
    failure = UnknownFailure(run.agent, result.exit_code if result else 0, text, now, now, run.id)
    await means.ports.store.record_unknown_failure(failure)


async def _credit(means: Means, run: Run, known: tuple[Cooldown, ...]) -> None:
    store, rules = means.ports.store, means.settings.cooldowns
    event = means.event("cooldown.cleared", f"{run.agent} worked", task=task_of(run), run=run.id)
    for row in credit(run, known, now=means.ports.clock.now()):
        if is_forgiven(row, rules):
            await tell_return(means, row)
            await store.clear_cooldowns(agent=row.agent, model=row.model, kind=row.kind, event=event)
        else:
            await store.save_cooldown(row)


async def _charge(
    means: Means, run: Run, failure: Failure, known: tuple[Cooldown, ...], *, of_none: Sequence[Run] | None
) -> None:
    now, task = means.ports.clock.now(), task_of(run)
    of_task = await means.ports.store.load_runs(task=run.task) if of_none is None else of_none
    row = charge(run, known, now=now, rules=means.settings.cooldowns, of_task=of_task)
    if row is None:
        return
    words = f"{render_cooled(row)}: {row.kind.value}, until {row.until_at:%Y-%m-%d %H:%M} UTC"
    event = means.event("cooldown.set", words, task=task, run=run.id)
    notice = await cooldown_notice(means, row, known, run)
    await means.ports.store.save_cooldown(row, event=event, notice=notice)
    before = find_row(known, agent=row.agent, model=row.model, kind=row.kind)
    if row.kind in NEEDS_PERSON and before is None:
        told = f"{render_cooled(row)} may need you ({row.kind.value}): {failure.detail}"
        await means.ports.store.record_event(means.event("agent.needs_person", told, task=task, run=run.id))


def task_of(run: Run) -> TaskKey | None:
    """None for a run that answers a question, which is of no task."""
    return None if run.role is Role.ASSISTANT else run.task


def render_cooled(row: Cooldown) -> str:
    """Who is cooled, in words."""
    return row.agent if row.model is None else f"{row.agent} ({row.model})"

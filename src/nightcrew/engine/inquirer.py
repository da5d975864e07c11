"""Having people's questions answered: a part of its own beside the loop, so that a question starves no task, and no
task a question. Level-triggered like the loop: what is open is read from the store, looked at, and moved one step."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import InquiryId
from nightcrew.core.known import Unknown
from nightcrew.core.model.inquiry import Inquiry, InquiryState
from nightcrew.core.model.run import Probe, Stop, StopCause
from nightcrew.core.policy.answering import (
    Begin,
    Bring,
    Collect,
    End,
    GiveUp,
    Rest,
    Step,
    TrySight,
    agents_for,
    next_step,
)
from nightcrew.core.policy.eligible import Pool
from nightcrew.core.prompt_inquiry import TURNS_SHOWN, Turn, build_inquiry_prompt
from nightcrew.engine.effect.inquiry import begin_try, bring_up, collect_try, give_up, try_run
from nightcrew.engine.effect.means import Means
from nightcrew.engine.loop import Loop
from nightcrew.engine.view.circumstance import Gathering
from nightcrew.ports.service import Service

LOOK_EVERY_S = 1.0
IDLE_S = 60.0
STEP_WITHIN_S = 180.0


@dataclass(slots=True)
class Inquirer:
    """`report` is told in words what keeps a question from going on."""

    loop: Loop
    service: Service
    report: Callable[[str], None]

    async def run(self) -> None:
        """Look whenever something happened, and each second while a question is open. For ever."""
        while True:
            news = self._means.bus.news
            pause_s = LOOK_EVERY_S if await self.look() else IDLE_S
            try:
                async with asyncio.timeout(pause_s):
                    await news.wait()
            except TimeoutError:
                continue

    async def look(self) -> bool:
        """One step for each open question; whether any is open afterwards."""
        means = self._means
        inquiries = await means.ports.store.load_inquiries(open_only=True)
        if not inquiries:
            return False
        sights = await self._see(means, inquiries)
        for inquiry in inquiries:
            try:
                async with asyncio.timeout(STEP_WITHIN_S):
                    await self._move(means, inquiry, sights.get(inquiry.id))
            except (NightcrewError, OSError) as error:
                self.report(f"a question does not go on: {error}")
            except TimeoutError:
                self.report(f"a question does not go on: nothing within {STEP_WITHIN_S:g} s")
        return bool(await means.ports.store.load_inquiries(open_only=True))

    @property
    def _means(self) -> Means:
        return self.loop.means

    async def _see(self, means: Means, inquiries: Sequence[Inquiry]) -> dict[InquiryId, TrySight]:
        """What is seen of the tries under way. The sessions are listed before the folders are looked at: one seen dead
        whose result is missing then will not write one any more."""
        ports = means.ports
        running = [inquiry for inquiry in inquiries if inquiry.open_try is not None]
        sessions = await ports.runtime.list_sessions() if running else Unknown("not asked")
        sights = {}
        for inquiry in running:
            one = inquiry.tries[-1]
            run = try_run(inquiry, one)
            known = None if isinstance(sessions, Unknown) else sessions.value.by_name
            probe = Probe.UNKNOWN if known is None else known.get(run.session, Probe.DEAD)
            sights[inquiry.id] = TrySight(
                session=probe,
                has_result=ports.runtime.look(means.folder(run)).has_result,
                running_s=None if one.began_s is None else ports.clock.monotonic() - one.began_s,
                waited_s=(ports.clock.now() - one.at).total_seconds(),
            )
        return sights

    async def _move(self, means: Means, inquiry: Inquiry, sight: TrySight | None) -> None:
        settings = means.settings.ask
        running = await means.ports.store.load_inquiries(open_only=True)
        taken = sum(one.state is InquiryState.RUNNING for one in running)
        pool = None if inquiry.open_try is not None else await self._pool(means, inquiry)
        step: Step = next_step(inquiry, sight=sight, pool=pool, has_room=taken < settings.max_runs)
        match step:
            case Begin(choice=choice):
                begun = await begin_try(means, inquiry, choice, deadline_s=settings.timeout_s)
                await self._bring(means, begun)
            case Bring():
                await self._bring(means, inquiry)
            case Collect():
                await collect_try(means, inquiry)
            case End(why=why):
                is_overdue = not inquiry.is_cancelled and inquiry.tries[-1].started_at is not None
                cause = StopCause.OVERDUE if is_overdue else StopCause.UNWANTED
                await collect_try(means, inquiry, stop=Stop(cause, why))
            case GiveUp(kind=kind, words=words):
                await give_up(means, inquiry, kind=kind, words=words)
            case Rest():
                return
        means.bus.ring()

    async def _pool(self, means: Means, inquiry: Inquiry) -> Pool | None:
        world = self.loop.state.world
        if world is None:
            return None  # the first look has not ended: which CLIs are here is not known yet
        cooldowns = await means.ports.store.load_cooldowns()
        now = means.ports.clock.now()
        return agents_for(inquiry, world, settings=means.settings, cooldowns=cooldowns, now=now)

    async def _bring(self, means: Means, inquiry: Inquiry) -> None:
        async def write_prompt(report: str, checkout: str) -> str:
            seen = await Gathering(self.service, means, inquiry).gather(checkout)
            turns = await self._turns(means, inquiry)
            return build_inquiry_prompt(inquiry.question, turns, seen, report=report)

        await bring_up(means, inquiry, write_prompt)

    async def _turns(self, means: Means, inquiry: Inquiry) -> tuple[Turn, ...]:
        said = await means.ports.store.load_inquiries(talk=inquiry.talk, limit=TURNS_SHOWN + 20)
        return tuple(
            Turn(one.question, one.answer)
            for one in said
            if one.state is InquiryState.ANSWERED and one.asked_at <= inquiry.asked_at and one.id != inquiry.id
        )

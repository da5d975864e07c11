"""The desk: where an order from a chat is carried out, and answered. Each order is one question or command of
`ports.service`, as the command line's are; how tasks and the rest look in a chat is in `view.py`."""

import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from nightcrew.channels import view
from nightcrew.channels.confirm import CONFIRM_FOR, Confirmations, Pending
from nightcrew.core.chat.message import BUTTON_BYTES, Button, Message, Span, Style, plain
from nightcrew.core.chat.order import BINDING, DANGEROUS, NoOrder, Order, Verb, parse_order
from nightcrew.core.chat.proposal import render_order
from nightcrew.core.errors import ConfigError, NightcrewError
from nightcrew.core.ids import TaskKey
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.delegating import BLOCK as SUB_TASKS
from nightcrew.core.policy.saying import split_now
from nightcrew.ports.channel import Place, render_receiver
from nightcrew.ports.clock import Clock
from nightcrew.ports.note import Note
from nightcrew.ports.service import Answer, Service, Word


@dataclass(frozen=True, slots=True)
class Asker:
    """Who gave an order, and where: `channel` is the platform's name, `person` its id of them; `is_private`: nobody
    else is there; `is_late`: it was written long before it arrived."""

    channel: str
    place: Place
    person: str
    is_private: bool = False
    is_late: bool = False

    @property
    def receiver(self) -> str:
        """The name under which notices for this place are kept."""
        return render_receiver(self.channel, self.place, self.person if self.is_private else "")


_HEAD = re.compile(r"[0-9a-f]{7,40}")

Follow = Callable[[Asker, TaskKey], Awaitable[Message]]
"""Begins to follow the run of a task at a place (`/stream`); its answer is said first."""

Ask = Callable[[Asker, str], Awaitable[None]]
"""Asks a question (`/ask`), and says what becomes of it at the asker's place."""


class Desk:
    """Carries orders out. It keeps nothing but what waits for a second word, which stands in the note."""

    def __init__(self, service: Service, clock: Clock, note: Note) -> None:
        self.service = service
        self.follow: Follow | None = None
        """Set by a channel that can."""
        self.ask: Ask | None = None
        """The same."""
        self._clock = clock
        self._confirmations = Confirmations(note)

    async def take(self, text: str, asker: Asker, *, called: str = "") -> Message | None:
        """Answer a message; None if it is no order, and nothing is to be said. Errors that a person can do something
        about are answers."""
        order = parse_order(text, called=called)
        if order is None:
            return None
        if isinstance(order, NoOrder):
            return plain(order.why)
        return await self._guarded(order, asker, is_sure=False)

    async def offer(self, order: Order, asker: Asker) -> Button:
        """A button that has an order carried out which somebody else proposed, when a person presses it. A dangerous
        one asks for a second word, as ever."""
        text = render_order(order)
        words = one_line(f"/{order.verb.value} {order.target}", 40)
        if len(text.encode()) <= BUTTON_BYTES:
            return Button(words, text)
        token = await self._keep(order, asker, is_asked=False)
        return Button(words, f"/confirm {token}")

    async def press(self, order_text: str, asker: Asker) -> Message | None:
        """A button was pressed. Buttons that stand for an order which has to be confirmed ask for it as well."""
        return await self.take(order_text, asker)

    async def _guarded(self, order: Order, asker: Asker, *, is_sure: bool) -> Message | None:
        try:
            return await self._do(order, asker, is_sure=is_sure)
        except ConfigError as error:
            return plain("\n".join(str(problem) for problem in error.problems))
        except NightcrewError as error:
            return plain(str(error))

    async def _do(self, order: Order, asker: Asker, *, is_sure: bool) -> Message | None:
        match order.verb:
            case Verb.CONFIRM:
                return await self._confirmed(order, asker)
            case Verb.CANCEL:
                await self._taken(order, asker)
                return plain("Nothing was done.")
            case Verb.HELP | Verb.STATUS | Verb.TASKS | Verb.TASK | Verb.JOBS | Verb.COOLDOWNS:
                return await self._tell(order)
            case Verb.STREAM:
                key = await self._task(order)
                return (
                    plain("Following is not possible here.") if self.follow is None else await self.follow(asker, key)
                )
            case Verb.ASK:
                if self.ask is None:
                    return plain("Asking is not possible here.")
                await self.ask(asker, order.words)
                return None
            case Verb.SUBSCRIBE | Verb.UNSUBSCRIBE:
                is_on = order.verb is Verb.SUBSCRIBE
                project = await self._project(order.target) if order.target else None
                return _said(await self.service.set_subscription(asker.receiver, project=project, is_on=is_on))
            case Verb.SAY:
                return _said(await self._say(order, asker))
            case _ if not is_sure and (order.verb in DANGEROUS or (order.verb in BINDING and asker.is_late)):
                return await self._ask_again(order, asker)
            case _:
                return _said(await self._command(order))

    async def _tell(self, order: Order) -> Message:
        service = self.service
        match order.verb:
            case Verb.STATUS:
                return view.render_status(await service.status(), now=self._clock.now())
            case Verb.TASKS:
                project = await self._project(order.target) if order.target else None
                return view.render_tasks(await service.list_tasks(project=project))
            case Verb.TASK:
                return view.render_task(await service.get_task(await self._task(order)), now=self._clock.now())
            case Verb.JOBS:
                project = await self._project(order.target) if order.target else None
                return view.render_jobs(await service.list_jobs(project=project), now=self._clock.now())
            case Verb.COOLDOWNS:
                return view.render_cooldowns(await service.list_cooldowns(), now=self._clock.now())
            case _:
                return view.render_help()

    async def _command(self, order: Order) -> Answer:
        service, verb = self.service, order.verb
        if verb is Verb.NEW:
            return await self._new(order)
        if verb in (Verb.PAUSE, Verb.RESUME):
            project = await self._project(order.target) if order.target else None
            return await service.set_paused(paused=verb is Verb.PAUSE, project=project)
        key = await self._task(order)
        match verb:
            case Verb.RETRY:
                return await service.retry_task(key)
            case Verb.BLOCK:
                return await service.block_task(key, why=order.rest or "set aside in a chat")
            case Verb.UNBLOCK:
                return await service.unblock_task(key)
            case Verb.DELEGATE if order.rest in ("accept", "refuse"):
                return await service.delegate_task(key, accept=order.rest == "accept")
            case Verb.DELEGATE:
                return Answer(False, f"/delegate {key}: say accept or refuse.")
            case Verb.STOP:
                return await service.stop_task(key)
            case Verb.APPROVE:
                return await self._approve(order, key)
            case Verb.MERGE:
                proposed = await self._proposed(key)
                answer = proposed or await self._approve(order, key)
                await service.wake()
                return answer
            case Verb.COMMENT if order.rest:
                return await service.comment_task(key, text=order.rest)
            case _:
                return Answer(False, f"/{verb.value} {key}: what is missing is the text.")

    async def _say(self, order: Order, asker: Asker) -> Answer:
        key = await self._task(order)
        text, interrupts = split_now(order.rest)
        if not text:
            return Answer(False, f"/say {key}: what is missing is the text.")
        who = f"{asker.person} on {asker.channel}"
        word = Word(text, who, receiver=asker.receiver, interrupts=interrupts)
        answer = await self.service.say_to(key, word)
        return (
            replace(answer, words=f"{answer.words}. It is said here when it has been read.")
            if answer.changed
            else answer
        )

    async def _approve(self, order: Order, key: TaskKey) -> Answer:
        """A button names the head that it was made for; pressed after another push it approves nothing."""
        meant = order.rest if _HEAD.fullmatch(order.rest) else ""
        return await self.service.approve_task(key, head=meant)

    async def _proposed(self, key: TaskKey) -> Answer | None:
        """That a word for a merge is no word for sub-tasks, where its author proposes some."""
        block = (await self.service.get_task(key)).summary.task.block
        if block is None or block.code != SUB_TASKS:
            return None
        return Answer(False, f"{key} has nothing to merge: it proposes sub-tasks. /delegate {key} accept, or refuse")

    async def _new(self, order: Order) -> Answer:
        projects = [project.slug for project in (await self.service.status()).projects]
        first, _, further = order.words.partition("\n")
        known = [slug for slug in projects if order.target.casefold() in _names(slug)]
        title, named = first.strip(), projects[0] if len(projects) == 1 else None
        if len(known) == 1:
            title, named = title.partition(" ")[2].strip(), known[0]
        if named is None:
            return Answer(False, f"Which project? /new PROJECT TITLE, with one of: {', '.join(projects)}")
        if not title:
            return Answer(False, "A title is missing: /new PROJECT TITLE")
        return await self.service.add_task(named, title=title, body=further.strip())

    async def _ask_again(self, order: Order, asker: Asker) -> Message:
        key = await self._task(order)
        order = replace(order, words=f"{key} {order.rest}".strip())
        token = await self._keep(order, asker, is_asked=True)
        minutes = int(CONFIRM_FOR.total_seconds() // 60)
        question = (Span(f"/{order.verb.value} {order.words}", Style.CODE), Span(f"\nReally? (within {minutes} min)"))
        return Message(question, (Button("Yes", f"/confirm {token}"), Button("No", f"/cancel {token}")))

    async def _keep(self, order: Order, asker: Asker, *, is_asked: bool) -> str:
        token, now = secrets.token_hex(8), self._clock.now()
        pending = Pending(order, asker.person, str(asker.place), now + CONFIRM_FOR, is_asked)
        await self._confirmations.ask(token, pending, now=now)
        return token

    async def _taken(self, order: Order, asker: Asker) -> Pending | None:
        """What the token of a button stands for, which it does no more."""
        place, now = str(asker.place), self._clock.now()
        return await self._confirmations.take(order.target, person=asker.person, place=place, now=now)

    async def _confirmed(self, order: Order, asker: Asker) -> Message | None:
        kept = await self._taken(order, asker)
        if kept is None:
            return plain("That is not waiting for you any more (too late, or done already); give the order again.")
        return await self._guarded(kept.order, asker, is_sure=kept.is_asked)

    async def _task(self, order: Order) -> TaskKey:
        if not order.target:
            raise NightcrewError(f"Which task? /{order.verb.value} TASK, such as 42 or owner/repo#42")
        return await self.service.resolve_task(order.target)

    async def _project(self, text: str) -> str:
        projects = [project.slug for project in (await self.service.status()).projects]
        found = [slug for slug in projects if text.casefold() in _names(slug)]
        if len(found) != 1:
            raise NightcrewError(f"Which project? One of: {', '.join(projects)}")
        return found[0]


def _names(slug: str) -> tuple[str, str]:
    """What a project may be called: its whole name, or the repository's alone."""
    return slug.casefold(), slug.rpartition("/")[2].casefold()


def _said(answer: Answer) -> Message:
    url = answer.data.get("url")
    buttons = (Button("Open", url=url),) if isinstance(url, str) and url.startswith(("https://", "http://")) else ()
    return Message((Span(answer.words),), buttons)

"""Questions of people: written down here, answered by `inquirer`."""

import re
from dataclasses import replace

from nightcrew.core.errors import Conflict, Invalid, Missing, NightcrewError
from nightcrew.core.ids import InquiryId, TaskKey
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.core.neutral import one_line
from nightcrew.core.prompt_inquiry import QUESTION_LIMIT
from nightcrew.engine.question import Questions
from nightcrew.ports.answer import Answer
from nightcrew.ports.inquiry_service import NewInquiry

MOST_OPEN = 20
"""Questions that may wait and be answered at a time."""
_TASK = re.compile(r"(?<![\w./#-])(?:[A-Za-z0-9][\w.-]*/)?[\w.-]*#i?[0-9]{1,10}\b")


class Asking(Questions):
    """Implements `ports.inquiry_service.InquiryService`."""

    async def ask(self, new: NewInquiry) -> Inquiry:
        ports, settings = self._means.ports, self._means.settings
        question = new.question.strip()
        if not question:
            raise Invalid("a question needs a text")
        if len(question) > QUESTION_LIMIT:
            raise Invalid(f"the question has more than {QUESTION_LIMIT} characters")
        task = new.task or await self._mentioned(question, new.project)
        project = self._reader.spell(task.project if task is not None else new.project)
        if project and project not in settings.projects:
            raise Missing(f"{project} is not a configured project")
        if new.task is not None and await ports.store.find_task(new.task) is None:
            raise Missing(f"{new.task} is not a task")
        if new.agent and new.agent not in settings.agents:
            raise Missing(f"there is no agent {one_line(new.agent, 40)}; there are: {', '.join(settings.agents)}")
        if self._loop.is_draining:
            raise Conflict("Nightcrew takes no questions any more: it ends when no run lives")
        if len(await ports.store.load_inquiries(open_only=True)) >= MOST_OPEN:
            raise Conflict(f"{MOST_OPEN} questions wait for an answer already; ask again later")
        name = InquiryId(ports.ids.run_id())
        inquiry = Inquiry(
            id=name,
            talk=new.talk or name,
            question=ports.mask(question),
            asked_at=ports.clock.now(),
            project=project,
            task=task,
            agent=new.agent,
            origin=new.origin,
        )
        event = self._means.event("inquiry.asked", one_line(inquiry.question, 200), task=task, inquiry=name)
        await ports.store.record_inquiry(inquiry, event=event)
        self._means.bus.ring()
        return inquiry

    async def _mentioned(self, question: str, project: str) -> TaskKey | None:
        """The first task that the question names, as `owner/repo#42`, `repo#42` or `#42`; of the project, if one is
        named beside it."""
        for name in _TASK.findall(question)[:10]:
            try:
                key = await self._reader.resolve_task(name)
            except NightcrewError:
                continue  # no task of that name, or several: it is talk
            is_known = key.project in self._means.settings.projects
            if is_known and (not project or key.project == self._reader.spell(project)):
                return key
        return None

    async def get_inquiry(self, inquiry: InquiryId) -> Inquiry:
        found = await self._means.ports.store.find_inquiry(inquiry)
        if found is None:
            raise Missing(f"there is no question {one_line(inquiry, 40)}")
        return found

    async def list_inquiries(self, *, talk: str | None = None, limit: int = 20) -> tuple[Inquiry, ...]:
        return await self._means.ports.store.load_inquiries(talk=talk, limit=min(max(limit, 1), 200))

    async def cancel_inquiry(self, inquiry: InquiryId) -> Answer:
        found = await self.get_inquiry(inquiry)
        if not found.is_open or found.is_cancelled:
            return Answer(False, "it is over already" if not found.is_open else "it is cancelled already")
        event = self._means.event("inquiry.cancelled", "a person gave it up", task=found.task, inquiry=inquiry)
        await self._means.ports.store.change_inquiry(
            inquiry, lambda stored: replace(stored, is_cancelled=True), event=event
        )
        self._means.bus.ring()
        return Answer(True, "it is cancelled")

    async def list_untold(self, channel: str) -> tuple[Inquiry, ...]:
        return await self._means.ports.store.load_inquiries(untold_in=channel)

    async def note_told(self, inquiry: InquiryId) -> None:
        ports = self._means.ports
        await ports.store.note_told(inquiry, at=ports.clock.now())

"""The service as others see it: the whole of `ports.service` for CLI, web and chat. What only asks is in `question`;
commands about a task become the same actions as the loop's, made by the same actor."""

from collections.abc import Sequence
from dataclasses import replace

from nightcrew.core.actions import Done, MoveStatus
from nightcrew.core.command import ACCEPT, REFUSE, Command, Settlement, Verb
from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.diagnosis import Diagnosis
from nightcrew.core.model.internal import NO_PINS, Pins, TaskKind
from nightcrew.core.model.settings import Intake
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.delegating import BLOCK as SUB_TASKS
from nightcrew.core.policy.delegating import is_parent
from nightcrew.core.policy.routing import parse_overrides
from nightcrew.core.render import MARK
from nightcrew.core.step.asked import answer_command
from nightcrew.engine.asking import Asking
from nightcrew.engine.board import sync_now
from nightcrew.engine.cooldown import clear_cooldowns
from nightcrew.engine.doctor import Ward, examine
from nightcrew.engine.effect.filing import INTAKE_LABEL, file_issue
from nightcrew.engine.effect.internal import NewTask, add_internal, publish_internal
from nightcrew.engine.effect.means import subject
from nightcrew.engine.effect.status import vouch, waive
from nightcrew.engine.job import run_job, switch_job
from nightcrew.engine.prune import prune
from nightcrew.engine.request import ask_about
from nightcrew.engine.revert import revert
from nightcrew.engine.saying import say_to
from nightcrew.engine.subscription import change_subscription
from nightcrew.engine.view.record import PAUSED
from nightcrew.ports.service import Answer, Word


class Facade(Asking):
    """Implements `ports.service.Service`: the questions, and the orders."""

    async def prune(self, *, dry_run: bool) -> Answer:
        return await prune(self._means, dry_run=dry_run)

    async def examine(self, *, fix: bool) -> tuple[Diagnosis, ...]:
        found = await examine(Ward.of_loop(self._loop), fix=fix)
        self._means.bus.ring()
        return found

    async def sync_board(self, project: str, *, create: bool = False) -> Answer:
        return await sync_now(self._loop, self._reader.spell(project), create=create)

    async def reload_config(self) -> Answer:
        fresh = await self._loop.reloader.ask()
        data = {"changes": list(fresh.changes), "needs_restart": list(fresh.needs_restart)}
        words = [*fresh.changes, *(f"{change} (needs a restart)" for change in fresh.needs_restart)]
        return Answer(bool(fresh.changes), "; ".join(words) or "nothing is different", data)

    async def add_task(self, project: str, *, title: str, body: str, labels: Sequence[str] = ()) -> Answer:
        project = self._reader.spell(project)
        settings = self._means.settings.projects.get(project)
        if settings is None:
            raise Missing(f"{project} is not a configured project")
        if not title.strip():
            raise Invalid("a task needs a title")
        tracker = self._means.ports.forge_of(self._means.settings, project).tracker
        wanted = tuple(labels) if settings.intake is Intake.ALL else (settings.intake_label, *labels)
        if settings.intake is not Intake.ALL:
            await tracker.ensure_labels(project, {settings.intake_label: INTAKE_LABEL})
        issue = await file_issue(self._means, project, title=title, body=body, labels=wanted)
        self._means.observer.expire()
        self._loop.wake()
        key = TaskKey(project, issue.number)
        return Answer(True, f"{key} was filed", {"task": str(key), "url": issue.url})

    async def add_internal_task(
        self, project: str, *, title: str, body: str, kind: TaskKind = TaskKind.CHANGE, pins: Pins = NO_PINS
    ) -> Answer:
        project = self._reader.spell(project)
        if project not in self._means.settings.projects:
            raise Missing(f"{project} is not a configured project")
        if not title.strip():
            raise Invalid("a task needs a title")
        problems = parse_overrides(pins.labels, tuple(self._means.settings.agents)).problems
        if problems:
            raise Invalid("; ".join(problems))
        new = NewTask(one_line(title, 250), body, "its person asked for it", kind, pins)
        key = await add_internal(self._means, project, new)
        self._after(key)
        return Answer(True, f"{key} is there", {"task": str(key)})

    async def publish_task(self, key: TaskKey) -> Answer:
        await self._task(key)
        issue, is_new = await publish_internal(self._means, key)
        self._means.observer.expire()
        self._after(key)
        data = {"task": str(TaskKey(key.project, issue.number)), "url": issue.url}
        return Answer(is_new, f"{key} is issue #{issue.number}" + ("" if is_new else " already"), data)

    async def approve_task(self, key: TaskKey, *, head: str = "") -> Answer:
        task = await self._task(key)
        if not head and task.status is Status.BLOCKED and task.block is not None and task.block.code == SUB_TASKS:
            return await self.delegate_task(key, accept=True)
        if task.pull is None or task.status not in (Status.NEEDS_REVIEW, Status.IN_REVIEW):
            raise Conflict(f"{key} has no pull request under review to approve")
        pull = await self._means.forge(key).scm.fetch_pull(key.project, task.pull)
        if not pull.head_sha.startswith(head):
            raise Conflict(f"{key} has another head by now, {pull.head_sha[:10]}: look at it first")
        if task.approved_sha == pull.head_sha:
            return Answer(False, f"{pull.head_sha[:10]} was approved already")
        event = self._means.event("task.approved", "a person said yes", task=key, sha=pull.head_sha)
        await self._means.ports.store.update_task(
            key, lambda stored: replace(stored, approved_sha=pull.head_sha), event=event
        )
        self._after(key)
        return Answer(True, f"{pull.head_sha[:10]} may be merged once its gate is open")

    async def retry_task(self, key: TaskKey) -> Answer:
        if key.is_internal:
            # Nobody can open it again on the forge.
            await self._means.ports.store.change_internal(key, lambda stored: replace(stored, is_closed=False))
        return await self._obey(key, Command(Verb.RETRY))

    async def revert(self, text: str) -> Answer:
        return await revert(self._loop, self._reader, text)

    async def stop_task(self, key: TaskKey) -> Answer:
        runs = await self._means.ports.store.load_runs(task=key, open_only=True)
        if not runs:
            raise Conflict(f"nothing works on {key}")
        return await self._obey(key, Command(Verb.STOP))

    async def block_task(self, key: TaskKey, *, why: str) -> Answer:
        return await self._obey(key, Command(Verb.BLOCK, one_line(why, 500)))

    async def unblock_task(self, key: TaskKey) -> Answer:
        return await self._obey(key, Command(Verb.UNBLOCK))

    async def delegate_task(self, key: TaskKey, *, accept: bool) -> Answer:
        return await self._obey(key, Command(Verb.DELEGATE, ACCEPT if accept else REFUSE))

    async def start_task(self, key: TaskKey) -> Answer:
        return await self._obey(key, Command(Verb.START))

    async def claim_pull(self, pull: str) -> Answer:
        return await ask_about(self._loop, pull, Verb.CLAIM)

    async def review_pull(self, pull: str, *, again: bool = False) -> Answer:
        return await ask_about(self._loop, pull, Verb.REVIEW, again=again)

    async def close_task(self, key: TaskKey) -> Answer:
        await self._task(key)
        tracker = self._means.forge(key).tracker
        await self._means.journal.effect(
            "issue.close", subject(key), lambda: tracker.set_issue_open(key.project, key.number, is_open=False)
        )
        self._after(key)
        return Answer(True, f"{key} is closed; what it did is kept")

    async def comment_task(self, key: TaskKey, *, text: str) -> Answer:
        await self._task(key)
        if not text.strip() or text.startswith(MARK):
            raise Invalid("a comment needs a text of its own")
        if key.is_internal:
            return await self._answer(key, text)
        tracker = self._means.forge(key).tracker
        await self._means.journal.effect(
            "comment.create", subject(key), lambda: tracker.create_comment(key.project, key.number, body=text)
        )
        self._means.observer.expire()
        self._after(key)
        return Answer(True, f"the comment is on {key}")

    async def say_to(self, key: TaskKey, word: Word) -> Answer:
        await self._task(key)
        return await say_to(self._loop, key, word)

    async def run_job(self, project: str, name: str) -> Answer:
        answer = await run_job(self._means, self._jobs, project, name)
        self._loop.wake()
        return answer

    async def switch_job(self, project: str, name: str, *, enabled: bool) -> Answer:
        answer = await switch_job(self._means, self._jobs, project, name, enabled=enabled)
        self._loop.wake()
        return answer

    async def set_paused(self, *, paused: bool, project: str | None = None) -> Answer:
        project = project if project is None else self._reader.spell(project)
        if project is not None and project not in self._means.settings.projects:
            raise Missing(f"{project} is not a configured project")
        name = PAUSED if project is None else f"{PAUSED}.{project}"
        store = self._means.ports.store
        word, before = "yes" if paused else "no", await store.find_value(name)
        if (before or "no") == word:
            return Answer(False, f"{project or 'Nightcrew'} is {'paused' if paused else 'not paused'} already")
        await store.save_value(name, word)
        await store.record_event(
            self._means.event("service.paused" if paused else "service.resumed", project or "all projects")
        )
        self._loop.wake()
        return Answer(True, f"{project or 'Nightcrew'} is {'paused' if paused else 'at work again'}")

    async def drain(self) -> Answer:
        if self._loop.is_draining:
            return Answer(False, "Nightcrew takes no new work already, and ends when no run lives any more")
        await self._means.ports.store.record_event(self._means.event("service.draining", "it was asked to end"))
        self._loop.drain()
        return Answer(True, "Nightcrew takes no new work, and ends when no run lives any more")

    async def clear_cooldowns(self, *, agent: str | None, model: str | None = None) -> Answer:
        ports = self._means.ports
        answer = await clear_cooldowns(
            ports.store,
            agents=self._means.settings.agents,
            agent=agent,
            model=model,
            now=ports.clock.now(),
            event=self._means.event,
        )
        self._means.bus.ring()
        self._loop.wake()
        return answer

    async def forget_memory(self, run: RunId) -> Answer:
        await self._means.ports.store.forget_memory(run)
        return Answer(True, f"what {run} learned is shown to nobody any more")

    async def set_subscription(self, receiver: str, *, project: str | None, is_on: bool) -> Answer:
        if project is not None:
            project = self._reader.spell(project)
            if project not in self._means.settings.projects:
                raise Missing(f"{project} is not a configured project")
        what = f"Notices of {project or 'all projects'}"
        changed = await change_subscription(self._means.ports.store, receiver, project=project, is_on=is_on)
        if not changed:
            return Answer(False, f"{what} came here already" if is_on else f"{what} did not come here")
        return Answer(True, f"{what} {'come' if is_on else 'no more come'} here")

    async def test_notices(self, receiver: str | None) -> Answer:
        return await self._test_notices(receiver)

    async def wake(self) -> Answer:
        self._means.observer.expire()
        self._loop.wake()
        return Answer(True, "looking now")

    async def _obey(self, key: TaskKey, command: Command) -> Answer:
        """A command of a person here comes to the same as one in a comment."""
        task = await self._task(key)
        action = answer_command(task, command, agents=tuple(self._means.settings.agents))
        if isinstance(action, tuple):
            settlement, words, _ = action
            if command.verb is Verb.RETRY and settlement is Settlement.DONE:
                await vouch(self._means, key)
            if command.verb is Verb.START and settlement is Settlement.DONE:
                return await self._waive(task)
            if settlement is Settlement.REFUSED:
                raise Conflict(f"{key}: {words}")
            return Answer(False, f"{key}: {words}")
        target = action.target if isinstance(action, MoveStatus) else Status.DONE
        outcome = await self._loop.actor.submit(action)
        if not isinstance(outcome, Done):
            raise Conflict(f"{key} could not be moved to {target.value}: {outcome.why}")
        return Answer(True, f"{key} is {target.value}")

    async def _waive(self, task: Task) -> Answer:
        if task.waived and not is_parent(task):
            return Answer(False, f"{task.key} waits for no other issue already")
        await waive(self._means, task.key)
        self._after(task.key)
        return Answer(True, f"{task.key} starts whatever it depends on")

    async def _answer(self, key: TaskKey, text: str) -> Answer:
        """What its person adds to an internal task goes into its text; a question that it answers is settled."""
        now = self._means.ports.clock.now()
        said = f"\n\n## What its person added on {now:%Y-%m-%d %H:%M} UTC\n\n{text.strip()}\n"
        event = self._means.event("task.commented", "its person added to its text", task=key)
        await self._means.ports.store.change_internal(
            key, lambda stored: replace(stored, body=stored.body + said), event=event
        )
        task = await self._task(key)
        if task.block is not None and task.block.answerable:
            return await self._obey(key, Command(Verb.UNBLOCK))
        self._after(key)
        return Answer(True, f"it is added to {key}")

    def _after(self, key: TaskKey) -> None:
        self._means.observer.touch(key)
        self._means.bus.ring()
        self._loop.wake()

"""A person's question before an agent: its try written down, started, collected. The row comes before the session, so
that what a crash cuts short is finished by the next look. Nothing is taken from the agent but its words."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from nightcrew.core.errors import ConfigError, Conflict, Denied, Invalid, Missing, PortError
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.inquiry import Inquiry, InquiryState, Try
from nightcrew.core.model.report import AssistantReport, Usage
from nightcrew.core.model.run import Role, Run, RunOutcome, RunState, Stop
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.eligible import Choice
from nightcrew.core.report_form import render_report_instructions
from nightcrew.engine.effect.brief import AGENT_FOLDER, REPORT_FILE, Brief, lay_out
from nightcrew.engine.effect.collect import mask_run_folder
from nightcrew.engine.effect.confine import NO_REACH, Reach
from nightcrew.engine.effect.cool import keep_unknown, settle_cooldowns
from nightcrew.engine.effect.ending import read_end
from nightcrew.engine.effect.leak import mask_failure, mask_report
from nightcrew.engine.effect.means import Means
from nightcrew.engine.effect.session import prepare_session
from nightcrew.engine.journal import Subject
from nightcrew.ports.agent import AgentJob
from nightcrew.sandbox import checkout_view

FOLDER = "asks"
"""Below the home: a folder for each question, one in it for each try."""

NO_USAGE = Usage()

WritePrompt = Callable[[str, str], Awaitable[str]]
"""The prompt, from the words about the report, and the project whose checkout is there (or empty)."""


@dataclass(frozen=True, slots=True)
class _Place:
    cwd: Path
    checkout: str
    reach: Reach


def try_run(inquiry: Inquiry, one: Try) -> Run:
    """A try as a run, for what reads and ends runs. It is no row among those, and its task is none (number 0)."""
    return Run(
        id=RunId(f"{inquiry.id}-{one.number}"),
        task=TaskKey(inquiry.project, 0),
        role=Role.ASSISTANT,
        agent=one.agent,
        model=one.model,
        attempt=one.number,
        state=RunState.RUNNING if one.ended_at is None else RunState.ENDED,
        session=f"nc-ask-{inquiry.id}-{one.number}",
        folder=f"{FOLDER}/{inquiry.id}/{Role.ASSISTANT.value}-{one.number}",
        created_at=one.at,
        deadline_s=one.deadline_s,
        agent_session=one.session,
        started_at=one.started_at,
        ended_at=one.ended_at,
        outcome=None if one.failure is None else RunOutcome(None, one.failure),
        began_s=one.began_s,
    )


async def begin_try(means: Means, inquiry: Inquiry, choice: Choice, *, deadline_s: float) -> Inquiry:
    """The intent: this agent is to answer."""
    ports = means.ports
    one = Try(
        number=len(inquiry.tries) + 1,
        agent=choice.agent,
        model=choice.model,
        session=str(ports.ids.session_uuid()),
        at=ports.clock.now(),
        deadline_s=deadline_s,
    )
    event = means.event("inquiry.taken", f"{choice.agent} is to answer", task=inquiry.task, inquiry=inquiry.id)
    return await ports.store.change_inquiry(
        inquiry.id,
        lambda stored: replace(stored, state=InquiryState.RUNNING, tries=(*stored.tries, one)),
        event=event,
    )


async def bring_up(means: Means, inquiry: Inquiry, write_prompt: WritePrompt) -> None:
    """Have the session of the last try. What can never be started ends the try; PortError: not now."""
    run = try_run(inquiry, inquiry.tries[-1])
    if run.agent not in means.ports.agents:
        await means.ports.runtime.stop_session(run.session)
        await _close(means, inquiry, run, failure=None, lost=f"{run.agent} is not in the settings any more")
        return
    try:
        place = await _place(means, inquiry, run)
        brief = await _brief(means, run, place, write_prompt)
        prepared = await prepare_session(means, run, brief, reach=place.reach)
    except (Invalid, Missing, Denied, Conflict, ConfigError) as error:
        failure = Failure(FailureKind.CRASH, one_line(f"it could not be started: {error}", 500))
        await means.ports.runtime.stop_session(run.session)  # that of an earlier try at the same start
        await _close(means, inquiry, run, failure=failure)
        return
    means.started_with[run.id] = means.ports.agents[run.agent]
    spec, runtime = prepared.spec, means.ports.runtime
    await means.journal.effect("session.start", Subject(None, run.id), lambda: runtime.start_session(spec))
    clock = means.ports.clock
    now, mono = clock.now(), clock.monotonic()
    event = means.event("inquiry.started", f"{run.agent} started", task=inquiry.task, sandbox=prepared.sandbox)

    def start(stored: Inquiry) -> Inquiry:
        return replace(stored, tries=(*stored.tries[:-1], replace(stored.tries[-1], started_at=now, began_s=mono)))

    await means.ports.store.change_inquiry(inquiry.id, start, event=event)


async def collect_try(means: Means, inquiry: Inquiry, *, stop: Stop | None = None) -> None:
    """Read what the last try left; with `stop`, end its session first. An answer ends the question; after anything else
    it waits for the next agent."""
    run = replace(try_run(inquiry, inquiry.tries[-1]), stop=stop)
    runtime = means.ports.runtime
    if stop is not None:
        await means.journal.effect("session.stop", Subject(None, run.id), lambda: runtime.stop_session(run.session))
    else:
        await runtime.stop_session(run.session)  # an agent may outlive its session by seconds
    reading, interruption = read_end(means, run, has_commits=False)
    report = mask_report(means.ports.mask, reading.report) if interruption is None else None
    failure = mask_failure(means.ports.mask, reading.failure)
    if interruption is None and failure is None and not isinstance(report, AssistantReport):
        failure = Failure(FailureKind.BAD_OUTPUT, "it gave no answer")
    await mask_run_folder(means, run)
    await keep_unknown(means, run, reading)
    if interruption is None:
        ended = replace(run, state=RunState.ENDED, outcome=RunOutcome(report, failure))
        before = [try_run(inquiry, one) for one in inquiry.tries[:-1]]
        await settle_cooldowns(means, ended, of_none=before)
    if isinstance(report, AssistantReport) and failure is None:
        await _answer(means, inquiry, run, report, usage=reading.usage)
    else:
        lost = interruption.why if interruption else ""
        await _close(means, inquiry, run, failure=failure, lost=lost, usage=reading.usage)


async def give_up(means: Means, inquiry: Inquiry, *, kind: str, words: str) -> None:
    """End it without an answer."""
    said, now = means.ports.mask(words), means.ports.clock.now()
    event = means.event("inquiry.failed", one_line(words, 500), task=inquiry.task, inquiry=inquiry.id, failure=kind)
    await means.ports.store.change_inquiry(
        inquiry.id,
        lambda stored: replace(stored, state=InquiryState.FAILED, kind=kind, failure=said, ended_at=now),
        event=event,
    )


async def _answer(means: Means, inquiry: Inquiry, run: Run, report: AssistantReport, *, usage: Usage) -> None:
    now = means.ports.clock.now()
    event = means.event("inquiry.answered", f"{run.agent} answered", task=inquiry.task, inquiry=inquiry.id)

    def change(stored: Inquiry) -> Inquiry:
        tries = (*stored.tries[:-1], replace(stored.tries[-1], ended_at=now, usage=usage))
        state = InquiryState.ANSWERED
        return replace(stored, state=state, tries=tries, answer=report.answer, orders=report.orders, ended_at=now)

    await _tidy(means, inquiry, run)
    await means.ports.store.change_inquiry(inquiry.id, change, event=event)
    means.started_with.pop(run.id, None)


async def _close(
    means: Means, inquiry: Inquiry, run: Run, *, failure: Failure | None, lost: str = "", usage: Usage = NO_USAGE
) -> None:
    now, failure = means.ports.clock.now(), mask_failure(means.ports.mask, failure)
    why = f"{run.agent}: {failure.kind.value}, {failure.detail}" if failure else f"{run.agent}: {lost}"
    event = means.event("inquiry.unanswered", one_line(why, 500), task=inquiry.task, inquiry=inquiry.id)

    def change(stored: Inquiry) -> Inquiry:
        ended = replace(stored.tries[-1], ended_at=now, failure=failure, lost=lost, usage=usage)
        return replace(stored, state=InquiryState.ASKED, tries=(*stored.tries[:-1], ended))

    await _tidy(means, inquiry, run)
    await means.ports.store.change_inquiry(inquiry.id, change, event=event)
    means.started_with.pop(run.id, None)


async def _tidy(means: Means, inquiry: Inquiry, run: Run) -> None:
    """Before the row: afterwards nobody would look for it."""
    if inquiry.project:
        await means.ports.workspace.remove_checkout(inquiry.project, run.id)


async def _place(means: Means, inquiry: Inquiry, run: Run) -> _Place:
    """A throw-away checkout of the project's base, if that is here; else an empty folder."""
    project, workspace = inquiry.project, means.ports.workspace
    sha = means.observer.base_sha(project) if project in means.settings.projects else None
    if sha is not None:
        try:
            path = await means.journal.effect(
                "checkout.ensure",
                Subject(None, run.id),
                lambda: workspace.ensure_review_checkout(project, run.id, sha),
            )
        except PortError:
            pass  # the question can be answered without it
        else:
            borrowed = workspace.git_folders(project, 0).borrowed
            read = means.project(run.task).sandbox_read
            return _Place(path, project, Reach(read, lambda: checkout_view(checkout=path, borrowed=borrowed)))
    empty = means.folder(run) / "work"
    empty.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _Place(empty, "", NO_REACH)


async def _brief(means: Means, run: Run, place: _Place, write_prompt: WritePrompt) -> Brief:
    folder = means.folder(run)
    report = folder / REPORT_FILE
    prompt = await write_prompt(render_report_instructions(run.role, str(report)), place.checkout)
    job = AgentJob(
        role=run.role,
        prompt=means.ports.mask(prompt),
        folder=folder / AGENT_FOLDER,
        workspace=place.cwd,
        report=report,
        model=run.model,
        session=run.agent_session,
        env=means.ports.resolve_env(means.settings.agents[run.agent]),
    )
    return lay_out(means, run, job)

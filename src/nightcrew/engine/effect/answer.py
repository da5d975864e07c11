"""Answering what people said on a pull request, once its author is done: in threads, and by asking for review again."""

from dataclasses import dataclass

from nightcrew.core.actions import ActionOutcome, AnswerFeedback, Done, Refused
from nightcrew.core.errors import Denied, Invalid, Missing, OutcomeUnknown
from nightcrew.core.known import Unknown
from nightcrew.core.model.report import AuthorReport, ThreadAnswer
from nightcrew.core.model.run import Run
from nightcrew.core.model.thread import Thread
from nightcrew.core.policy.reacting import answered_thing, objections
from nightcrew.core.words import is_own_remark, render_answer
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.journal import look_for


@dataclass(frozen=True, slots=True)
class _Answering:
    """What one run answers, and where."""

    means: Means
    action: AnswerFeedback
    run: Run
    report: AuthorReport
    given: frozenset[str]


async def answer_feedback(means: Means, action: AnswerFeedback) -> ActionOutcome:
    """Each thread that is open, whose last word a run was given, gets an answer; what the author says it fixed is
    resolved; whoever asked for changes is asked for review again. What the forge cannot do stands in the event."""
    run, key, store = await means.run(action.run), action.task, means.ports.store
    if run.outcome is None or not isinstance(run.outcome.report, AuthorReport):
        return Refused("the run has no report to answer with")
    given = (await store.load_deliveries()).get(key, frozenset())
    if answered_thing(run.id) in given:
        return Refused("it was answered already")
    answering = _Answering(means, action, run, run.outcome.report, given)
    lacking = [words for words in (await _answer_threads(answering), await _ask_again(answering)) if words]
    why = "; ".join(["what people said was answered", *lacking])
    event = means.event("feedback.answered", why, task=key, run=run.id)
    await store.record_answer(key, run.id, answered_thing(run.id), event=event)
    return Done()


async def _answer_threads(answering: _Answering) -> str:
    scm, action = answering.means.forge(answering.action.task).scm, answering.action
    try:
        threads = await scm.list_threads(action.task.project, action.pull)
        for thread in threads:
            if thread.remarks and not thread.is_resolved:
                await _answer(answering, thread)
    except (Denied, Invalid, Missing) as error:
        return f"threads could not be answered ({error})"
    return ""


async def _answer(answering: _Answering, thread: Thread) -> None:
    means, action, run = answering.means, answering.action, answering.run
    scm, last = means.forge(action.task).scm, thread.remarks[-1]
    first = thread.remarks[0].id
    said = next((one for one in answering.report.answers if one.thread == first), ThreadAnswer(first, ""))
    if not is_own_remark(last.body):
        if f"remark:{last.id}" not in answering.given:
            return  # it was said after the run began: the next one is given it
        body = means.ports.mask(render_answer(run, said.text))
        try:
            await means.journal.effect(
                "thread.reply",
                subject(action.task, run.id),
                lambda: scm.reply_to_thread(action.task.project, action.pull, thread, body=body),
            )
        except OutcomeUnknown as error:
            await look_for(error, lambda: _find(answering, thread))
    if said.is_fixed:
        await means.journal.effect(
            "thread.resolve",
            subject(action.task, run.id),
            lambda: scm.resolve_thread(action.task.project, thread),
        )


async def _find(answering: _Answering, thread: Thread) -> int | None:
    """Our answer in the thread, if it is there."""
    action = answering.action
    threads = await answering.means.forge(action.task).scm.list_threads(action.task.project, action.pull)
    now = next((one for one in threads if one.id == thread.id), None)
    last = now.remarks[-1] if now is not None and now.remarks else None
    return last.id if last is not None and is_own_remark(last.body) else None


async def _ask_again(answering: _Answering) -> str:
    means, action = answering.means, answering.action
    forge = means.forge(action.task)
    observed = await means.observer.pulls_of(action.task.project).read(await means.task(action.task))
    view = None if isinstance(observed, Unknown) else observed.value
    if view is None or isinstance(view.reviews, Unknown):
        return "who is to review it again could not be read"
    own = {await forge.tracker.fetch_login(action.task.project), view.pull.author}
    logins = tuple(dict.fromkeys(one.author for one in objections(view.reviews.value) if one.author not in own))
    if not logins:
        return ""
    try:
        await means.journal.effect(
            "review.request",
            subject(action.task, answering.run.id),
            lambda: forge.scm.request_reviews(action.task.project, action.pull, logins),
        )
    except (Denied, Invalid, Missing) as error:
        return f"{', '.join(logins)} could not be asked for review again ({error})"
    return ""

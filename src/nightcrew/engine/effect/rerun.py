"""Running failed checks once more: written down with their failing tests, then asked for, then settled.

The forge runs its own again; an engine check is set to pending, which has it run again as one that was cut short.
"""

from nightcrew.core.actions import ActionOutcome, Done, Refused, RerunChecks, SettleReruns
from nightcrew.core.errors import Denied, Invalid, Missing, PortError
from nightcrew.core.failed_log import parse_failed_log
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.core.model.rerun import Rerun, RerunAnswer, RerunState
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.checking import OWN_PREFIX
from nightcrew.core.policy.rerunning import find_check, source_of
from nightcrew.engine.effect.brief import own_check_log
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.scm import NewStatus

_TEST_LENGTH = 300
_TESTS_AT_MOST = 30


async def rerun_checks(means: Means, action: RerunChecks) -> ActionOutcome:
    """Have them run once more, if the head is what it was. What the forge does not allow is on record, and said."""
    key, scm, store = action.task, means.forge(action.task).scm, means.ports.store
    pull = await scm.fetch_pull(key.project, action.pull)
    if pull.head_sha != action.head_sha or not pull.is_open:
        return Refused("the head has moved, or the pull request is not open any more")
    checks = await scm.list_checks(key.project, action.head_sha)
    rows = await _load(means, action)
    if not rows:
        rows = [await _describe(means, action, check) for check in checks if _is_meant(check, action)]
        if not rows:
            return Refused("they have another answer by now")
        event = means.event("check.rerun", action.why, task=key, pull=action.pull, head=action.head_sha)
        await store.record_reruns(key, rows, event=event)
    for row in rows:
        if row.state is RerunState.WANTED:
            await _ask(means, action, row, find_check(row, checks))
    return Done()


async def settle_reruns(means: Means, action: SettleReruns) -> ActionOutcome:
    """Write down how they ended, the flaky ones with an event of their own."""
    store, key = means.ports.store, action.task
    if action.failed:
        event = means.event("check.failed_again", action.why, task=key, pull=action.pull, head=action.head_sha)
        await store.settle_reruns(key, action.failed, state=RerunState.FAILED, why="", event=event)
    if action.passed:
        tests = [test for row in action.passed for test in row.tests]
        event = means.event("check.flaky", action.why, task=key, pull=action.pull, head=action.head_sha, tests=tests)
        await store.settle_reruns(key, action.passed, state=RerunState.PASSED, why="", event=event)
    return Done()


async def _load(means: Means, action: RerunChecks) -> list[Rerun]:
    rows = (await means.ports.store.load_reruns()).get(action.task, ())
    return [row for row in rows if (row.pull, row.head_sha) == (action.pull, action.head_sha)]


def _is_meant(check: Check, action: RerunChecks) -> bool:
    return (check.name, source_of(check)) in action.checks and check.state is CheckState.FAILURE


async def _describe(means: Means, action: RerunChecks, check: Check) -> Rerun:
    """The check as it failed. Its log is read now: that of the next answer takes its place."""
    slug = action.task.project
    try:
        log = own_check_log(means, slug, action.head_sha, check.name) if check.name.startswith(OWN_PREFIX) else ""
        hosts = means.project(action.task).reactions.ci_failed.log_hosts
        log = log or await means.forge(action.task).scm.fetch_check_log(slug, check, hosts=hosts)
    except PortError:
        log = ""  # which tests failed is good to know, and nothing depends on it
    found = parse_failed_log(means.ports.mask(log)).tests[:_TESTS_AT_MOST]
    tests = tuple(dict.fromkeys(one_line(test, _TEST_LENGTH) for test in found))
    now = means.ports.clock.now()
    return Rerun(action.pull, action.head_sha, check.name, source_of(check), check.mark, now, tests=tests)


async def _ask(means: Means, action: RerunChecks, row: Rerun, check: Check | None) -> None:
    """Ask for one, and write down what came of it. One that has another answer already was asked for before."""
    key, store = action.task, means.ports.store
    state, why = RerunState.ASKED, ""
    if check is not None and check.mark == row.mark and check.state is CheckState.FAILURE:
        try:
            answer = await means.journal.effect(
                "check.rerun", subject(key), lambda: _make(means, action, check), detail=check.name
            )
            if answer is RerunAnswer.SPENT:
                state, why = RerunState.FAILED, "it had been run again before"
        except (Denied, Invalid, Missing) as error:
            state, why = RerunState.REFUSED, one_line(str(error), 300)
    kind = {RerunState.REFUSED: "check.not_rerun", RerunState.FAILED: "check.failed_again"}.get(state, "check.asked")
    event = means.event(kind, why or f"{row.check} runs again", task=key, check=row.check, head=action.head_sha)
    await store.settle_reruns(key, (row,), state=state, why=why, event=event)


async def _make(means: Means, action: RerunChecks, check: Check) -> RerunAnswer:
    scm, slug = means.forge(action.task).scm, action.task.project
    if not check.name.startswith(OWN_PREFIX):
        return await scm.rerun_check(slug, check)
    words = "It failed, and is run once more"
    await scm.post_status(slug, action.head_sha, NewStatus(check.name, "pending", words))
    return RerunAnswer.ASKED

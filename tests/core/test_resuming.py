"""Which session a further run goes on with, and what its agent is told then."""

from dataclasses import replace

import pytest

from nightcrew.core.actions import StartRun
from nightcrew.core.decide import decide
from nightcrew.core.diffstat import summarize_diff
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import ReportedOutcome
from nightcrew.core.model.run import Interruption, InterruptionKind, Role, Run
from nightcrew.core.policy.resuming import session_to_resume
from nightcrew.core.policy.retrying import FREE_INTERRUPTIONS, attempts_used, describe_end, out_of_attempts
from nightcrew.core.prompt_resume import Resumed, render_resumed
from tests.core.build import a_run, a_task, a_view, a_world, an_outcome, at, done_report


def interrupted(kind: InterruptionKind = InterruptionKind.LOST, attempt: int = 1, **fields: object) -> Run:
    interruption = Interruption(kind, "the machine was restarted")
    outcome = replace(an_outcome(), report=None, interruption=interruption, agent_session="s-1", can_resume=True)
    return replace(a_run(attempt=attempt, outcome=outcome), **fields)  # type: ignore[arg-type]  # as above


def ended(**outcome: object) -> Run:
    return a_run(outcome=an_outcome(agent_session="s-1", can_resume=True, **outcome))  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    ("run", "session"),
    [
        (interrupted(), "s-1"),
        (interrupted(InterruptionKind.STOPPED), ""),
        (interrupted(InterruptionKind.NOT_RESUMED), ""),
        (interrupted(agent="bob"), ""),
        (interrupted(model="big"), ""),
        (ended(), "s-1"),
        (ended(failure=FailureKind.BAD_OUTPUT), ""),
        (ended(report=done_report(outcome=ReportedOutcome.NEEDS_INPUT)), ""),
        (a_run(outcome=an_outcome(agent_session="s-1")), ""),
    ],
)
def test_what_is_resumed(run, session):
    view = a_view(Status.ROUTED, runs=(run,))
    assert session_to_resume(view, agent="ann", model="") == session
    (action, *_) = decide(a_world(view)).actions
    assert isinstance(action, StartRun)
    assert action.resumes == session


def test_a_person_who_asks_to_start_anew_gets_a_fresh_session():
    view = a_view(Status.ROUTED, task=a_task(Status.ROUTED, reset_at=at(-1)), runs=(interrupted(),))
    assert session_to_resume(view, agent="ann", model="") == ""


def test_interruptions_use_up_no_attempt_but_not_for_ever():
    runs = tuple(interrupted(attempt=number) for number in range(1, FREE_INTERRUPTIONS + 4))
    few, many = a_view(Status.ROUTED, runs=runs[:FREE_INTERRUPTIONS]), a_view(Status.ROUTED, runs=runs)
    assert attempts_used(few) == 0
    assert attempts_used(many) == 3
    assert out_of_attempts(few, 3) is None
    assert out_of_attempts(many, 3) is not None
    assert attempts_used(many, Role.REVIEWER) == 0


def test_an_interruption_is_no_failure_in_words():
    assert describe_end(interrupted()) == "ann was interrupted (lost): the machine was restarted"


def test_what_a_resumed_agent_is_told():
    assert render_resumed(None) == ""
    assert "machine was restarted" in render_resumed(Resumed.AFTER_LOSS)
    assert "came back" in render_resumed(Resumed.FOR_CHANGES)


DIFF = """diff --git a/one.txt b/one.txt
--- a/one.txt
+++ b/one.txt
@@ -1 +1,2 @@
-old
+new
+--- a trap
diff --git a/two b/two b/two b/two
new file mode 100644
Binary files differ
"""


def test_a_diff_in_a_few_lines():
    assert summarize_diff("") == ""
    assert summarize_diff(DIFF).splitlines()[0] == "one.txt +2 -1"
    assert summarize_diff(DIFF, most=1).splitlines() == ["one.txt +2 -1", "… and 1 more files"]

"""The report of a day: what it says of a day that had everything, and of one that had nothing."""

from dataclasses import replace
from datetime import timedelta

from nightcrew.core.day import Day, find_findings, render_day
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRun, JobState
from nightcrew.core.model.run import Interruption, InterruptionKind, Role
from nightcrew.core.model.task import Block
from tests.core.build import NOW, PROJECT, a_run, a_task, an_outcome

SINCE = NOW - timedelta(days=1)


def moved(number: int, source: Status, target: Status, hours: float, evidence: str = "route") -> Event:
    data = {"source": source.value, "target": target.value, "evidence": evidence}
    return Event("status.changed", "because", SINCE + timedelta(hours=hours), a_task(number=number).key, data=data)


def ended(number: int, hours: float, **fields):
    run = a_run(id=RunId(f"r{number}"), ended_at=SINCE + timedelta(hours=hours))
    return replace(run, **fields)


def a_day() -> Day:
    crash = an_outcome(failure=FailureKind.CRASH)
    stopped = an_outcome(interruption=Interruption(InterruptionKind.LOST, "the session was lost"))
    return Day(
        SINCE,
        NOW,
        PROJECT,
        tasks=(
            replace(a_task(Status.DONE, 1, pull=71, title="Turn | it\nround"), created_at=SINCE),
            replace(a_task(Status.DONE, 2, title="Not wanted"), created_at=SINCE),
            replace(a_task(Status.BLOCKED, 3), block=Block("needs_input", "left or right?"), created_at=SINCE),
            replace(a_task(Status.ROUTED, 4), created_at=SINCE - timedelta(days=3)),
        ),
        runs=(
            ended(1, 2),
            ended(2, 3, role=Role.REVIEWER, agent="bob", model="m|1"),
            *(ended(number, 5, outcome=crash) for number in (3, 4, 5)),
            ended(6, 9, outcome=stopped),
        ),
        events=(
            moved(1, Status.NEW, Status.ROUTED, 1),
            moved(1, Status.ROUTED, Status.IN_PROGRESS, 3),
            moved(1, Status.IN_PROGRESS, Status.DONE, 4, "merged"),
            moved(2, Status.NEW, Status.DONE, 6, "finished"),
            moved(3, Status.NEW, Status.BLOCKED, 2),
            Event("cooldown.set", "ann rests until 12:00", SINCE + timedelta(hours=5)),
        ),
        job_runs=(JobRun(PROJECT, "nightly", SINCE, SINCE, JobState.SKIPPED),),
    )


def test_a_day_that_had_everything():
    page = render_day(a_day())
    for piece in (
        f"# Report of {PROJECT}",
        f"- {PROJECT}#1 (#71): Turn | it round",
        f"- {PROJECT}#2: Not wanted",
        f"- {PROJECT}#3: left or right?",
        "- 3 × ann, crash: ",
        "| ann | default | author | 1 | 3 | 1 | 25 % |",
        "| bob | m/1 | reviewer | 1 | 0 | 0 | 100 % |",
        "ann rests until 12:00",
        f"- nightly of {PROJECT}: 1 skipped",
        "0 good, 3 failed",
    ):
        assert piece in page
    waits = {line.split()[0]: line for line in page.splitlines() if line.endswith("tasks)")}
    assert "9.0 h (3 tasks)" in waits["new"]  # one, six and two hours
    assert "26.0 h (2 tasks)" in waits["routed"]  # two hours, and all day
    assert "1.0 h (1 tasks)" in waits["in_progress"]
    assert "done" not in waits


def test_its_plot_is_text_and_a_chart_that_github_draws():
    page = render_day(a_day())
    start = page.index("```mermaid")
    assert page[start : page.index("```", start + 3)].splitlines() == [
        "```mermaid",
        "xychart-beta",
        '    title "Ended runs (bars), and those that failed (line)"',
        '    x-axis ["{0} 14:00", "{0} 15:00", "{0} 16:00", "{0} 17:00"]'.replace("{0}", f"{SINCE:%d.}"),
        '    y-axis "runs" 0 --> 3',
        "    bar [1, 1, 0, 3]",
        "    line [0, 0, 0, 3]",
    ]


def test_words_from_outside_reach_nobody_from_a_report():
    hostile = a_task(Status.DONE, 1, pull=71, title="Ask @alice, closes #5 <!--")
    page = render_day(replace(a_day(), tasks=(hostile,)))
    assert "@alice" not in page
    assert "closes #5" not in page
    assert "<!--" not in page


def test_what_was_too_much_to_read_is_said():
    assert "before 2026-" in render_day(replace(a_day(), known_from_at=NOW))
    assert "before" not in render_day(a_day())


def test_a_day_that_had_nothing_and_a_span_of_weeks():
    page = render_day(Day(SINCE, NOW))
    assert "Nothing was merged." in page
    assert page.count("##") == 1
    weeks = replace(a_day(), since_at=NOW - timedelta(days=14))
    assert "2026-03-03 " in render_day(weeks)


def test_what_came_again_and_again_is_found_and_named_the_same_each_day():
    (finding,) = find_findings(a_day())
    assert (finding.key, finding.title) == ("ann:crash", "ann fails again and again: crash")
    later = replace(a_day(), runs=tuple(replace(run, id=RunId(f"x{run.id}")) for run in a_day().runs))
    assert find_findings(later)[0].key == finding.key
    assert find_findings(replace(a_day(), runs=a_day().runs[:4])) == ()

"""What is wrong with projects, in the log: when it comes up and when it is gone, not each time it is seen."""

import io
import json

import structlog

from nightcrew.service.log import ProblemLog, configure_log


def test_a_problem_is_said_when_it_comes_up_and_when_it_is_gone():
    stream = io.StringIO()
    configure_log(stream)
    try:
        log = ProblemLog(lambda: 0.0)
        for problems in (
            ["a/b: not there (until 12:00:01)"],
            ["a/b: not there (until 12:00:46)", "c/d: shut"],
            ["c/d: shut"],
        ):
            log.tell(problems)
    finally:
        structlog.reset_defaults()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["what"]) for line in lines] == [
        ("problem", "a/b: not there (until 12:00:01)"),
        ("problem", "c/d: shut"),
        ("problem is gone", "a/b: not there (until 12:00:46)"),
    ]

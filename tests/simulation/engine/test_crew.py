"""That the agents of the simulation report as the witnesses believe."""

import json

import pytest

from nightcrew.core.model.run import Role
from nightcrew.ports.agent import RunOutput
from tests.simulation.engine.crew import AUTHOR_ENDS, REPORTLESS_ENDS, TalkingAgent


@pytest.mark.parametrize("end", sorted(set(AUTHOR_ENDS)))
def test_an_author_reports_unless_its_end_is_known_to_have_no_report(end):
    line = json.dumps({"run": "r", "end": end, "retry_at": ""}).encode() + b"\n"
    output = RunOutput(Role.AUTHOR, line, b"", exit_code=0, timed_out=False, report=None)
    assert (TalkingAgent("ann").read(output).report is None) is (end in REPORTLESS_ENDS)

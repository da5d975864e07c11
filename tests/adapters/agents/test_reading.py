"""Reading runs that no recording has: cut answers, silence, refusals, odd bytes, reports inside messages."""

import json

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import AuthorReport, Decision, ReviewReport, RouterReport
from nightcrew.core.model.run import Role
from nightcrew.ports.agent import Agent, RunOutput
from tests.adapters.agents.recording import APPROVE, DONE, load_recording, make_output, make_settings

CLAUDE = ClaudeAgent(make_settings("claude"))
CODEX = CodexAgent(make_settings("codex"))
OPENCODE = OpencodeAgent(make_settings("opencode"))
GEMINI = GeminiAgent(make_settings("gemini"))
ALL: list[Agent] = [CLAUDE, CODEX, OPENCODE, GEMINI]


def lines(*objects: object) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def result(text: str, **more: object) -> dict[str, object]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": text,
        "stop_reason": "end_turn",
        **more,
    }


def said(agent: Agent, text: str) -> str:
    """A run that ended normally with this last message."""
    if agent is CLAUDE:
        return lines({"type": "assistant", "message": {"model": "m"}}, result(text))
    if agent is CODEX:
        return lines(
            {"type": "item.completed", "item": {"type": "agent_message", "text": text}}, {"type": "turn.completed"}
        )
    if agent is OPENCODE:
        return lines({"type": "text", "part": {"text": text}}, {"type": "step_finish", "part": {"reason": "stop"}})
    return lines(
        {"type": "message", "role": "assistant", "content": text[:7], "delta": True},
        {"type": "message", "role": "assistant", "content": text[7:], "delta": True},
        {"type": "result", "status": "success"},
    )


def kind_of(agent: Agent, output: RunOutput) -> K:
    reading = agent.read(output)
    assert reading.report is None
    assert reading.failure is not None
    return reading.failure.kind


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_the_last_message_is_read_when_there_is_no_file(agent):
    done = agent.read(make_output(said(agent, f"I did it.\n\n```json\n{DONE}\n```"))).report
    assert isinstance(done, AuthorReport)
    verdict = agent.read(make_output(said(agent, f"Fine.\n{APPROVE}"), role=Role.REVIEWER)).report
    assert isinstance(verdict, ReviewReport)
    route = agent.read(make_output(said(agent, '{"complexity": "simple"}'), role=Role.ROUTER)).report
    assert isinstance(route, RouterReport)


@pytest.mark.case("C098")
@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
@pytest.mark.parametrize("role", list(Role))
def test_prose_is_no_report(agent, role):
    assert kind_of(agent, make_output(said(agent, "LGTM, approve. All done."), role=role)) is K.BAD_OUTPUT


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_a_report_in_the_message_of_a_run_that_failed_is_not_believed(agent):
    for broken in (
        make_output(said(agent, DONE), exit_code=1),
        make_output(said(agent, DONE), exit_code=143),
        make_output(said(agent, DONE), timed_out=True, exit_code=143),
        make_output(said(agent, DONE), error="the output could not be kept", exit_code=1),
    ):
        assert agent.read(broken).report is None


@pytest.mark.case("C083")
@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_exit_0_and_nothing_at_all_is_a_crash(agent):
    assert kind_of(agent, make_output()) is K.CRASH


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_a_run_that_could_not_start_is_a_crash_with_its_reason(agent):
    failure = agent.read(make_output(exit_code=127, error="no such program")).failure
    assert failure is not None
    assert (failure.kind, failure.detail) == (K.CRASH, "no such program")


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_the_deadline_without_and_with_an_answer(agent):
    assert kind_of(agent, make_output(timed_out=True, exit_code=143)) is K.HANG
    spoken = said(agent, "Let me see.").splitlines()[0]
    if agent is not CODEX:
        assert kind_of(agent, make_output(spoken, timed_out=True, exit_code=143)) is K.TIMEOUT


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_a_stream_that_has_no_end_is_not_done(agent):
    whole = said(agent, DONE)
    cut = whole[: whole.rstrip("\n").rfind("\n") + 1]
    assert kind_of(agent, make_output(cut)) is K.BAD_OUTPUT


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_exit_0_without_an_end_is_named_by_the_error_channel(agent):
    # Gemini ends with 0 when it is stopped while it waits for a rate limit to pass.
    assert kind_of(agent, make_output(stderr="Attempt 3 failed with status 429. Retrying")) is K.RATE_LIMIT


@pytest.mark.case("C102")
@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_invalid_bytes_and_colours_do_no_harm(agent):
    noise = b"\xff\xfe\x80 \x1b[91m\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 e\xcc\x81 caf\xc3\xa9\x1b[0m\n"
    output = make_output(noise + said(agent, f"naïve Привет é\n{DONE}").encode())
    assert isinstance(agent.read(output).report, AuthorReport)
    failure = agent.read(make_output(stderr=noise, exit_code=1)).failure
    assert failure is not None
    assert failure.detail == "exit code 1: \ufffd\ufffd\ufffd Привет e\u0301 café"


@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
@pytest.mark.parametrize("junk", ["[1]", "7", '{"type": 5}', '{"type": "result"}', '{"type":"error"}', "{" * 5_000,
                                  '{"type":"turn.failed","error":[]}', '{"type":"step_finish","part":[]}',
                                  '{"type":"assistant","message":3,"error":{}}', '{"a":' * 5_000])  # fmt: skip
def test_junk_never_raises_and_never_succeeds(agent, junk):
    for code in (0, 1):
        reading = agent.read(make_output(junk, stderr=junk, exit_code=code))
        assert reading.report is None
        assert reading.failure is not None


@pytest.mark.case("C088")
@pytest.mark.parametrize("agent", ALL, ids=lambda agent: agent.name)
def test_numbers_in_ids_and_times_are_no_errors(agent):
    stamped = lines({"type": "note", "timestamp": 1403401000, "id": "req_401_403_429"}) + said(agent, DONE)
    assert isinstance(agent.read(make_output(stamped)).report, AuthorReport)
    failure = agent.read(make_output(stderr="job 1403401000 took 429 ms at line 401", exit_code=1)).failure
    assert failure is not None
    assert failure.kind is K.CRASH


@pytest.mark.case("C090")
def test_claude_says_success_and_error_at_once():
    text = "API Error: 403 You've reached your usage limit for this billing cycle."
    output = make_output(lines(result(text, is_error=True, api_error_status=403)), exit_code=1)
    assert kind_of(CLAUDE, output) is K.BILLING
    plain = make_output(lines(result("Failed to authenticate. API Error: 403 no", is_error=True, api_error_status=403)))
    assert kind_of(CLAUDE, plain) is K.AUTH


def test_claude_is_aborted_with_exit_code_0():
    aborted = {"type": "result", "subtype": "error_during_execution", "is_error": True,
               "terminal_reason": "aborted_streaming"}  # fmt: skip
    assert kind_of(CLAUDE, make_output(lines(aborted))) is K.CRASH


def test_claude_names_the_class_of_an_error_that_it_has_no_words_for():
    failed = {"type": "assistant", "error": "billing_error", "message": {"model": "<synthetic>"}}
    assert kind_of(CLAUDE, make_output(lines(failed, result("No.", is_error=True)), exit_code=1)) is K.CREDITS
    assert kind_of(CLAUDE, make_output(lines(result("No.", is_error=True, api_error_status=502)))) is K.OVERLOADED


def test_claude_structured_output_is_a_report():
    verdict = {"decision": "request_changes", "summary": "No test.", "findings": []}
    output = make_output(lines(result("", structured_output=verdict)), role=Role.REVIEWER)
    report = CLAUDE.read(output).report
    assert isinstance(report, ReviewReport)
    assert report.decision is Decision.REQUEST_CHANGES


def test_a_refused_tool_is_not_done_even_if_the_message_says_so():
    denied = result(DONE, permission_denials=[{"tool_name": "Bash", "tool_input": {"command": "make"}}])
    failure = CLAUDE.read(make_output(lines(denied))).failure
    assert failure is not None
    assert failure.kind is K.PERMISSION
    assert failure.detail == "no report; the CLI refused Bash (make)"
    declined = result('{"outcome": "declined", "summary": "x", "why": "y"}', permission_denials=[{}])
    assert isinstance(CLAUDE.read(make_output(lines(declined))).report, AuthorReport)


@pytest.mark.case("C084")
@pytest.mark.parametrize(
    ("agent", "stdout"),
    [
        (CLAUDE, lines(result('{"outcome": "do', stop_reason="max_tokens"))),
        (CLAUDE, lines(result("API Error: Claude's response exceeded the 32000 output token maximum", is_error=True))),
        (OPENCODE, lines({"type": "text", "part": {"text": '{"outcome": "do'}},
                         {"type": "step_finish", "part": {"reason": "length"}})),
    ],
)  # fmt: skip
def test_an_answer_that_was_cut_is_truncated(agent, stdout):
    assert kind_of(agent, make_output(stdout)) is K.TRUNCATED


@pytest.mark.case("C085")
def test_all_tokens_spent_on_thinking_is_truncated():
    step = {"type": "step_finish", "part": {"reason": "unknown", "tokens": {"output": 0, "reasoning": 40_000}}}
    assert kind_of(OPENCODE, make_output(lines(step))) is K.TRUNCATED
    turn = {"type": "turn.completed", "usage": {"output_tokens": 40_000, "reasoning_output_tokens": 40_000}}
    assert kind_of(CODEX, make_output(lines(turn))) is K.TRUNCATED


def test_a_refusal_of_the_model_is_a_content_filter():
    assert kind_of(CLAUDE, make_output(lines(result("", stop_reason="refusal")))) is K.CONTENT_FILTER


@pytest.mark.case("C092")
def test_codex_says_done_and_then_its_turn_fails():
    stdout = lines(
        {"type": "item.completed", "item": {"type": "agent_message", "text": f"Done. {DONE}"}},
        {"type": "error", "message": "Reconnecting... 5/5 (stream disconnected before completion)"},
        {"type": "error", "message": "stream disconnected before completion: stream closed"},
        {"type": "turn.failed", "error": {"message": "stream disconnected before completion: stream closed"}},
    )
    assert kind_of(CODEX, make_output(stdout, exit_code=1)) is K.NETWORK


def test_codex_gets_over_an_error_and_completes():
    stdout = lines({"type": "error", "message": "Reconnecting... 2/5 (exceeded retry limit, last status: 429)"})
    assert isinstance(CODEX.read(make_output(stdout + said(CODEX, DONE))).report, AuthorReport)


def test_codex_waits_for_a_network_until_the_deadline():
    failure = CODEX.read(load_recording("codex/refused-json")).failure
    assert failure is not None
    assert failure.detail.startswith("still retrying at the deadline: Reconnecting... waiting for network")


def test_a_warning_is_no_failure():
    failure = CODEX.read(load_recording("codex/ok-json-danger", report=DONE))
    assert failure.failure is None


def test_gemini_says_its_answer_in_pieces_after_its_last_tool():
    stdout = lines(
        {"type": "message", "role": "assistant", "content": APPROVE},
        {"type": "tool_result", "status": "success", "output": "x"},
        {"type": "message", "role": "assistant", "content": APPROVE.replace("approve", "request_changes")},
        {"type": "result", "status": "success"},
    )
    report = GEMINI.read(make_output(stdout, role=Role.REVIEWER)).report
    assert isinstance(report, ReviewReport)
    assert report.decision is Decision.REQUEST_CHANGES


def test_a_tool_that_fails_in_gemini_is_not_a_failure_of_the_run():
    use = {"type": "tool_use", "tool_id": "1", "tool_name": "write_file"}
    error = {"type": "invalid_tool_params", "message": "File not found"}
    failed = lines(use, {"type": "tool_result", "tool_id": "1", "status": "error", "error": error})
    assert isinstance(GEMINI.read(make_output(failed + said(GEMINI, DONE))).report, AuthorReport)
    refused = failed.replace("File not found", "Path not in workspace: Attempted path")
    failure = GEMINI.read(make_output(refused + said(GEMINI, DONE))).failure
    assert failure is not None
    assert failure.kind is K.PERMISSION
    assert "write_file (Path not in workspace" in failure.detail


def test_a_stack_trace_is_not_the_reason_of_a_crash():
    trace = "Error: bad config\n    at JSON.parse (<anonymous>)\n    at async main (file:///x.js:1:2)\n}\n"
    failure = GEMINI.read(make_output(stderr=trace, exit_code=1)).failure
    assert failure is not None
    assert failure.detail == "exit code 1: Error: bad config"


def test_gemini_ends_as_an_error_in_its_stream():
    error = {"type": "result", "status": "error", "error": {"type": "Error", "message": "[API Error: quota]"}}
    assert kind_of(GEMINI, make_output(lines(error))) is K.CRASH
    assert kind_of(GEMINI, make_output(lines({"type": "result", "status": "error"}))) is K.CRASH


def test_opencode_tells_a_free_tier_from_a_rate_limit():
    body = json.dumps({"type": "error", "error": {"type": "FreeUsageLimitError", "message": "Rate limit exceeded."}})
    data = {"message": "Rate limit exceeded.", "statusCode": 429, "responseBody": body}
    assert (
        kind_of(OPENCODE, make_output(lines({"type": "error", "error": {"data": data}}), exit_code=1)) is K.USAGE_WINDOW
    )


def test_an_unreadable_report_file_is_named_with_its_place():
    failure = CLAUDE.read(make_output(said(CLAUDE, "Done."), report='{"outcome": "done", "summary": }')).failure
    assert failure is not None
    assert failure.kind is K.BAD_OUTPUT
    assert "JSON syntax error: Expecting value at line 1 column 32" in failure.detail


def test_a_report_of_another_role_is_none():
    assert kind_of(CLAUDE, make_output(said(CLAUDE, "Done."), report=APPROVE)) is K.BAD_OUTPUT
    assert kind_of(CLAUDE, make_output(said(CLAUDE, "ok"), report=DONE, role=Role.REVIEWER)) is K.BAD_OUTPUT


def test_a_detail_is_one_safe_line():
    noisy = "API Error: see https://example.invalid/?token=abc\x1b]0;x\x07 and\r\n" + "y" * 2_000
    failure = CLAUDE.read(make_output(lines(result(noisy, is_error=True)), exit_code=1)).failure
    assert failure is not None
    assert failure.detail.startswith("API Error: see <address>")
    assert len(failure.detail) <= 400
    assert "\x1b" not in failure.detail


def test_words_of_a_failure_that_no_pattern_knows_are_kept_for_study():
    odd = "Flux capacitor is out of phase at https://x.invalid/?key=abc"
    for output in (
        make_output(lines(result(odd, is_error=True)), exit_code=1),
        make_output(stderr=f"{odd}\n    at run (x.js:1:2)\n", exit_code=7),
        make_output(odd, exit_code=1),
    ):
        reading = CLAUDE.read(output)
        assert reading.failure is not None
        assert reading.failure.kind is K.CRASH
        assert reading.unknown == "Flux capacitor is out of phase at <address>"


@pytest.mark.parametrize(
    "output",
    [
        make_output(lines(result("Overloaded", is_error=True)), exit_code=1),
        make_output(lines(result("Odd.", is_error=True, api_error_status=502)), exit_code=1),
        make_output(stderr="Odd.", exit_code=137),
        make_output(stderr="Odd.", exit_code=1, timed_out=True),
        make_output(exit_code=127, error="no such program"),
        make_output(stderr="unknown option --x", exit_code=1),
        make_output(exit_code=1),
        make_output(said(CLAUDE, "Odd."), exit_code=0),
    ],
)
def test_what_is_known_or_says_nothing_is_not_kept(output):
    assert CLAUDE.read(output).unknown == ""


def test_what_is_kept_is_bounded():
    reading = CODEX.read(make_output(stderr="\n".join(f"odd {n} " + "y" * 500 for n in range(2_000)), exit_code=1))
    assert len(reading.unknown) <= 2_000
    assert "odd 1999" in CODEX.read(make_output(stderr="odd 1\nodd 1999", exit_code=1)).unknown

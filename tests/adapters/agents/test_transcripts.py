"""Every recorded run of a real CLI, read by its adapter."""

import dataclasses

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import AuthorReport, ReportedOutcome, ReviewReport
from nightcrew.core.model.run import Role
from nightcrew.ports.agent import Agent
from tests.adapters.agents.recording import APPROVE, DONE, list_recordings, load_recording, make_settings

AGENTS: dict[str, Agent] = {
    "claude": ClaudeAgent(make_settings("claude")),
    "codex": CodexAgent(make_settings("codex")),
    "opencode": OpencodeAgent(make_settings("opencode")),
    "gemini": GeminiAgent(make_settings("gemini")),
}

# What each run is without a report. BAD_OUTPUT: it ended normally and reported nothing.
EXPECTED = {
    "claude/aimock": K.BAD_OUTPUT,
    "claude/bad-flag": K.CRASH,
    "claude/bash-outside-allowed": K.BAD_OUTPUT,
    "claude/bash-outside-sandbox": K.BAD_OUTPUT,
    "claude/bash-outside-sandbox-denyread": K.BAD_OUTPUT,
    "claude/drop-midstream-stream": K.BAD_OUTPUT,
    "claude/hang-before-headers-stream": K.HANG,
    "claude/hang-midstream-stream": K.HANG,
    "claude/hooks-error": K.CREDITS,
    "claude/hooks-ok": K.BAD_OUTPUT,
    "claude/http401-retries1-json": K.AUTH,
    "claude/http401-retries1-text": K.AUTH,
    "claude/http401-stream": K.AUTH,
    "claude/http401-text": K.HANG,
    "claude/http402-json": K.CREDITS,
    "claude/http404-json": K.MODEL_NOT_FOUND,
    "claude/http429-default-stream": K.RATE_LIMIT,
    "claude/http429-retries2-json": K.RATE_LIMIT,
    "claude/http429long-stream": K.RATE_LIMIT,
    "claude/http429once-stream": K.BAD_OUTPUT,
    "claude/http429reset-stream": K.RATE_LIMIT,
    "claude/http529-retries2-json": K.OVERLOADED,
    "claude/http529-retries2-stream": K.OVERLOADED,
    "claude/http529-retries2-text": K.OVERLOADED,
    "claude/json-schema": K.BAD_OUTPUT,
    "claude/max-budget-json": K.TRUNCATED,
    "claude/max-turns-1-json": K.TRUNCATED,
    "claude/mcp": K.BAD_OUTPUT,
    "claude/midstream-overloaded": K.BAD_OUTPUT,
    "claude/ok-json": K.PERMISSION,
    "claude/ok-stream-json": K.BAD_OUTPUT,
    "claude/ok-text": K.BAD_OUTPUT,
    "claude/perm-denied-default-json": K.PERMISSION,
    "claude/perm-dontask-json": K.PERMISSION,
    "claude/read-outside-default": K.PERMISSION,
    "claude/read-outside-denied": K.BAD_OUTPUT,
    "claude/refused-retries2-stream": K.NETWORK,
    "claude/resume-unknown": K.CRASH,
    "claude/root-permission-mode-bypass": K.CRASH,
    "claude/root-skip-perms": K.CRASH,
    "claude/root-skip-perms-issandbox": K.BAD_OUTPUT,
    "claude/sb-wt": K.BAD_OUTPUT,
    "claude/sbwt2": K.BAD_OUTPUT,
    "claude/session-id-reused": K.CRASH,
    "claude/session-resume": K.BAD_OUTPUT,
    "claude/write-inside-acceptedits": K.BAD_OUTPUT,
    "claude/write-outside-acceptedits": K.PERMISSION,
    "claude/write-outside-skip-denied": K.BAD_OUTPUT,
    "codex/aimock": K.BAD_OUTPUT,
    "codex/hang-json": K.HANG,
    "codex/hooks": K.BAD_OUTPUT,
    "codex/http401-json": K.AUTH,
    "codex/http401-text": K.AUTH,
    "codex/http402-json": K.CREDITS,
    "codex/http404-json": K.MODEL_NOT_FOUND,
    "codex/http429-json": K.RATE_LIMIT,
    "codex/http529-json": K.OVERLOADED,
    "codex/mcp": K.BAD_OUTPUT,
    "codex/notify": K.BAD_OUTPUT,
    "codex/ok-json-danger": K.BAD_OUTPUT,
    "codex/ok-text": K.BAD_OUTPUT,
    "codex/ok-workspace-write-tmpdir": K.BAD_OUTPUT,
    "codex/output-schema": K.BAD_OUTPUT,
    "codex/quota429-json": K.BILLING,
    "codex/refused-json": K.NETWORK,
    "codex/resume": K.BAD_OUTPUT,
    "codex/resume-unknown": K.CRASH,
    "codex/wt1": K.BAD_OUTPUT,
    "codex/wt2": K.BAD_OUTPUT,
    "codex/wt3": K.BAD_OUTPUT,
    "codex/wt4": K.BAD_OUTPUT,
    "codex/wt5": K.BAD_OUTPUT,
    "codex/wt6": K.BAD_OUTPUT,
    "gemini/budget-autoedit-json": K.BAD_OUTPUT,
    "gemini/drop-json": K.NETWORK,
    "gemini/hangmid-streamjson": K.TIMEOUT,
    "gemini/http401-json": K.AUTH,
    "gemini/http401-text": K.AUTH,
    "gemini/http402-json": K.CREDITS,
    "gemini/http404-json": K.MODEL_NOT_FOUND,
    "gemini/http429-streamjson": K.RATE_LIMIT,
    "gemini/http503-json": K.OVERLOADED,
    "gemini/httpquota-json": K.USAGE_WINDOW,
    "gemini/no-auth": K.AUTH,
    "gemini/ok-json-yolo": K.BAD_OUTPUT,
    "gemini/ok-streamjson-yolo": K.BAD_OUTPUT,
    "gemini/ok-text-default": K.BAD_OUTPUT,
    "gemini/refused-json": K.NETWORK,
    "gemini/untrusted": K.PERMISSION,
    "opencode/ask-in-run-json": K.PERMISSION,
    "opencode/drop-json": K.HANG,
    "opencode/hangmid-json": K.HANG,
    "opencode/http401-json": K.AUTH,
    "opencode/http401-text": K.AUTH,
    "opencode/http402-json": K.CREDITS,
    "opencode/http404-json": K.MODEL_NOT_FOUND,
    "opencode/http429-json": K.RATE_LIMIT,
    "opencode/http503-json": K.HANG,
    "opencode/ok-json": K.BAD_OUTPUT,
    "opencode/ok-text": K.BAD_OUTPUT,
    "opencode/refused-json": K.HANG,
    "opencode/write-outside-default-json": K.PERMISSION,
    "opencode/write-outside-deny-json": K.PERMISSION,
}


def agent_of(name: str) -> Agent:
    return AGENTS[name.partition("/")[0]]


def test_the_table_names_every_recording():
    assert sorted(EXPECTED) == sorted(name for cli in AGENTS for name in list_recordings(cli))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_run_without_a_report_is_never_done(name):
    reading = agent_of(name).read(load_recording(name))
    assert reading.report is None
    assert reading.failure is not None
    assert reading.failure.kind is EXPECTED[name]
    assert reading.failure.detail
    assert "\n" not in reading.failure.detail
    assert "://" not in reading.failure.detail
    assert "\x1b" not in reading.failure.detail


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_run_never_approves_or_routes(name):
    for role in (Role.REVIEWER, Role.ROUTER):
        reading = agent_of(name).read(load_recording(name, role=role))
        assert reading.report is None
        assert reading.failure is not None


@pytest.mark.parametrize("name", EXPECTED)
def test_a_report_file_is_the_last_word(name):
    done = agent_of(name).read(load_recording(name, report=DONE)).report
    assert isinstance(done, AuthorReport)
    assert done.outcome is ReportedOutcome.DONE
    verdict = agent_of(name).read(load_recording(name, role=Role.REVIEWER, report=APPROVE)).report
    assert isinstance(verdict, ReviewReport)


@pytest.mark.parametrize("name", [name for name, kind in EXPECTED.items() if kind is not K.BAD_OUTPUT])
def test_an_unreadable_report_does_not_hide_why_the_run_failed(name):
    failure = agent_of(name).read(load_recording(name, report='{"outcome": "done"')).failure
    assert failure is not None
    assert failure.kind is EXPECTED[name]


@pytest.mark.case("C100")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_last_line_without_its_end_is_read_all_the_same(name):
    output = load_recording(name)
    bare = dataclasses.replace(output, stdout=output.stdout.rstrip(b"\n"), stderr=output.stderr.rstrip(b"\n"))
    assert agent_of(name).read(bare) == agent_of(name).read(output)


@pytest.mark.parametrize(
    ("name", "tokens", "cost", "models"),
    [
        ("claude/ok-stream-json", (3000, 84), 0.0144, ("mock-model",)),
        ("claude/drop-midstream-stream", (3000, 84), 0.0144, ("mock-model",)),
        ("claude/ok-json", (3000, 84), 0.0144, ("claude-opus-4-8[1m]",)),
        ("claude/http402-json", (0, 0), 0.0, ()),
        ("claude/bad-flag", (None, None), None, ()),
        ("codex/ok-json-danger", (3000, 84), None, ()),
        ("codex/resume", (4500, 126), None, ()),
        ("codex/http401-json", (None, None), None, ()),
        ("opencode/ok-json", (3000, 84), 0.002568, ()),
        ("gemini/ok-json-yolo", (3000, 84), None, ("gemini-mock",)),
        ("gemini/ok-streamjson-yolo", (3000, 84), None, ("gemini-mock",)),
    ],
)
def test_usage_and_cost_are_read(name, tokens, cost, models):
    usage = agent_of(name).read(load_recording(name)).usage
    assert (usage.input_tokens, usage.output_tokens) == tokens
    assert usage.cost_usd == (None if cost is None else pytest.approx(cost))
    assert usage.models == models


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("claude/ok-stream-json", "0922033e-4a1d-46da-9fb2-b6f4faa1f939"),
        ("claude/http401-stream", "6ef63606-4128-442f-8eee-1580f62dd0b0"),
        ("codex/resume", "01a22b50-f5c5-7f62-b8b4-546b4252a300"),
        ("opencode/ok-json", "ses_dd4c09207ffevD829KVNQtAKyG"),
        ("gemini/ok-streamjson-yolo", "62f2ff15-55bd-4c63-9df6-4f7dce159239"),
        ("gemini/ok-json-yolo", "b1ca8e45-a44e-4d9d-8400-a1f2ca6dc095"),
    ],
)
def test_the_session_is_read_for_resuming(name, session):
    assert agent_of(name).read(load_recording(name)).session == session

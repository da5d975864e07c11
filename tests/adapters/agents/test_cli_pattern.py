"""Words of CLIs without an adapter of their own: every row of tests/data/vendor-messages.md about one, read by the
custom adapter that names its patterns."""

import pytest

from nightcrew.agents.custom import CustomAgent
from nightcrew.agents.vendor import CLI_PATTERNS
from nightcrew.core.errors import ConfigError
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import AuthorReport
from tests.adapters.agents.recording import DATA, DONE, load_recording, make_output, make_settings

MESSAGES = {
    "V118": ("cursor", ("Error: You've hit your usage limit / Get Cursor Pro. Your usage limits will reset when your "
             "monthly cycle ends on 11/17/2025."), K.USAGE_WINDOW),
    "V119": ("cursor", "Error: S: [resource_exhausted] Error", K.USAGE_WINDOW),
    "V120": ("cursor", "Workspace Trust Required\n[a] Trust this workspace\n[q] Quit", K.PERMISSION),
    "V121": ("cursor", "Failed to open browser for login. Please visit: https://example.invalid/x?challenge=abc",
             K.AUTH),
    "V125": ("aider", "Model m-1 has hit a token limit! Input tokens: ~60,895 of 128,000", K.CONTEXT_TOO_LONG),
    "V126": ("aider", "openai.AuthenticationError: Error code: 401 - API key credit limit reached", K.CREDITS),
    "V131": ("copilot", ("Sorry, you've hit a rate limit that restricts requests. Please try again in 58 hours. "
             "(Request ID C0FE)"), K.USAGE_WINDOW),
    "V132": ("copilot", ("You have exceeded your premium request allowance. We have automatically switched you to "
             "another model."), K.USAGE_WINDOW),
    "V133": ("copilot", "You have exceeded your monthly quota", K.BILLING),
    "V134": ("copilot", "Execution failed: Error: Session was not created with authentication info or custom provider",
             K.AUTH),
}  # fmt: skip


def make_agent(name: str) -> CustomAgent:
    return CustomAgent(make_settings("custom", name=name, command=(name,), options={"patterns": name}))


def test_every_row_of_such_a_cli_is_read_here():
    rows = [line.split("|") for line in (DATA / "vendor-messages.md").read_text("utf-8").splitlines()]
    found = {row[1].strip() for row in rows if len(row) > 3 and row[2].strip() in ("aider", "copilot", "cursor")}
    assert found == set(MESSAGES)


@pytest.mark.parametrize("row", MESSAGES)
def test_a_message_of_a_failed_run_names_its_kind(row):
    name, message, kind = MESSAGES[row]
    failure = make_agent(name).read(make_output(stderr=message, exit_code=1)).failure
    assert failure is not None
    assert failure.kind is kind
    assert "challenge" not in failure.detail
    spoken = make_agent(name).read(make_output(message)).failure
    assert spoken is not None
    assert spoken.kind is K.BAD_OUTPUT
    assert isinstance(make_agent(name).read(make_output(f"{message}\n{DONE}")).report, AuthorReport)


def test_a_short_rate_limit_of_copilot_is_no_window():
    failure = (
        make_agent("copilot").read(make_output(stderr="you've hit a rate limit, try again soon", exit_code=1)).failure
    )
    assert failure is not None
    assert failure.kind is K.RATE_LIMIT


def test_recorded_runs_by_name():
    failure = make_agent("kimi").read(load_recording("kimi/http429-streamjson")).failure
    assert failure is not None
    assert failure.kind is K.RATE_LIMIT


def test_an_unknown_name_is_refused():
    with pytest.raises(ConfigError) as caught:
        make_agent("curser")
    for name in CLI_PATTERNS:
        assert name in str(caught.value)

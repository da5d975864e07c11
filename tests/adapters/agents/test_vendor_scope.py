"""Whom a vendor's message cools: every row of tests/data/vendor-messages.md, in the words that its own test reads, with
what the row says of the kind, and how much of an agent is not used afterwards. No row and no recording is left out."""

from datetime import UTC, datetime

import pytest

from nightcrew.core.failures import Failure
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.policy.cooling import cooldown_after
from tests.adapters.agents import test_cli_pattern, test_custom, test_reading, test_transcripts, test_vendor_messages
from tests.adapters.agents.recording import DATA, DONE, TRANSCRIPTS, load_recording, make_output

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOBODY, MODEL, AGENT = "nobody", "model", "agent"

# The class that each row gives, as the kinds of Nightcrew name it, and who is cooled. Where the words speak of the
# account, the plan, the login or the CLI itself the whole agent is; else the model alone.
ROWS = {
    **dict.fromkeys(("V001", "V004", "V005", "V006", "V007", "V008", "V009"), (K.USAGE_WINDOW, AGENT)),
    "V011": (K.USAGE_WINDOW, MODEL),
    "V014": (K.RATE_LIMIT, AGENT),
    **dict.fromkeys(("V016", "V017"), (K.OVERLOADED, MODEL)),
    **dict.fromkeys(("V019", "V021", "V022", "V023"), (K.AUTH, AGENT)),
    "V027": (K.MODEL_NOT_FOUND, MODEL),
    **dict.fromkeys(("V029", "V031"), (K.CONTENT_FILTER, NOBODY)),
    "V032": (K.NETWORK, AGENT),
    **dict.fromkeys(("V034", "V035"), (K.CRASH, NOBODY)),
    **dict.fromkeys(("V037", "V040", "V041", "V042", "V044", "V045"), (K.USAGE_WINDOW, AGENT)),
    "V047": (K.RATE_LIMIT, MODEL),
    "V049": (K.BILLING, MODEL),
    "V050": (K.CREDITS, AGENT),
    "V051": (K.AUTH, AGENT),
    **dict.fromkeys(("V053", "V055"), (K.MODEL_NOT_FOUND, MODEL)),
    "V056": (K.PERMISSION, MODEL),
    "V058": (K.NETWORK, AGENT),
    "V060": (K.NETWORK, AGENT),
    "V061": (None, NOBODY),
    "V063": (K.AUTH, AGENT),
    **dict.fromkeys(("V065", "V066", "V067"), (K.USAGE_WINDOW, AGENT)),
    "V068": (K.RATE_LIMIT, MODEL),
    "V069": (K.PERMISSION, AGENT),
    "V071": (K.MODEL_NOT_FOUND, MODEL),
    **dict.fromkeys(("V074", "V075"), (K.NETWORK, MODEL)),
    "V077": (K.CRASH, MODEL),
    "V078": (K.TRUNCATED, MODEL),
    "V082": (K.RATE_LIMIT, MODEL),
    "V083": (K.USAGE_WINDOW, MODEL),
    **dict.fromkeys(("V085", "V086"), (K.CONTEXT_TOO_LONG, NOBODY)),
    "V089": (K.NETWORK, AGENT),
    "V090": (K.PERMISSION, AGENT),
    "V091": (K.HANG, MODEL),
    "V094": (K.RATE_LIMIT, MODEL),
    "V096": (K.RATE_LIMIT, AGENT),
    "V097": (K.BILLING, MODEL),
    **dict.fromkeys(("V099", "V101"), (K.USAGE_WINDOW, MODEL)),
    "V102": (K.CONTEXT_TOO_LONG, NOBODY),
    "V104": (K.USAGE_WINDOW, MODEL),
    **dict.fromkeys(("V106", "V108"), (K.CREDITS, AGENT)),
    "V109": (K.USAGE_WINDOW, MODEL),
    "V110": (K.BILLING, AGENT),
    **dict.fromkeys(("V111", "V112", "V113"), (K.USAGE_WINDOW, MODEL)),
    "V115": (K.RATE_LIMIT, AGENT),
    "V118": (K.USAGE_WINDOW, AGENT),
    "V119": (K.USAGE_WINDOW, MODEL),
    "V120": (K.PERMISSION, AGENT),
    "V121": (K.AUTH, AGENT),
    "V125": (K.CONTEXT_TOO_LONG, NOBODY),
    "V126": (K.CREDITS, AGENT),
    "V131": (K.USAGE_WINDOW, AGENT),
    "V132": (K.USAGE_WINDOW, MODEL),
    "V133": (K.BILLING, MODEL),
    "V134": (K.AUTH, AGENT),
}

# Where the data's word for a class is not ours: a cut answer has a kind of its own.
OTHER_WORD = {"V061": "none (warning)", "V078": "context_too_long"}


def classes() -> dict[str, str]:
    text = (DATA / "vendor-messages.md").read_text("utf-8").replace("\\ |", "")  # a bar in a message
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| V")]
    return {row[0].strip("| "): row[3] for row in rows}


def failure_of(row: str) -> Failure | None:
    """What the row's message comes to, read as its agent reads it."""
    opencode, gemini = test_reading.OPENCODE, test_reading.GEMINI
    match row:
        case "V060":
            return test_reading.CODEX.read(load_recording("codex/refused-json")).failure
        case "V061":
            return test_reading.CODEX.read(load_recording("codex/ok-json-danger", report=DONE)).failure
        case "V077":
            return opencode.read(make_output()).failure
        case "V078":
            step = {"type": "step_finish", "part": {"reason": "length"}}
            return opencode.read(make_output(test_reading.lines(step))).failure
        case "V091":
            return gemini.read(make_output(timed_out=True, exit_code=143)).failure
        case _ if row in test_cli_pattern.MESSAGES:
            name, message, _ = test_cli_pattern.MESSAGES[row]
            return test_cli_pattern.make_agent(name).read(make_output(stderr=message, exit_code=1)).failure
        case _:
            shape, message, _ = test_vendor_messages.MESSAGES[row]
            return test_vendor_messages.AGENTS[shape].read(shape(message)).failure


def test_every_row_has_its_kind_and_whom_it_cools():
    said = classes()
    assert set(said) == set(ROWS)
    ours = {row: OTHER_WORD.get(row, kind.value if kind else "") for row, (kind, _) in ROWS.items()}
    assert ours == said


@pytest.mark.parametrize("row", ROWS)
def test_a_row_cools_whom_it_is_about(row):
    kind, cooled = ROWS[row]
    failure = failure_of(row)
    if failure is None:
        assert kind is None
        return
    assert failure.kind is kind
    cooldown = cooldown_after(failure, agent="ann", model="m", known=(), now=NOW)
    assert (NOBODY if cooldown is None else AGENT if cooldown.model is None else MODEL) == cooled
    assert cooldown is None or cooldown.until_at > NOW


@pytest.mark.parametrize(
    ("row", "model", "cooled"),
    [
        ("V065", "opencode/grok-free", "opencode/*free*"),
        ("V066", "opencode/grok-free", "opencode/*free*"),
        ("V067", "opencode/big", "opencode/*"),
        ("V068", "opencode/grok-free", "opencode/grok-free"),
        ("V069", "opencode/grok-free", "opencode/*free*"),
        ("V050", "openrouter/big", "openrouter/*"),
        ("V115", "glm/big", None),
        ("V131", "copilot/big", None),
    ],
)
def test_an_account_is_that_of_the_models_provider(row, model, cooled):
    failure = failure_of(row)
    assert failure is not None
    cooldown = cooldown_after(failure, agent="ann", model=model, known=(), now=NOW)
    assert cooldown is not None
    assert cooldown.model == cooled
    assert cooldown.covers("ann", model)
    assert not cooldown.covers("bob", model)
    assert cooldown.covers("ann", "elsewhere/x") is (cooled is None)


def test_every_recording_is_read_by_some_test():
    # Screens are for people: no session is ever judged by what its terminal shows.
    recordings = {str(path.relative_to(TRANSCRIPTS).with_suffix("")) for path in TRANSCRIPTS.glob("*/*.txt")}
    screens = {name for name in recordings if name.split("/")[1].startswith("tui-")}
    assert recordings - screens == set(test_transcripts.EXPECTED) | set(test_custom.RECORDED)

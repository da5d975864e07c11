"""CLIs that only config knows: command templates, output rules, and recorded runs of four such CLIs."""

from pathlib import Path

import pytest

from nightcrew.agents.custom import CustomAgent
from nightcrew.core.errors import ConfigError, Invalid
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role
from nightcrew.ports.agent import AgentJob, Enforcement
from nightcrew.ports.runtime import ShowRule
from tests.adapters.agents.recording import DONE, list_recordings, load_recording, make_output, make_settings


def make_agent(*command: str, **options: object) -> CustomAgent:
    return CustomAgent(make_settings("custom", name="mine", command=command or ("tool",), options=options))


def make_job(role: Role = Role.AUTHOR, *, model: str = "", resume: str = "") -> AgentJob:
    folder = Path("/n/run 1")
    return AgentJob(
        role, "do {model} $(id)", folder, Path("/w"), folder / "report.json", model, "s-1", {"K": "v"}, resume
    )


def test_placeholders_are_filled_as_whole_words_and_inside_words():
    made = make_agent("tool", "{prompt_file}", "--in={workspace}", "a{run_folder}b", "{report_file}", "{session}",
                      "{role}",
                      '{"json": 1}', "{}", model_args=["-m", "{model}"], resume_args=["--resume={resume}"],
                      author_args=["--write"], reviewer_args=["--read"], stdin=False)  # fmt: skip
    command = made.command(make_job(model="m; rm -rf {role}", resume="r"))
    assert command.argv == ("tool", "/n/run 1/prompt.md", "--in=/w", "a/n/run 1b", "/n/run 1/report.json", "s-1",
                            "author",
                            '{"json": 1}', "{}", "-m", "m; rm -rf {role}", "--resume=r", "--write")  # fmt: skip
    assert command.stdin == ""
    assert command.files == {"prompt.md": "do {model} $(id)"}
    assert command.env == {"K": "v"}
    assert made.command(make_job(Role.REVIEWER)).argv[-1] == "--read"
    assert "-m" not in made.command(make_job(Role.ROUTER)).argv
    assert (made.name, made.program) == ("mine", "tool")


def test_a_session_is_resumed_only_by_a_cli_that_can():
    with pytest.raises(Invalid):
        make_agent().command(make_job(resume="r"))


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ((), {}, "agents.mine: has no command"),
        (("t", "{promt_file}"), {}, "unknown placeholder {promt_file}"),
        (("t",), {"stdin": False}, "agents.mine.options.stdin: is false, and no word has {prompt_file}"),
        (("t",), {"format": "xml"}, "must be one of text, jsonl, json"),
        (("t",), {"failures": [{"words": "(", "kind": "auth"}]}, "agents.mine.options.failures: has"),
        (("t",), {"failures": [{"words": "x", "kind": "tired"}]}, "`kind`, one of rate_limit"),
        (("t",), {"failures": "x"}, "must be a list of tables"),
        (("t",), {"error_text": "["}, "must be a regular expression"),
        (("t",), {"finished": {"a": 1}}, "agents.mine.options.finished: has a value that is neither"),
        (("t",), {"success_codes": [True]}, "must be a list of whole numbers"),
        (("t",), {"show": [{"match": 1}]}, "agents.mine.options.show: has"),
        (("t",), {"modell": "x"}, "unknown option"),
    ],
)
def test_wrong_config_is_named(command, options, says):
    with pytest.raises(ConfigError) as caught:
        CustomAgent(make_settings("custom", name="mine", command=command, options=options))
    assert says in str(caught.value)


def test_plain_text_is_read_for_a_report():
    assert isinstance(make_agent().read(make_output(f"\x1b[1mWorking\x1b[0m\n{DONE}")).report, AuthorReport)
    assert isinstance(make_agent().read(make_output("done.", report=DONE)).report, AuthorReport)
    failure = make_agent().read(make_output("All done.")).failure
    assert failure is not None
    assert failure.kind is K.BAD_OUTPUT


def test_own_words_for_failures_come_before_those_of_vendors():
    made = make_agent(
        failures=[{"words": "^note:", "kind": "warning"}, {"words": "rate limit", "kind": "usage_window"}]
    )
    failure = made.read(make_output(stderr="note: overloaded\nrate limit hit", exit_code=1)).failure
    assert failure is not None
    assert failure.kind is K.USAGE_WINDOW
    plain = make_agent().read(make_output(stderr="rate limit hit", exit_code=1)).failure
    assert plain is not None
    assert plain.kind is K.RATE_LIMIT


def test_in_plain_text_only_what_stands_at_the_end_tells_of_a_failure():
    """What stands before may be the agent's own work, such as tests of a limit."""
    work = ["I wrote a test for 'API key credit limit reached'.", *[f"line {n}" for n in range(20)]]
    made = make_agent(patterns="aider")
    crashed = made.read(make_output("\n".join(work), exit_code=1)).failure
    assert crashed is not None
    assert crashed.kind is K.CRASH
    ended = made.read(make_output("\n".join([*work, "API key credit limit reached", "see the manual"]), exit_code=1))
    assert ended.failure is not None
    assert ended.failure.kind is K.CREDITS


def test_another_exit_code_may_be_a_success():
    assert isinstance(make_agent(success_codes=[0, 3]).read(make_output(DONE, exit_code=3)).report, AuthorReport)
    assert make_agent(success_codes=[3]).read(make_output(DONE, exit_code=0)).report is None


def test_json_lines_by_rules():
    made = make_agent(format="jsonl", text="item.text", text_when={"item.last": True}, finished={"type": "end"},
                      truncated={"why": "length"}, session="id", input_tokens="n.in", output_tokens="n.out",
                      cost_usd="n.usd", usage_is_total=False)  # fmt: skip
    head = (
        '{"id": "s", "n": {"in": 1, "out": 2, "usd": 0.5}}\n{"item": {"text": "no", "last": false}, "n": {"in": 4}}\n'
    )
    text = '{"item": {"last": true, "text": "' + DONE.replace('"', '\\"') + '"}}\n'
    reading = made.read(make_output(head + text + '{"type": "end"}'))
    assert isinstance(reading.report, AuthorReport)
    assert (reading.session, reading.usage.input_tokens, reading.usage.output_tokens) == ("s", 5, 2)
    assert reading.usage.cost_usd == 0.5
    for broken, kind in ((head + text, K.BAD_OUTPUT), (head + text + '{"type": "end", "why": "length"}', K.TRUNCATED)):
        failure = made.read(make_output(broken)).failure
        assert failure is not None
        assert failure.kind is kind


def test_the_pane_and_the_limits():
    made = make_agent(show=[{"match": {"type": "x"}, "show": "text", "prefix": "> "}])
    assert made.command(make_job()).show == (ShowRule({"type": "x"}, "text", "> "),)
    assert Enforcement.ENFORCED not in {row.how_far for row in made.limits()}
    assert made.homes()


# Four CLIs, described as a person would in their config.
QWEN = make_agent("qwen", "-o", "stream-json", "-y", format="jsonl", text="result", text_when={"type": "result"},
                  finished={"type": "result", "is_error": False}, error_text=r"^\[API Error: .*\]$",
                  session="session_id",
                  input_tokens="usage.input_tokens", output_tokens="usage.output_tokens")  # fmt: skip
QWEN_JSON = make_agent("qwen", "-o", "json", "-y", format="json", text="result", text_when={"type": "result"},
                       finished={"type": "result"}, error_text=r"^\[API Error: .*\]$")  # fmt: skip
KIMI = make_agent("kimi", format="jsonl", text="content", text_when={"role": "assistant"},
                  finished={"type": "session.resume_hint"}, session="session_id")  # fmt: skip
PI = make_agent("pi", format="jsonl", text="message.content[].text", text_when={"type": "turn_end"},
                error="message.errorMessage", error_when={"type": "turn_end", "message.stopReason": "error"},
                finished={"type": "agent_end"}, cost_usd="message.usage.cost.total", usage_is_total=False)  # fmt: skip
AIDER = make_agent("aider", error_text=r"^litellm\.\w*Error.*$")

RECORDED = {
    "qwen/http401-json": (QWEN_JSON, K.AUTH),
    "qwen/ok-streamjson": (QWEN, K.BAD_OUTPUT),
    "kimi/http401-streamjson": (KIMI, K.AUTH),
    "kimi/http429-streamjson": (KIMI, K.RATE_LIMIT),
    "kimi/ok-streamjson": (KIMI, K.BAD_OUTPUT),
    "pi/http401-json": (PI, K.AUTH),
    "pi/http429-json": (PI, K.RATE_LIMIT),
    "pi/ok-json": (PI, K.BAD_OUTPUT),
    "aider/http401": (AIDER, K.AUTH),
    "aider/http429": (AIDER, K.RATE_LIMIT),
    "aider/ok": (AIDER, K.BAD_OUTPUT),
}


def test_every_recording_of_other_clis_is_read():
    assert sorted(RECORDED) == [name for cli in ("aider", "kimi", "pi", "qwen") for name in list_recordings(cli)]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_of_another_cli_is_never_done(name):
    made, kind = RECORDED[name]
    reading = made.read(load_recording(name))
    assert reading.report is None
    assert reading.failure is not None
    assert reading.failure.kind is kind
    assert made.read(load_recording(name, role=Role.REVIEWER)).report is None
    assert isinstance(made.read(load_recording(name, report=DONE)).report, AuthorReport)


def test_usage_and_session_of_other_clis():
    qwen = QWEN.read(load_recording("qwen/ok-streamjson"))
    assert (qwen.usage.input_tokens, qwen.usage.output_tokens) == (3000, 84)
    assert qwen.session == "b3c44e8a-cfb3-42a4-b200-427d0f4900a5"
    assert KIMI.read(load_recording("kimi/ok-streamjson")).session == "session_d0bd6b76-0136-4011-be9e-8182c751d37f"

"""The real Claude Code, through tmux, against a scripted model."""

import hashlib
import json
from collections.abc import Mapping

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import (
    AssistantReport,
    AuthorReport,
    Decision,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
)
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from tests.agents_real.model_server import ModelServer, Move, Say, Script, Turn, Use, serving
from tests.agents_real.said import seen_in, turn
from tests.agents_real.script import DONE, FAILURES, REPLY, ROUTE, VERDICT, author, silent_author, talker, trespasser
from tests.agents_real.stage import SESSIONS, Stage, staged

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]


def make_agent(name: str = "claude", **options: object) -> ClaudeAgent:
    return ClaudeAgent(AgentSettings(name=name, adapter="claude", options={"max_retries": 1, **options}))


def env(model: ModelServer, mode: str, run: str = "run") -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": model.base(run, mode), "ANTHROPIC_API_KEY": "sk-fake"}


def structured(answer: Mapping[str, object]) -> Script:
    """Answers by the tool that the CLI offers for its schema, then ends."""

    def script(turn: Turn) -> Move:
        if "StructuredOutput" in turn.tools and not turn.answers:
            return Use("StructuredOutput", dict(answer))
        return Say("That is all.")

    return script


async def test_an_author_edits_commits_and_reports(tmp_path):
    async with serving(author=author) as model, staged(tmp_path) as stage:
        before = await stage.git("rev-parse", "HEAD")
        played = await stage.play(make_agent(), env=env(model, "author"))
        assert played.reading.failure is None, played.output
        report = played.reading.report
        assert isinstance(report, AuthorReport)
        assert report.outcome is ReportedOutcome.DONE
        assert await stage.git("rev-parse", "HEAD^") == before
        assert await stage.git("status", "--porcelain") == ""
        usage = played.reading.usage
        assert (usage.input_tokens, usage.output_tokens, usage.models) == (3000, 84, ("mock-model",))
        assert usage.cost_usd is not None
        assert played.reading.session == SESSIONS.format(1)
        assert model.models["run"] == {"mock-model"}


async def test_another_vendor_is_config_only(tmp_path):
    async with serving(author=author) as model, staged(tmp_path) as stage:
        vendor = {"ANTHROPIC_BASE_URL": model.base("run", "author"), "ANTHROPIC_AUTH_TOKEN": "sk-other"}
        played = await stage.play(make_agent("kimi"), env=vendor, model="other-model")
        assert isinstance(played.reading.report, AuthorReport), played.output
        assert model.models["run"] == {"other-model"}


async def test_an_unreported_run_is_not_done_though_it_committed(tmp_path):
    async with serving(silent=silent_author) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), env=env(model, "silent"))
        assert played.reading.report is None
        assert played.reading.failure is not None
        assert played.reading.failure.kind is K.BAD_OUTPUT
        assert await stage.git("log", "-1", "--format=%s") == "x"


async def test_a_session_is_resumed(tmp_path):
    async with serving(author=author, more=author) as model, staged(tmp_path) as stage:
        first = await stage.play(make_agent(), env=env(model, "author"), task="The first task.")
        again = await stage.play(
            make_agent(), env=env(model, "more", "two"), task="More.", resume=first.reading.session
        )
        assert again.reading.session == first.reading.session
        assert "The first task." in model.turns["two"][0].prompt


async def test_a_message_is_heard_in_the_session(tmp_path):
    async with serving(author=author, more=author) as model, staged(tmp_path) as stage:
        first = await stage.play(make_agent(), env=env(model, "author"), task="The first task.")
        agent = make_agent()
        again = await stage.play(agent, env=env(model, "more", "two"), task=turn(), resume=first.reading.session)
        heard = model.turns["two"][0].prompt
        assert "The first task." in heard
        assert "message 01SAID)" in heard
        assert "Use a lock." in heard
        assert again.reading.spoke
        assert seen_in(agent, again) == first.reading.session


async def test_a_reviewer_answers_by_the_schema(tmp_path):
    async with serving(review=structured(VERDICT)) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), role=Role.REVIEWER, env=env(model, "review"))
        report = played.reading.report
        assert isinstance(report, ReviewReport), played.output
        assert report.decision is Decision.REQUEST_CHANGES
        assert report.findings[0].line == 1


async def test_a_reviewer_may_write_its_report_and_look_but_nothing_else(tmp_path):
    def script(turn: Turn) -> Move:
        moves: list[Move] = [
            Use("Bash", {"command": "git log --oneline"}),
            Use("Write", {"file_path": str(stage.tree / "evil.txt"), "content": "x"}),
            Use("Bash", {"command": f"touch {stage.tree}/evil2.txt"}),
            Use("Bash", {"command": "git log --output=evil3.txt"}),
            Use("Write", {"file_path": turn.report, "content": json.dumps(VERDICT)}),
            Say("That is all."),
        ]
        return moves[min(turn.answers, 5)]

    stage: Stage
    async with serving(review=script) as model, staged(tmp_path) as stage:
        agent = make_agent(structured=False)
        played = await stage.play(agent, role=Role.REVIEWER, env=env(model, "review"))
        assert isinstance(played.reading.report, ReviewReport), played.output
        assert played.output.report is not None
        assert await stage.git("status", "--porcelain") == ""
        denials = json.loads(played.output.stdout.splitlines()[-1])["permission_denials"]
        assert [denial["tool_name"] for denial in denials] == ["Write", "Bash", "Bash"]


async def test_prose_is_no_verdict(tmp_path):
    async with serving(talk=talker) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(structured=False), role=Role.REVIEWER, env=env(model, "talk"))
        assert played.reading.report is None
        assert played.reading.failure is not None
        assert played.reading.failure.kind is K.BAD_OUTPUT


async def test_a_router_has_no_tools_but_its_answer(tmp_path):
    async with serving(route=structured(ROUTE)) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), role=Role.ROUTER, env=env(model, "route"))
        assert isinstance(played.reading.report, RouterReport), played.output
        assert model.turns["run"][0].tools == {"StructuredOutput"}


@pytest.mark.parametrize(("mode", "kind"), [("s401", K.AUTH), ("s429", K.RATE_LIMIT), ("s529", K.OVERLOADED)])
async def test_a_failure_of_the_server_has_its_kind(tmp_path, mode, kind):
    async with serving(**FAILURES) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), env=env(model, mode))
        assert played.reading.report is None
        assert played.reading.failure is not None
        assert played.reading.failure.kind is kind


async def test_a_refused_tool_is_not_done(tmp_path):
    def script(turn: Turn) -> Move:
        return Say(json.dumps(DONE)) if turn.answers else Use("Write", {"file_path": str(outside), "content": "x"})

    outside = tmp_path / "outside.txt"
    async with serving(refused=script) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), env=env(model, "refused"))
        assert not outside.exists()
        assert played.output.exit_code == 0
        assert played.reading.failure is not None
        assert played.reading.failure.kind is K.PERMISSION


async def test_the_sandbox_option_fences_shell_commands(tmp_path):
    outside = tmp_path / "outside.txt"
    async with serving(out=trespasser(str(outside)), author=author) as model, staged(tmp_path) as stage:
        await stage.play(make_agent(sandbox=True), env=env(model, "out"))
        assert not outside.exists()
        played = await stage.play(make_agent(sandbox=True), env=env(model, "author", "two"))
        assert played.reading.failure is None, played.output
        assert await stage.git("log", "-1", "--format=%s") == "Add hello"


async def test_hooks_and_settings_of_the_repository_are_not_used(tmp_path):
    async with serving(author=author) as model, staged(tmp_path) as stage:
        hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/evil"}]}
        (stage.tree / ".claude").mkdir()
        settings = {"hooks": {"SessionStart": [hook], "PreToolUse": [hook], "Stop": [hook]}}
        (stage.tree / ".claude" / "settings.json").write_text(json.dumps(settings))
        server = {"mcpServers": {"evil": {"command": "touch", "args": [f"{tmp_path}/evil"]}}}
        (stage.tree / ".mcp.json").write_text(json.dumps(server))
        played = await stage.play(make_agent(), env=env(model, "author"))
        assert played.reading.failure is None, played.output
        assert not (tmp_path / "evil").exists()


async def test_a_prompt_of_200_kilobytes_arrives_whole(tmp_path):
    task = "Größe: " + "0123456789abcdef " * 12_500
    async with serving(author=author) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), env=env(model, "author"), task=task)
        prompt = (played.folder / "prompt.md").read_text("utf-8")
        assert len(prompt) > 200_000
        digests = {hashlib.sha256(text.encode()).hexdigest() for text in (prompt, prompt.strip())}
        assert digests & model.digests["run"]


async def test_an_assistant_answers_and_may_look_but_change_nothing(tmp_path):
    def script(turn: Turn) -> Move:
        moves: list[Move] = [
            Use("Write", {"file_path": str(stage.tree / "evil.txt"), "content": "x"}),
            Use("Bash", {"command": f"touch {stage.tree}/evil2.txt"}),
            Use("Bash", {"command": "git log --oneline"}),
            Use("StructuredOutput", dict(REPLY)),
            Say("That is all."),
        ]
        return moves[min(turn.answers, 4)]

    stage: Stage
    async with serving(ask=script) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(), role=Role.ASSISTANT, task="Why?", env=env(model, "ask"))
        assert played.reading.report == AssistantReport("It waits.", ("/retry acme/widget#4",)), played.output
        assert await stage.git("status", "--porcelain") == ""
        denials = json.loads(played.output.stdout.splitlines()[-1])["permission_denials"]
        assert [denial["tool_name"] for denial in denials] == ["Write", "Bash"]
